package upstream

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// polled is a server of the initialize era inside a synctest bubble: real HTTP,
// over connections that know no network. Its call ends at once and leaves the
// rest of the answer to be had by GET.
type polled struct {
	*web
	client *Client
	asked  []time.Duration // when the rest was asked for, behind the end of the stream before
	ended  time.Time
	id     string
}

func poll(t *testing.T, server *web, retry string) *polled {
	p := &polled{web: server}
	server.on("tools/call", func(w http.ResponseWriter, v visit) {
		p.id = string(v.message.ID())
		openStream(w).send("id: e0\n" + retry + "data: \n\n")
		p.ended = time.Now()
	})
	network := newMemory()
	playing := &http.Server{Handler: server}
	go func() { _ = playing.Serve(network) }()
	p.client = dial(t, server.URL, older)
	t.Cleanup(func() {
		p.client.Close(t.Context())
		playing.Close()
	})
	h, err := newHTTPClient(p.client.opts)
	if err != nil {
		t.Fatal(err)
	}
	h.transport.DialContext = network.dial
	k, _, err := p.client.launchHTTP(h)
	if err != nil {
		t.Fatal(err)
	}
	p.client.mu.Lock()
	p.client.conn = k
	p.client.mu.Unlock()
	return p
}

// serve answers the nth GET for the rest, n from 1 on.
func (p *polled) serve(again func(n int, w http.ResponseWriter, v visit)) {
	p.on("GET", rest(func(w http.ResponseWriter, v visit) {
		p.asked = append(p.asked, time.Since(p.ended))
		defer func() { p.ended = time.Now() }()
		again(len(p.asked), w, v)
	}))
}

func (p *polled) answer() string {
	return "data: {\"jsonrpc\":\"2.0\",\"id\":" + p.id + ",\"result\":{\"late\":true}}\n\n"
}

// memory is a listener for connections within the process.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
}

func newMemory() *memory { return &memory{make(chan net.Conn), make(chan struct{})} }

func (m *memory) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case m.conns <- theirs:
		return &countedConn{Conn: ours}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error   { close(m.closed); return nil }
func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "memory"} }

// inBubble gives a test a server; what waits there takes no time.
func inBubble(t *testing.T, retry string, test func(t *testing.T, p *polled)) {
	server := legacy(t, nil) // its own listener stays outside
	synctest.Test(t, func(t *testing.T) { test(t, poll(t, server, retry)) })
}

// An hour of empty streams is a server that has its clients poll, and no fault.
func TestACallThatTheServerHasPolledIsNotGivenUp(t *testing.T) {
	for name, c := range map[string]struct {
		retry, each string
		want        time.Duration // between two polls
	}{
		"as it says":         {"retry: 5000\n", "", 5 * time.Second},
		"says nothing":       {"", "", time.Second},
		"wants it at once":   {"retry: 0\n", "", time.Second},
		"with an id each":    {"retry: 3000\n", "id: e%d\ndata: \n\n", 3 * time.Second},
		"with comments":      {"retry: 3000\n", ": not yet\n\n", 3 * time.Second},
		"with another retry": {"", "retry: 7000\n\n", 7 * time.Second},
		"with messages":      {"retry: 20\n", `data: {"jsonrpc":"2.0","method":"notifications/x"}` + "\n\n", 20 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, c.retry, func(t *testing.T, p *polled) {
				const rounds = 500
				p.serve(func(n int, w http.ResponseWriter, v visit) {
					out := openStream(w)
					if n == rounds {
						out.send(p.answer())
						return
					}
					out.send(strings.ReplaceAll(c.each, "%d", fmt.Sprint(n)))
				})
				got := send(t, p.client, "tools/call", `{"name":"run"}`, func(r *Request) { r.Header = http.Header{"X-Owner": {"me"}} })
				wait(t, got, `{"late":true}`)
				p.expect("tools/call", 1)
				for i, pause := range p.asked[1:] {
					if pause.Round(10*time.Millisecond) != c.want {
						t.Fatalf("poll %d came after %v, want %v", i+2, pause, c.want)
					}
				}
				v := p.visits("GET")[rounds]
				if want := last(c.each, rounds-1); v.header("Last-Event-Id") != want || v.header("Mcp-Session-Id") != "s1" || v.header("X-Owner") != "me" {
					t.Errorf("the last poll, behind %s, has the headers %v", want, v.request.Header)
				}
			})
		})
	}
}

func last(each string, n int) string {
	if strings.HasPrefix(each, "id:") {
		return fmt.Sprint("e", n)
	}
	return "e0"
}

// wait takes a result that may take virtual hours.
func wait(t *testing.T, a asking, want string) {
	t.Helper()
	if got := <-a.answer; got.err != nil || string(got.message.Result()) != want {
		t.Errorf("got %s, %v; want %s", got.message.Raw(), got.err, want)
	}
}

func TestTheRestOfAnAnswerIsGivenUpAfterMinutesOfFailures(t *testing.T) {
	for name, again := range map[string]handler{
		"no answer": hangUp, "500": plain(500, "text/plain", "oops"), "429": plain(429, "text/plain", "slow down"),
		"a page": plain(200, "text/html", "<h1>Hello</h1>"), "cut at once": cutAtOnce, "elsewhere": redirect(302, "/login"),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, "retry: 10\n", func(t *testing.T, p *polled) {
				p.serve(func(_ int, w http.ResponseWriter, v visit) { again(w, v) })
				began := time.Now()
				call := send(t, p.client, "tools/call", `{"name":"run"}`, nil)
				if got := <-call.answer; got.err == nil || got.err.Reason != "upstream_stream_cut" || got.err.Outcome != Unknown {
					t.Errorf("got %s, %v", got.message.Raw(), got.err)
				}
				if took := time.Since(began); took < 2*time.Minute || took > 10*time.Minute {
					t.Errorf("it was given up after %v", took)
				}
				if n := len(p.asked); n < resumeTries || n > 2*resumeTries { // net/http itself repeats a GET that met a dead connection
					t.Errorf("it was tried %d times", n)
				}
				for i := 2; i < len(p.asked); i++ {
					if p.asked[i] < p.asked[i-1] || p.asked[i] > 31*time.Second {
						t.Errorf("the pauses do not grow, or too much: %v", p.asked)
					}
				}
				p.expect("tools/call", 1)
			})
		})
	}
}

func cutAtOnce(w http.ResponseWriter, _ visit) {
	openStream(w)
	panic(http.ErrAbortHandler)
}

func TestAFailureAmidPollingIsForgotten(t *testing.T) {
	inBubble(t, "retry: 2000\n", func(t *testing.T, p *polled) {
		p.serve(func(n int, w http.ResponseWriter, v visit) {
			switch {
			case n > 5*resumeTries:
				openStream(w).send(p.answer())
			case n%resumeTries == 0: // as many failures before it as are borne
				openStream(w)
			default:
				plain(502, "text/plain", "restarting")(w, v)
			}
		})
		wait(t, send(t, p.client, "tools/call", `{"name":"run"}`, nil), `{"late":true}`)
		p.expect("tools/call", 1)
	})
}
