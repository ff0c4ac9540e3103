package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// issuer is an authorization server: it has metadata and keys, and signs.
type issuer struct {
	*httptest.Server
	at string // the path of its metadata

	mu      sync.Mutex
	down    bool
	keys    []jose.JSONWebKey
	fetches int
	answer  http.HandlerFunc // instead of the keys
}

func startIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{at: "/.well-known/openid-configuration"}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	i.rotate(t, "first")
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	down, answer, keys := i.down, i.answer, i.keys
	if r.URL.Path == "/keys" {
		i.fetches++
	}
	i.mu.Unlock()
	switch {
	case down:
		panic(http.ErrAbortHandler)
	case r.URL.Path == i.at:
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.URL, i.URL+"/keys")
	case r.URL.Path != "/keys":
		http.NotFound(w, r)
	case answer != nil:
		answer(w, r)
	default:
		set := jose.JSONWebKeySet{}
		for _, k := range keys {
			set.Keys = append(set.Keys, k.Public())
		}
		json.NewEncoder(w).Encode(set)
	}
}

// rotate replaces the issuer's keys by a new one.
func (i *issuer) rotate(t *testing.T, kid string) {
	t.Helper()
	i.set(func() { i.keys = []jose.JSONWebKey{newKey(t, kid)} })
}

func (i *issuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *issuer) fetched() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.fetches
}

func newKey(t *testing.T, kid string) jose.JSONWebKey {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: private, KeyID: kid, Algorithm: "ES256", Use: "sig"}
}

type object map[string]any

// claims are those of a good token, changed; a change to nil takes one out.
func (i *issuer) claims(changes object) object {
	c := object{"iss": i.URL, "aud": testAudience, "sub": "alice", "exp": time.Now().Add(time.Hour).Unix()}
	for name, value := range changes {
		if c[name] = value; value == nil {
			delete(c, name)
		}
	}
	return c
}

func (i *issuer) token(t *testing.T, changes object) string {
	t.Helper()
	i.mu.Lock()
	defer i.mu.Unlock()
	return sign(t, i.keys[0], i.claims(changes), nil)
}

func sign(t *testing.T, key jose.JSONWebKey, claims, header object) string {
	t.Helper()
	o := &jose.SignerOptions{ExtraHeaders: map[jose.HeaderKey]any{}}
	for name, value := range header {
		o.ExtraHeaders[jose.HeaderKey(name)] = value
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(key.Algorithm), Key: key}, o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return compact
}
