package e2e

import (
	"context"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// rawRequest is one HTTP request, made by hand. Where it is a message, it has
// the headers that the message asks for.
type rawRequest struct {
	Method string // POST if empty
	Path   string // the endpoint if empty
	Body   string
	// Header replaces what would be sent, a value of nil takes it away. "Host"
	// stands for the host.
	Header http.Header
}

// rawAnswer is what came of it, the body read to its end.
type rawAnswer struct {
	Status int
	Header http.Header
	Body   string
	message
}

// do insists on an answer.
func (l *listening) do(t testing.TB, r rawRequest) rawAnswer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	response := l.open(t, r.build(t, ctx, l.url))
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("reading the answer: %v", err)
	}
	a := rawAnswer{Status: response.StatusCode, Header: response.Header, Body: string(body)}
	a.message, _ = parseMessage(a.Body)
	return a
}

// open returns when the head of the answer is there.
func (l *listening) open(t testing.TB, r *http.Request) *http.Response {
	t.Helper()
	response, err := ownConnection(t).Do(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	return response
}

// ownConnection is a client that shares no connection with others.
func ownConnection(t testing.TB) *http.Client {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func (r rawRequest) build(t testing.TB, ctx context.Context, endpoint string) *http.Request {
	t.Helper()
	if r.Method == "" {
		r.Method = http.MethodPost
	}
	if r.Path != "" {
		endpoint = strings.TrimSuffix(endpoint, "/mcp") + r.Path
	}
	out, err := http.NewRequestWithContext(ctx, r.Method, endpoint, strings.NewReader(r.Body))
	if err != nil {
		t.Fatal(err)
	}
	if r.Method == http.MethodPost {
		out.Header = standardHeader(r.Body)
	}
	maps.Copy(out.Header, r.Header)
	maps.DeleteFunc(out.Header, func(_ string, values []string) bool { return values == nil })
	if host := out.Header.Get("Host"); host != "" {
		out.Host = host
	}
	return out
}

// standardHeader is what a client of the stateless era sends with a message.
func standardHeader(body string) http.Header {
	header := http.Header{"Content-Type": {"application/json"}, "Accept": {objectFirst}}
	if m, err := parseMessage(body); err == nil && statelessVersion(m) != "" {
		setStandard(header, m)
	}
	return header
}

// inSession makes a header name a session.
func inSession(id string) http.Header {
	return http.Header{"Mcp-Session-Id": {id}, "Mcp-Protocol-Version": {"2025-11-25"}}
}

const openRequest = `{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{"elicitation":{}},"clientInfo":{"name":"raw","version":"1"}}}`

// openSession is the id of a new session of revision 2025-11-25.
func (l *listening) openSession(t testing.TB) string {
	t.Helper()
	a := l.do(t, rawRequest{Body: openRequest})
	id := a.Header.Get("Mcp-Session-Id")
	if a.Status != http.StatusOK || id == "" {
		t.Fatalf("no session: status %d, %s", a.Status, a.Body)
	}
	l.do(t, rawRequest{Body: `{"jsonrpc":"2.0","method":"notifications/initialized"}`, Header: inSession(id)})
	return id
}

// refusedWith insists on a status and an error of this code; 0 stands for any
// body.
func (a rawAnswer) refusedWith(t testing.TB, status, code int) {
	t.Helper()
	if a.Status != status || code != 0 && a.code() != code {
		t.Errorf("status %d, want %d with code %d: %s", a.Status, status, code, cut(a.Body))
	}
}
