package auth

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKeysAreFoundWhereverTheIssuerHasItsMetadata(t *testing.T) {
	for _, at := range []string{"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"} {
		i := startIssuer(t)
		i.set(func() { i.at = at })
		s := serve(t, i.options())
		s.wantStatus(t, at, i.token(t, nil), 200)
	}
}

func TestMetadataAreLookedForInTheOrderOfTheSpecification(t *testing.T) {
	const host = "https://auth.example.com"
	for issuer, want := range map[string][]string{
		host:       {"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"},
		host + "/": {"/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"},
		host + "/tenant1": {"/.well-known/oauth-authorization-server/tenant1",
			"/.well-known/openid-configuration/tenant1", "/tenant1/.well-known/openid-configuration"},
	} {
		for n := range want {
			want[n] = host + want[n]
		}
		if diff := cmp.Diff(want, metadataURLs(issuer)); diff != "" {
			t.Errorf("%s: %s", issuer, diff)
		}
	}
}

func TestMetadataOfAnotherIssuerAreNotUsed(t *testing.T) {
	for name, c := range map[string]struct{ issuer, keys, want string }{
		"another issuer":         {"https://honest.example.com", "%s/keys", "configured one"},
		"a slash more":           {"%s/", "%s/keys", "configured one"},
		"no keys":                {"%s", "", "no jwks_uri"},
		"keys in a file":         {"%s", "file:///etc/passwd", "no jwks_uri"},
		"keys in the clear":      {"%s", "http://keys.example.com/keys", "must begin with https"},
		"keys behind a password": {"%s", "https://a:b@keys.example.com/keys", "no jwks_uri"},
	} {
		t.Run(name, func(t *testing.T) {
			i := startIssuer(t)
			var liar *httptest.Server
			liar = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, filled(c.issuer, liar.URL), filled(c.keys, i.URL))
			}))
			defer liar.Close()
			o := i.options()
			o.JWT.Issuer = liar.URL
			s := serve(t, o)
			s.wantStatus(t, "with these metadata", i.token(t, object{"iss": liar.URL}), 503)
			s.wantLog(t, c.want)
			if i.fetched() != 0 {
				t.Error("the keys were fetched")
			}
		})
	}
}

func TestAnIssuerInTheWorldDoesNotPointAtThisMachine(t *testing.T) {
	s := &source{issuer: "https://login.example.com"}
	if err := s.checkKeysURL("here", "http://127.0.0.1:8080/keys"); err == nil {
		t.Error("keys on the loopback address are accepted")
	}
	if err := s.checkKeysURL("here", "https://keys.example.com/keys?p=policy"); err != nil {
		t.Errorf("keys on another host: %v", err)
	}
}

// filled puts a URL where the text has room for one.
func filled(text, url string) string {
	if len(text) < 2 || text[:2] != "%s" {
		return text
	}
	return url + text[2:]
}
