package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// FuzzBearer: what is taken for a token is one word of the one header.
func FuzzBearer(f *testing.F) {
	f.Add("Bearer abc", "", false)
	f.Add("bEARER \t a b", "Bearer x", true)
	f.Add("Basic YTpi", "\x00", false)
	f.Add("Bearer\u00a0abc", "", false)
	f.Fuzz(func(t *testing.T, first, second string, two bool) {
		r := &http.Request{Header: http.Header{"Authorization": {first}}}
		if two {
			r.Header.Add("Authorization", second)
		}
		token, refused := bearer(r)
		switch {
		case refused != nil && token != "":
			t.Errorf("%q is refused, and has the token %q", first, token)
		case refused == nil && (two || token == "" || len(token) > maxToken || strings.ContainsFunc(token, notToken)):
			t.Errorf("the token of %q, %q (%v) is %q", first, second, two, token)
		case refused == nil && !strings.HasSuffix(strings.TrimSpace(first), token):
			t.Errorf("the token of %q is %q", first, token)
		}
	})
}

// FuzzToken: nothing but what the issuer has signed is good, whatever is done
// to it.
func FuzzToken(f *testing.F) {
	v, good := fuzzVerifier(f)
	signed := good[:strings.LastIndex(good, ".")]
	parts := strings.Split(good, ".")
	f.Add(good)
	f.Add(good + "=")
	f.Add(signed + ".")
	f.Add("eyJhbGciOiJub25lIn0." + parts[1] + ".")
	f.Add("eyJhbGciOiJFUzI1NiIsImtpZCI6ImsiLCJjcml0IjpbImI2NCJdLCJiNjQiOmZhbHNlfQ." + parts[1] + "." + parts[2])
	f.Add(`{"payload":"` + parts[1] + `","protected":"` + parts[0] + `","signature":"` + parts[2] + `"}`)
	f.Fuzz(func(t *testing.T, token string) {
		subject, refused := v.verify(t.Context(), token)
		switch {
		case token == good && (refused != nil || subject != "alice"):
			t.Fatalf("a good token: %q, %v", subject, refused)
		case refused == nil && !strings.HasPrefix(token, signed+"."):
			t.Fatalf("%q is taken for %q", token, subject)
		case refused != nil && refused.status != http.StatusUnauthorized:
			t.Fatalf("%q: status %d", token, refused.status)
		}
	})
}

// fuzzVerifier has its keys, and asks for no others.
func fuzzVerifier(f *testing.F) (v *verifier, good string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		f.Fatal(err)
	}
	key := jose.JSONWebKey{Key: private, KeyID: "k", Algorithm: "ES256", Use: "sig"}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: key}, nil)
	if err != nil {
		f.Fatal(err)
	}
	now := time.Now()
	good, err = jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: "https://issuer.example", Audience: jwt.Audience{testAudience}, Subject: "alice", Expiry: jwt.NewNumericDate(now.Add(time.Hour)),
	}).Serialize()
	if err != nil {
		f.Fatal(err)
	}
	clock := func() time.Time { return now }
	keys := &keySet{now: clock, closed: true, keys: []jose.JSONWebKey{key.Public()}, fetched: now, tried: now}
	return &verifier{issuer: "https://issuer.example", audience: testAudience, algorithms: asymmetric, keys: keys, now: clock}, good
}

// FuzzKeys: a key of a document that anybody can read must be good for checking
// signatures only.
func FuzzKeys(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kty":"oct","k":"c2VjcmV0"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"},null,7,{"kty":"OKP","crv":"Ed25519","x":"AA"}]}`))
	f.Add([]byte(`{"keys":[{"use":"sig","kty":"EC","kid":"k","crv":"P-256","alg":"ES256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0","d":"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI"}]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		keys, err := parseKeys(document)
		if (err == nil) != (len(keys) > 0) || len(keys) > maxKeys {
			t.Fatalf("%d keys, %v", len(keys), err)
		}
		for _, k := range keys {
			if !k.IsPublic() || !k.Valid() {
				t.Errorf("%T is accepted", k.Key)
			}
		}
	})
}

// FuzzTokensFile: nothing of a line is quoted, for it may be a token.
func FuzzTokensFile(f *testing.F) {
	const hash = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	f.Add("alice sha256:"+hash+"\n# a comment\n\n", "bob s3cr3t-token-of-bob")
	f.Add("\xef\xbb\xbfalice sha256:"+hash, "bob sha256:s3cr3t-token-of-bob")
	f.Fuzz(func(t *testing.T, lines, last string) {
		const secret = "s3cr3t-token-of-bob"
		list, err := parseTokens("FILE", []byte(lines+"\n"+last))
		if err == nil && len(list) == 0 {
			t.Error("a file without a token is accepted")
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%v", err)
		}
		if err == nil && !strings.Contains(lines+last, "sha256:") {
			t.Errorf("%q, %q: %d tokens", lines, last, len(list))
		}
	})
}
