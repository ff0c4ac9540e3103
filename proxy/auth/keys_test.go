package auth

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func (s *server) wantStatus(t *testing.T, when, token string, status int) {
	t.Helper()
	if got := s.bearer(t, token); got.status != status {
		t.Errorf("%s: status %d, want %d: %s", when, got.status, status, got.body)
	}
}

func TestANewKeyIsFetchedOnceAndMadeUpKeysAreNotAskedFor(t *testing.T) {
	i := startIssuer(t)
	s := serve(t, i.options())
	old := i.token(t, nil)
	s.wantStatus(t, "first key", old, 200)
	i.rotate(t, "second")
	s.clock.advance(pause)
	s.wantStatus(t, "second key", i.token(t, nil), 200)
	s.wantStatus(t, "withdrawn key", old, 401)
	if n := i.fetched(); n != 2 {
		t.Fatalf("the keys were fetched %d times, want 2", n)
	}
	for n := range 20 {
		s.wantStatus(t, "made-up key", sign(t, newKey(t, strconv.Itoa(n)), i.claims(nil), nil), 401)
		s.wantStatus(t, "good key meanwhile", i.token(t, nil), 200)
	}
	if n := i.fetched(); n != 2 {
		t.Errorf("made-up keys had the keys fetched %d more times", n-2)
	}
	s.clock.advance(pause)
	forged := newKey(t, "second")
	s.wantStatus(t, "forged with a known kid", sign(t, forged, i.claims(nil), nil), 401)
	if n := i.fetched(); n != 2 {
		t.Errorf("a forged signature had the keys fetched")
	}
}

func TestConcurrentRequestsShareOneFetch(t *testing.T) {
	i := startIssuer(t)
	s := serve(t, i.options())
	s.wantStatus(t, "first key", i.token(t, nil), 200)
	i.rotate(t, "second")
	s.clock.advance(pause)
	token := i.token(t, nil)
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { s.wantStatus(t, "second key", token, 200) })
	}
	all.Wait()
	if n := i.fetched(); n != 2 {
		t.Errorf("the keys were fetched %d times, want 2", n)
	}
}

func TestAKeyWithoutAnIDIsRotatedToo(t *testing.T) {
	i := startIssuer(t)
	i.rotate(t, "")
	s := serve(t, i.options())
	s.wantStatus(t, "first key", i.token(t, nil), 200)
	i.rotate(t, "")
	s.clock.advance(pause)
	s.wantStatus(t, "second key", i.token(t, nil), 200)
}

func TestAWithdrawnKeyIsNotTrustedAfterAQuietNight(t *testing.T) {
	i := startIssuer(t)
	s := serve(t, i.options())
	stolen := i.token(t, object{"exp": time.Now().Add(100 * time.Hour).Unix()})
	s.wantStatus(t, "before", stolen, 200)
	i.rotate(t, "second")
	s.clock.advance(8 * time.Hour)
	s.wantStatus(t, "after", stolen, 401)
}

func TestAnIssuerThatIsDownAtStartIsWaitedFor(t *testing.T) {
	i := startIssuer(t)
	i.set(func() { i.down = true })
	s := serve(t, i.options())
	token := i.token(t, nil)
	got := s.bearer(t, token)
	seconds, err := strconv.Atoi(got.header.Get("Retry-After"))
	if got.status != http.StatusServiceUnavailable || err != nil || seconds < 1 || seconds > 10 {
		t.Fatalf("status %d, Retry-After %q", got.status, got.header.Get("Retry-After"))
	}
	if got.challenge != nil || !strings.Contains(got.body, "keys of the issuer") || !strings.Contains(got.body, "nothing was sent") {
		t.Errorf("challenge %v, body %q", got.challenge, got.body)
	}
	if got := s.ask(t); got.status != http.StatusUnauthorized {
		t.Errorf("without a token: status %d, want 401", got.status)
	}
	s.wantLog(t, "requests get 503")
	i.set(func() { i.down = false })
	s.clock.advance(pause)
	s.wantStatus(t, "the issuer is up", token, 200)
	s.wantLog(t, "are back")
}

func TestKeysStayGoodForADayWithoutTheIssuer(t *testing.T) {
	i := startIssuer(t)
	s := serve(t, i.options())
	token := i.token(t, object{"exp": time.Now().Add(100 * time.Hour).Unix()})
	s.wantStatus(t, "the issuer is up", token, 200)
	i.set(func() { i.down = true })
	for range 3 {
		s.clock.advance(7 * time.Hour)
		s.wantStatus(t, "the issuer is down", token, 200)
	}
	s.wantLog(t, "stay in use")
	s.wantStatus(t, "a key that cannot be asked for", sign(t, newKey(t, "new"), i.claims(nil), nil), 503)
	s.clock.advance(7 * time.Hour)
	s.wantStatus(t, "the issuer is down for more than a day", token, 503)
}

func (s *server) wantLog(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(s.log.String(), text) {
		t.Errorf("%q is not in the log:\n%s", text, s.log.String())
	}
}

func TestWhatIsNoSetOfKeysIsRefusedAndSaid(t *testing.T) {
	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	symmetric := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: []byte("0123456789abcdef0123456789abcdef"), KeyID: "first"}}}
	encryption := newKey(t, "first")
	encryption.Use = "enc"
	short := rsaKey(t, "first", 1024)
	var many jose.JSONWebKeySet
	for range maxKeys + 1 {
		many.Keys = append(many.Keys, encryption.Public())
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"redirect to another host": {http.RedirectHandler(other.URL, http.StatusFound).ServeHTTP, "redirected to another host"},
		"redirect in a circle":     {http.RedirectHandler("/keys", http.StatusFound).ServeHTTP, "redirected too often"},
		"endless":                  {endless, "larger than"},
		"never ends":               {silent, "no answer within"},
		"an error page":            {http.NotFound, "status 404"},
		"HTML":                     {text("<html>"), "not a set of keys"},
		"no key":                   {text(`{"keys":[]}`), "no key for signatures"},
		"a symmetric key":          {document(symmetric), "no key for signatures"},
		"a key for encryption":     {document(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{encryption.Public()}}), "no key for signatures"},
		"a private key":            {document(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{newKey(t, "first")}}), "no key for signatures"},
		"a short RSA key":          {document(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{short.Public()}}), "no key for signatures"},
		"too many keys":            {document(many), "up to 64"},
	} {
		t.Run(name, func(t *testing.T) {
			i := startIssuer(t)
			i.set(func() { i.answer = c.answer })
			o := i.options()
			o.JWT.JWKSURL, o.JWT.timeout = i.URL+"/keys", time.Second
			s := serve(t, o)
			s.wantStatus(t, "with these keys", i.token(t, nil), 503)
			s.wantLog(t, c.want)
		})
	}
}

func TestKeysThatAreNotUnderstoodDoNotSpoilTheOthers(t *testing.T) {
	i := startIssuer(t)
	good, err := json.Marshal(i.keys[0].Public())
	if err != nil {
		t.Fatal(err)
	}
	odd := `{"kty":"new","kid":"x"},{"kty":"EC","crv":"secp256k1","x":"AA","y":"AA"},{"kty":"RSA","n":"AQAB","e":"AQAB","kid":"short"},7`
	i.set(func() { i.answer = text(fmt.Sprintf(`{"keys":[%s,%s]}`, odd, good)) })
	s := serve(t, i.options())
	s.wantStatus(t, "the good key", i.token(t, nil), 200)
}

func TestCloseEndsAFetch(t *testing.T) {
	i := startIssuer(t)
	i.set(func() { i.answer = silent })
	o := i.options()
	o.JWT.timeout = time.Hour
	s := serve(t, o)
	s.auth.Close()
	s.auth.Close()
	s.wantStatus(t, "after Close", i.token(t, nil), 503)
}

func text(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, body) }
}

func document(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(v) }
}

func endless(w http.ResponseWriter, _ *http.Request) {
	for {
		if _, err := io.WriteString(w, strings.Repeat(" ", 4096)); err != nil {
			return
		}
	}
}

func silent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
