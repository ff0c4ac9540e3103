//go:build linux

package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
)

// A client that never reads costs the proxy a bounded piece of memory, and the
// server and the other hosts nothing.
func TestClientThatNeverReads(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector multiplies memory")
	}
	t.Parallel()
	p, seen := proxyAround(t, "modern")
	l := p.listen(t)
	l.do(t, rawRequest{Body: releaseCall})
	before := residentKB(t, l.cmd.Process.Pid)
	const floods, each = 8, 5_000_000
	flood := plain.toolCall("1", "flood", fmt.Sprintf(`{"bytes":%d}`, each))
	for range floods {
		conn := l.dial(t)
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		if _, err := io.WriteString(conn, l.head(flood)+flood); err != nil {
			t.Fatal(err)
		}
	}
	l.await("every flood to come", func() bool { return seen.count("call flood") == floods })
	for i := range 50 {
		if a := l.do(t, rawRequest{Body: plain.toolCall(fmt.Sprint(i), "echo", `{"x":1}`)}); a.Status != 200 {
			t.Fatalf("another client: status %d, %s", a.Status, a.Body)
		}
	}
	// Each answer is there once, as it came, and perhaps once more on its way.
	kb := residentKB(t, l.cmd.Process.Pid)
	t.Logf("%d KB, %d before", kb, before)
	if kb > before+3*floods*each/1000 {
		t.Errorf("%d KB resident, %d before", kb, before)
	}
}

// What is sent to a stream that nobody reads is given up at a limit.
func TestStreamThatNobodyReads(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector multiplies memory")
	}
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	session := l.openSession(t)
	before := residentKB(t, l.cmd.Process.Pid)
	conn := l.dial(t)
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	_, _ = io.WriteString(conn, "GET /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\nMcp-Session-Id: "+session+"\r\n\r\n")
	if _, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	const news = 100 // of a megabyte each
	uri := lineOf(t, 1_000_000, func(arguments string) string {
		return `{"uri":` + string(at([]byte(arguments), "x")) + `}`
	})
	touch := func(id string) int {
		return l.do(t, rawRequest{Body: toolCall(id, "touch", uri), Header: inSession(session)}).Status
	}
	l.do(t, rawRequest{Body: request("0", "resources/subscribe", uri), Header: inSession(session)})
	for i := range news {
		if status := touch(fmt.Sprint(i)); status != http.StatusOK {
			t.Fatalf("call %d: status %d", i, status)
		}
	}
	kb := residentKB(t, l.cmd.Process.Pid)
	t.Logf("%d KB, %d before", kb, before)
	if kb > before+80<<10 {
		t.Errorf("%d KB resident, %d before: %d MB were sent to a client that does not read", kb, before, news)
	}
}

// Connections that only stand there leave the proxy to those that speak.
func TestThousandsOfIdleConnections(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "modern")
	p.Config = "limits: {connections: 12000}\n"
	l := p.listen(t)
	for range idleConnections(t) {
		l.dial(t)
	}
	for i := range 50 {
		if a := l.do(t, rawRequest{Body: plain.toolCall(fmt.Sprint(i), "echo", `{}`)}); a.Status != 200 {
			t.Fatalf("status %d, %s", a.Status, a.Body)
		}
	}
}

// idleConnections leaves descriptors to the tests beside this one.
func idleConnections(t *testing.T) int {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		t.Fatal(err)
	}
	switch {
	case files.Cur >= 15_000 && !raceEnabled:
		return 10_000
	case files.Cur >= 4000:
		return 2000
	}
	t.Skipf("needs 4000 open files; ulimit -n is %d", files.Cur)
	return 0
}

// Over the limit of connections others wait until there is room; those that are
// served go on.
func TestConnectionsOverTheLimit(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "modern")
	p.Config = "limits: {connections: 3, header_timeout: 1s}\n"
	l := p.listen(t)
	s := l.stream(t, rawRequest{Body: plain.request("1", "subscriptions/listen", listenTools)})
	s.want("notifications/subscriptions/acknowledged")
	l.dial(t)
	l.dial(t)
	if a := l.do(t, rawRequest{Body: plain.toolCall("2", "changed", `{}`)}); a.Status != 200 {
		t.Errorf("behind clients that say nothing: status %d, %s", a.Status, a.Body)
	}
	s.want("notifications/tools/list_changed")
}

// A client that keeps its connection for later makes room for one that needs
// it now.
func TestIdleConnectionsMakeRoom(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "modern")
	p.Config = "limits: {connections: 2}\n"
	l := p.listen(t)
	for i := range 6 { // each with a connection of its own, which it keeps
		if a := l.do(t, rawRequest{Body: plain.toolCall(fmt.Sprint(i), "echo", `{}`)}); a.Status != 200 {
			t.Fatalf("client %d: status %d, %s", i, a.Status, a.Body)
		}
	}
}
