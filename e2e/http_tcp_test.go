package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// dial is a connection with no HTTP client on it.
func (l *listening) dial(t testing.TB) net.Conn {
	t.Helper()
	u, err := url.Parse(l.url)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(patience))
	return conn
}

// head is a request's up to its body, of which it declares the length.
func (l *listening) head(body string, lines ...string) string {
	head := "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	for name, values := range standardHeader(body) {
		if !strings.Contains(strings.Join(lines, "\n"), name+":") {
			head += name + ": " + values[0] + "\r\n"
		}
	}
	for _, line := range lines {
		head += line + "\r\n"
	}
	return head + fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))
}

// What would end a header line must be refused, or be no more than a character.
func TestHeaderInjection(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "modern")
	l := p.listen(t)
	for _, line := range []string{
		"Mcp-Name: crash\r\n Mcp-Name: release", // folded, as of old
		"Mcp-Name: release\rX-Evil: 1",
		"Mcp-Name: release\x00",
		"Mcp-Name: release\nX-Evil: 1\r\nMcp-Name: release",
		"Mcp-Name : release",
		"Origin: http://localhost\r\n\thttp://evil.example",
		"Access-Control-Request-Headers: x\rSet-Cookie: a=b",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
		"Content-Length: 0",
	} {
		conn := l.dial(t)
		if _, err := io.WriteString(conn, l.head(releaseCall, line)+releaseCall); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%q: %v", line, err)
			continue
		}
		if response.StatusCode < 400 || response.Header.Get("X-Evil")+response.Header.Get("Set-Cookie") != "" {
			t.Errorf("%q: status %d, %v", line, response.StatusCode, response.Header)
		}
	}
	if n := seen.count("call release") + seen.count("call crash"); n != 0 {
		t.Errorf("a tool was called %d times", n)
	}
}

// Neither a head nor a body that never comes to its end holds anything for
// long, and others are served meanwhile.
func TestClientThatSendsDropByDrop(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "modern")
	p.Config = "limits: {header_timeout: 1s}\n"
	l := p.listen(t)
	head := l.dial(t)
	began := time.Now()
	_, _ = io.WriteString(head, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n")
	body := l.dial(t)
	_, _ = io.WriteString(body, l.head(releaseCall)+releaseCall[:10])
	if a := l.do(t, rawRequest{Body: releaseCall}); a.Status != 200 {
		t.Errorf("another client: status %d", a.Status)
	}
	if _, err := io.ReadAll(head); err != nil {
		t.Errorf("the head that stands still: %v", err)
	}
	if took := time.Since(began); took < 500*time.Millisecond || took > 10*time.Second {
		t.Errorf("the head was waited for %v", took)
	}
	_, _ = io.WriteString(body, releaseCall[10:])
	if response, err := http.ReadResponse(bufio.NewReader(body), nil); err != nil || response.StatusCode != 200 {
		t.Errorf("a body that takes longer than a head may: %v, %v", response, err)
	}
	if n := seen.count("call release"); n != 2 {
		t.Errorf("the tool was called %d times", n)
	}
}

// A head without end is refused for its length.
func TestHeadOverTheLimit(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "modern")
	p.Config = "limits: {header_bytes: 16KiB}\n"
	l := p.listen(t)
	a := l.do(t, rawRequest{Body: releaseCall, Header: http.Header{"X-Long": {strings.Repeat("x", 64<<10)}}})
	if a.Status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("status %d", a.Status)
	}
}
