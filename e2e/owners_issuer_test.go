package e2e

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

// issuer is an authorization server in the test's own process: it says where
// its keys are, and signs.
type issuer struct {
	*httptest.Server
	t testing.TB

	mu   sync.Mutex
	down bool
	key  jose.JSONWebKey
}

func startIssuer(t testing.TB) *issuer {
	t.Helper()
	i := &issuer{t: t}
	i.Server = httptest.NewServer(i)
	t.Cleanup(i.Close)
	i.rotate("first")
	return i
}

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	down, key := i.down, i.key
	i.mu.Unlock()
	switch {
	case down:
		panic(http.ErrAbortHandler)
	case r.URL.Path == "/.well-known/openid-configuration":
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, i.URL, i.URL+"/keys")
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{key.Public()}})
	default:
		http.NotFound(w, r)
	}
}

// rotate replaces the issuer's one key.
func (i *issuer) rotate(id string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.key = jose.JSONWebKey{Key: private, KeyID: id, Algorithm: "ES256", Use: "sig"}
}

// fall makes the issuer one that cannot be asked, or again one that can.
func (i *issuer) fall(down bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.down = down
}

// claims change those of a good token; nil takes one out.
type claims map[string]any

const audience = "https://mcp.example/mcp"

// token is one for Alice, signed with the issuer's key.
func (i *issuer) token(changes claims) string {
	i.t.Helper()
	all := claims{
		"iss": i.URL, "aud": audience, "sub": "alice-subject", "scope": "mcp.tools mcp.more",
		"exp": time.Now().Add(time.Hour).Unix(), "iat": time.Now().Unix(),
	}
	for name, value := range changes {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.sign(i.key, all)
}

func (i *issuer) sign(key jose.JSONWebKey, all claims) string {
	i.t.Helper()
	text, err := json.Marshal(all)
	if err != nil {
		i.t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		i.t.Fatal(err)
	}
	signed, err := signer.Sign(text)
	if err != nil {
		i.t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		i.t.Fatal(err)
	}
	return compact
}

// auth is how the proxy is told of the issuer.
func (i *issuer) auth(more string) string {
	return fmt.Sprintf("auth: {issuer: %q, audience: %q, scopes: [mcp.tools]%s}\n", i.URL, audience, more)
}
