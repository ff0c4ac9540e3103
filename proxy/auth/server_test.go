package auth

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/rs/zerolog"
)

const testAudience = "https://mcp.example.com/mcp"

var testKey = bytes.Repeat([]byte{7}, keySize)

// server is an endpoint behind Middleware, with its log and its clock. The
// endpoint answers with the owner.
type server struct {
	*httptest.Server
	auth  *Authenticator
	log   lockedBuffer
	clock clock
}

func serve(t *testing.T, o Options) *server {
	t.Helper()
	s := &server{}
	o.Key, o.Log, o.now = testKey, zerolog.New(&s.log), s.clock.now
	var err error
	if s.auth, err = New(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.auth.Close)
	mux := http.NewServeMux()
	mux.Handle("/mcp", s.auth.Middleware(http.HandlerFunc(answerOwner)))
	mux.Handle(wellKnown, s.auth.Metadata())
	mux.Handle(wellKnown+"/mcp", s.auth.Metadata())
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func answerOwner(w http.ResponseWriter, r *http.Request) {
	if len(r.Header.Values("Authorization")) > 0 {
		http.Error(w, "the credential was passed on", http.StatusTeapot)
		return
	}
	io.WriteString(w, OwnerOf(r.Context()))
}

// reply is what a request got. The challenge is nil if there was none.
type reply struct {
	status    int
	body      string
	header    http.Header
	challenge map[string]string
}

// ask sends a request with the given Authorization headers.
func (s *server) ask(t *testing.T, authorization ...string) reply {
	t.Helper()
	return s.askAt(t, "/mcp", authorization...)
}

func (s *server) askAt(t *testing.T, path string, authorization ...string) reply {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, s.URL+path, strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header["Authorization"] = authorization
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	got := reply{status: answer.StatusCode, body: string(body), header: answer.Header, challenge: challengeOf(t, answer.Header)}
	s.checkNoLeak(t, got, authorization)
	return got
}

func (s *server) bearer(t *testing.T, token string) reply {
	t.Helper()
	return s.ask(t, "Bearer "+token)
}

// checkNoLeak looks for the credential in all that came of it.
func (s *server) checkNoLeak(t *testing.T, got reply, authorization []string) {
	t.Helper()
	for _, value := range authorization {
		_, token, _ := strings.Cut(value, " ")
		if len(token) < 8 {
			continue
		}
		for _, text := range []string{got.body, got.header.Get("WWW-Authenticate"), s.log.String()} {
			if strings.Contains(text, token) {
				t.Errorf("the credential is in %q", text)
			}
		}
	}
}

func challengeOf(t *testing.T, h http.Header) map[string]string {
	t.Helper()
	challenges, err := oauthex.ParseWWWAuthenticate(h.Values("WWW-Authenticate"))
	if err != nil {
		t.Fatalf("WWW-Authenticate %q: %v", h.Values("WWW-Authenticate"), err)
	}
	if len(challenges) == 0 {
		return nil
	}
	if len(challenges) != 1 || challenges[0].Scheme != "bearer" {
		t.Fatalf("challenges %v, want one for bearer tokens", challenges)
	}
	return challenges[0].Params
}

// clock is the real one, moved on.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
