package upstream

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// redirect allows only what repeats the request as it is, to the same server:
// headers with credentials must not go elsewhere.
func (h *httpClient) redirect(call httpCall, resp *http.Response) (*url.URL, *Error) {
	target, err := call.url.Parse(resp.Header.Get("Location"))
	outcome := NotDispatched
	if resp.StatusCode == http.StatusSeeOther {
		outcome = Unknown // it leads to what has come of the request (RFC 9110, section 15.4.4)
	}
	switch {
	case err != nil || resp.Header.Get("Location") == "":
		return nil, h.errHTTP("upstream_redirected", "answered with %s, but names no target that can be read", statusOf(resp)).with(outcome)
	case !sameOrigin(target, h.endpoint):
		return nil, h.errHTTP("upstream_redirected", "redirects to another server, %s, which does not get the request and its credentials. "+
			"If that is meant, configure that URL", place(target)).with(outcome)
	case resp.StatusCode != http.StatusTemporaryRedirect && resp.StatusCode != http.StatusPermanentRedirect:
		return nil, h.errHTTP("upstream_redirected", "redirects to another of its URLs in a way that is not for this request (%s). "+
			"Configure the URL of the MCP endpoint itself", statusOf(resp)).with(outcome)
	}
	target.Fragment, target.User = "", nil
	return target, nil
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// place is a URL without what may be secret in it: hosted servers have tokens
// in the path, too.
func place(u *url.URL) string {
	return fmt.Sprintf("%.300s", (&url.URL{Scheme: u.Scheme, Host: u.Host}).String())
}
