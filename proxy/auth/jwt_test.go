package auth

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

func (i *issuer) options(scopes ...string) Options {
	return Options{JWT: &JWT{Issuer: i.URL, Audience: testAudience, Scopes: scopes}}
}

func TestOneSubjectIsOneOwnerWhateverItsToken(t *testing.T) {
	i := startIssuer(t)
	s := serve(t, i.options())
	alice := s.bearer(t, i.token(t, nil))
	if alice.status != http.StatusOK || len(alice.body) != 43 {
		t.Fatalf("a good token: status %d, owner %q", alice.status, alice.body)
	}
	later := i.token(t, object{"exp": time.Now().Add(2 * time.Hour).Unix(), "aud": []string{"other", testAudience + "/"}})
	if got := s.ask(t, "bEARER  "+later); got.body != alice.body {
		t.Errorf("another token of the subject: owner %q, want %q", got.body, alice.body)
	}
	if bob := s.bearer(t, i.token(t, object{"sub": "bob"})); bob.body == alice.body || bob.status != http.StatusOK {
		t.Errorf("another subject: status %d, owner %q", bob.status, bob.body)
	}
}

func TestBadTokensAreRefused(t *testing.T) {
	i := startIssuer(t)
	s := serve(t, i.options())
	key := i.keys[0]
	foreign := newKey(t, key.KeyID)
	large := rsaKey(t, "rsa", 2048)
	in := func(d time.Duration) int64 { return time.Now().Add(d).Unix() }
	unsigned := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none"}`)) + "." + strings.Split(i.token(t, nil), ".")[1] + "."
	i.set(func() { i.keys = append(i.keys, large) })

	for name, c := range map[string]struct {
		token string
		want  *refusal
	}{
		"not a JWT":                   {"opaque-token-of-somebody", errMalformed},
		"a JWT cut short":             {i.token(t, nil)[:60], errMalformed},
		"no signature, alg none":      {unsigned, errAlgorithm},
		"HMAC with the public key":    {sign(t, hmacKey(t, large), i.claims(nil), nil), errAlgorithm},
		"signed by somebody else":     {sign(t, foreign, i.claims(nil), nil), errSignature},
		"key nobody publishes":        {sign(t, newKey(t, "unknown"), i.claims(nil), nil), errNoKey},
		"no kid, key of another":      {sign(t, newKey(t, ""), i.claims(nil), nil), errNoKey},
		"key in its own header":       {embedded(t, i.claims(nil)), errNoKey},
		"payload changed":             {changed(t, i.token(t, nil), i.token(t, object{"sub": "root"})), errSignature},
		"unknown critical header":     {sign(t, key, i.claims(nil), object{"crit": []string{"odd"}, "odd": 1}), errSignature},
		"a logout token":              {sign(t, key, i.claims(nil), object{"typ": "logout+jwt"}), errType},
		"another issuer":              {i.token(t, object{"iss": "https://login.example.com"}), errIssuer},
		"no issuer":                   {i.token(t, object{"iss": nil}), errIssuer},
		"issuer with a slash":         {i.token(t, object{"iss": i.URL + "/"}), errIssuer},
		"another audience":            {i.token(t, object{"aud": "https://other.example.com/mcp"}), errAudience},
		"a longer audience":           {i.token(t, object{"aud": testAudience + "2"}), errAudience},
		"no audience":                 {i.token(t, object{"aud": nil}), errAudience},
		"audience of no sense":        {i.token(t, object{"aud": 7}), errClaims},
		"no expiry":                   {i.token(t, object{"exp": nil}), errNoExpiry},
		"expired":                     {i.token(t, object{"exp": in(-90 * time.Second)}), errExpired},
		"expired in 1970":             {i.token(t, object{"exp": 0}), errExpired},
		"expiry of no sense":          {i.token(t, object{"exp": "tomorrow"}), errClaims},
		"not valid yet":               {i.token(t, object{"nbf": in(90 * time.Second)}), errTooEarly},
		"issued in the future":        {i.token(t, object{"iat": in(90 * time.Second)}), errTooEarly},
		"no subject":                  {i.token(t, object{"sub": nil}), errNoSubject},
		"subject that is no text":     {i.token(t, object{"sub": json.RawMessage(`"a\ud800"`)}), errNoSubject},
		"subject of invalid UTF-8":    {i.token(t, object{"sub": json.RawMessage("\"a\xff\"")}), errNoSubject},
		"claims that are a JSON list": {signText(t, key, `[]`), errClaims},
		"claims that are no JSON":     {signText(t, key, `alice`), errSignature},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.bearer(t, c.token)
			if got.status != http.StatusUnauthorized || got.challenge["error"] != "invalid_token" {
				t.Errorf("status %d, challenge %v; want 401 invalid_token", got.status, got.challenge)
			}
			if got.challenge["error_description"] != c.want.text || !strings.HasPrefix(got.body, c.want.text) {
				t.Errorf("refused with %q (%q), want %q", got.body, got.challenge["error_description"], c.want.text)
			}
			if got.challenge["resource_metadata"] != s.URL+wellKnown+"/mcp" {
				t.Errorf("resource_metadata %q", got.challenge["resource_metadata"])
			}
		})
	}
}

func TestClocksMayDifferALittle(t *testing.T) {
	i := startIssuer(t)
	s := serve(t, i.options())
	const near = 15 * time.Second
	for name, changes := range map[string]object{
		"expired a moment ago":   {"exp": time.Now().Add(-near).Unix()},
		"valid in a moment":      {"nbf": time.Now().Add(near).Unix()},
		"issued by a fast clock": {"iat": time.Now().Add(near).Unix()},
	} {
		if got := s.bearer(t, i.token(t, changes)); got.status != http.StatusOK {
			t.Errorf("%s: status %d, %s", name, got.status, got.body)
		}
	}
}

func TestATokenMustHaveAllScopes(t *testing.T) {
	i := startIssuer(t)
	s := serve(t, i.options("mcp:call", "mcp:read"))
	for name, c := range map[string]struct {
		claims object
		status int
	}{
		"none":                 {nil, 403},
		"one of two":           {object{"scope": "mcp:call"}, 403},
		"a prefix of one":      {object{"scope": "mcp:call mcp:re"}, 403},
		"all, and one more":    {object{"scope": "x mcp:read mcp:call"}, 200},
		"all, in an scp array": {object{"scp": []string{"mcp:read", "mcp:call"}}, 200},
		"a scope of no sense":  {object{"scope": 7}, 401},
	} {
		got := s.bearer(t, i.token(t, c.claims))
		if got.status != c.status {
			t.Errorf("%s: status %d, want %d", name, got.status, c.status)
		}
		if c.status == 403 && (got.challenge["error"] != "insufficient_scope" || got.challenge["scope"] != "mcp:call mcp:read") {
			t.Errorf("%s: challenge %v", name, got.challenge)
		}
	}
	if got := s.ask(t); got.challenge["scope"] != "mcp:call mcp:read" {
		t.Errorf("without a token the challenge is %v, want the scopes to ask for", got.challenge)
	}
}

func TestOnlyConfiguredAlgorithmsAreAccepted(t *testing.T) {
	i := startIssuer(t)
	o := i.options()
	o.JWT.Algorithms = []string{"RS256"}
	key := rsaKey(t, "rsa", 2048)
	i.set(func() { i.keys = append(i.keys, key) })
	s := serve(t, o)
	if got := s.bearer(t, i.token(t, nil)); got.status != http.StatusUnauthorized {
		t.Errorf("ES256: status %d, want 401", got.status)
	}
	if got := s.bearer(t, sign(t, key, i.claims(nil), object{"typ": "at+jwt"})); got.status != http.StatusOK {
		t.Errorf("RS256: status %d, %s", got.status, got.body)
	}
}

func rsaKey(t *testing.T, kid string, bits int) jose.JSONWebKey {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return jose.JSONWebKey{Key: private, KeyID: kid, Algorithm: "RS256"}
}

// hmacKey takes the text of a public key for a shared secret.
func hmacKey(t *testing.T, key jose.JSONWebKey) jose.JSONWebKey {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public().Key)
	if err != nil {
		t.Fatal(err)
	}
	secret := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	return jose.JSONWebKey{Key: secret, KeyID: key.KeyID, Algorithm: "HS256"}
}

// embedded is a token that brings the key to check it with.
func embedded(t *testing.T, claims object) string {
	t.Helper()
	key := newKey(t, "")
	return sign(t, key, claims, object{"jwk": key.Public(), "jku": "https://evil.example.com/keys"})
}

// changed is a token with the claims of another.
func changed(t *testing.T, token, other string) string {
	t.Helper()
	parts := strings.Split(token, ".")
	parts[1] = strings.Split(other, ".")[1]
	return strings.Join(parts, ".")
}

func signText(t *testing.T, key jose.JSONWebKey, text string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	compact, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return compact
}
