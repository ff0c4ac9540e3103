package host

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// comments reads that many, and nothing else may come between them.
func comments(t *testing.T, in *bufio.Reader, n int) {
	t.Helper()
	for n > 0 {
		line, err := in.ReadString('\n')
		switch {
		case err != nil:
			t.Fatalf("%d comments before the end: %v", n, err)
		case strings.HasPrefix(line, ":"):
			n--
		case line != "\n":
			t.Fatalf("no comment: %q", line)
		}
	}
}

// A call that is asked for as an object becomes a stream when it takes long,
// and comments keep that alive: for longer than a client may be slow, because
// one that has nothing to take is not slow.
func TestLongCallIsKeptAlive(t *testing.T) {
	t.Parallel()
	server := served(t, HTTPOptions{KeepAlive: 50 * time.Millisecond, SlowClient: 200 * time.Millisecond})
	began := time.Now()
	response := post(t, server, "wait")
	if took := time.Since(began); took < 40*time.Millisecond {
		t.Errorf("the head was there after %v, before the call was long", took)
	}
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("status %d, %q", response.StatusCode, kind)
	}
	in := bufio.NewReader(response.Body)
	comments(t, in, 20)
	if quick := post(t, server, "other"); quick.Header.Get("Content-Type") != "application/json" {
		t.Errorf("a quick call is answered with %q", quick.Header.Get("Content-Type"))
	}
	rest, err := io.ReadAll(in)
	if err != nil || !strings.Contains(string(rest), `data: {"jsonrpc":"2.0","id":1,"result":`) {
		t.Errorf("the answer behind the comments: %q, %v", rest, err)
	}
}

// A body that stops coming is given up, and so is its connection.
func TestBodyThatStopsComing(t *testing.T) {
	t.Parallel()
	server := served(t, HTTPOptions{SlowClient: 100 * time.Millisecond})
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
	_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAccept: */*\r\nContent-Length: 1000\r\n\r\n{")
	in := bufio.NewReader(conn)
	response, err := http.ReadResponse(in, nil)
	if err != nil || response.StatusCode != http.StatusBadRequest {
		t.Fatalf("%v, %v", response, err)
	}
	if _, err := io.ReadAll(in); err != nil {
		t.Errorf("the connection stays open: %v", err)
	}
}

// A client that takes nothing holds an answer for a while and no longer.
func TestClientThatTakesNothing(t *testing.T) {
	t.Parallel()
	server := served(t, HTTPOptions{SlowClient: 100 * time.Millisecond})
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(1 << 10)
	head, body := new(strings.Builder), callBody("flood")
	_ = callHead("flood").Write(head)
	_, _ = fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", head, len(body), body)
	select {
	case <-server.closed:
	case <-time.After(20 * time.Second):
		t.Error("the connection stays open")
	}
}
