package upstream

import (
	"net/http"
	"strconv"
	"time"
)

// rebuff is why something that wants no answer has not arrived.
type rebuff struct {
	*Error
	untaken bool          // the server has certainly not taken it
	after   time.Duration // how long the server wants to be left alone; 0 if it does not say
}

// unsent is for a POST that got no response at all.
func unsent(err *Error) *rebuff {
	return &rebuff{Error: err, untaken: err.Reason == "upstream_unreachable" && err.Outcome == NotDispatched}
}

// rebuff is for an error status. A 503 counts as a no even from something on
// the way that cannot know: a second answer to one question does no harm, as
// nobody waits for it any more.
func (h *httpClient) rebuff(resp *http.Response, forwarded http.Header, body []byte) *rebuff {
	no := &rebuff{Error: h.errStatus(resp, forwarded, body)}
	if resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable {
		no.untaken, no.after = true, retryAfter(resp.Header.Get("Retry-After"))
	}
	return no
}

// retryAfter reads both forms (RFC 9110, section 10.2.3), up to maxRetry.
func retryAfter(text string) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(maxRetry/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), maxRetry)
	}
	return 0
}
