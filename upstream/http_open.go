package upstream

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// openHTTP greets the server at the URL in every way that it may speak
// (revision 2026-07-28, Streamable HTTP, Backward Compatibility). The error
// says what was tried and what came back.
func (c *Client) openHTTP() (*conn, error) {
	h, err := newHTTPClient(c.opts)
	if err != nil {
		return nil, err
	}
	if c.oldSSE { // as it was the last time
		if k, err := c.launchSSE(h); err == nil {
			return k, nil
		}
	}
	k, tried, err := c.launchHTTP(h)
	switch {
	case err == nil:
		c.oldSSE = false
		return k, nil
	case c.mayBeSSE(err):
		return c.openSSE(h, err, tried)
	}
	return nil, explain(err, tried)
}

// launchHTTP also says what it tried.
func (c *Client) launchHTTP(h *httpClient) (k *conn, tried []string, err error) {
	var l *httpLink
	k, err = c.launch(func() (*conn, error) {
		k := c.startHTTPConn(h)
		l = k.link.(*httpLink)
		return k, nil
	}, c.greet)
	if l != nil {
		tried = l.attempts()
	}
	return k, tried, err
}

// openSSE is the last resort; refused is what Streamable HTTP came to.
func (c *Client) openSSE(h *httpClient, refused error, tried []string) (*conn, error) {
	k, err := c.launchSSE(h)
	switch {
	case err == nil:
		c.oldSSE = true
		return k, nil
	case c.ctx.Err() != nil:
		return nil, errClosed().with(NotDispatched)
	}
	return nil, explain(refused, append(tried, "HTTP+SSE (revision 2024-11-05): "+textOf(err)))
}

// mayBeSSE: an endpoint of revision 2024-11-05 does not know POST, or not at
// this URL, and says so without JSON-RPC.
func (c *Client) mayBeSSE(err error) bool {
	var e *Error
	if !errors.As(err, &e) || c.opts.Hello.Only && c.opts.Hello.Era == Stateless {
		return false
	}
	return e.Status == http.StatusBadRequest || e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed
}

func (c *Client) launchSSE(h *httpClient) (*conn, error) {
	return c.launch(func() (*conn, error) { return c.startSSEConn(h), nil }, c.greetSSE)
}

// explain makes one error of a greeting that failed.
func explain(err error, tried []string) error {
	var e *Error
	if !errors.As(err, &e) {
		e = errHandshake("The upstream server could not be greeted: %v.", err)
	}
	other := *e
	other.Outcome, other.Text = NotDispatched, e.plainText()
	if other.Reason == "upstream_http" || other.Reason == "upstream_stream_cut" {
		other.Reason = "upstream_start"
	}
	if tried = without(tried, other.Text); len(tried) > 0 && e.Reason != "shutdown" {
		other.Text += fmt.Sprintf(" Tried: %s.", strings.Join(tried, "; "))
	}
	other.Text += " " + NotDispatched.Sentence()
	return &other
}

// without leaves out what the text says already; of that the method alone is news,
// where others were tried.
func without(tried []string, text string) (rest []string) {
	for _, try := range tried {
		method, what, _ := strings.Cut(try, ": ")
		if strings.Contains(text, what) {
			if len(tried) > 1 {
				rest = append(rest, method)
			}
			continue
		}
		rest = append(rest, try)
	}
	return rest
}

func textOf(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return strings.TrimSuffix(e.plainText(), ".")
	}
	return err.Error()
}

// attempts is what came of the greeting.
func (p *posts) attempts() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tried
}
