package auth

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

func TestAClientFindsTheIssuerByTheChallenge(t *testing.T) {
	i := startIssuer(t)
	s := serve(t, i.options("mcp:call"))
	challenge := s.ask(t).challenge
	if challenge["error"] != "" {
		t.Errorf("a request without a token got error %q; RFC 6750 has none for it", challenge["error"])
	}
	got, err := oauthex.GetProtectedResourceMetadata(t.Context(), challenge["resource_metadata"], s.URL+"/mcp", http.DefaultClient)
	if err != nil {
		t.Fatal(err)
	}
	want := &oauthex.ProtectedResourceMetadata{
		Resource: s.URL + "/mcp", ResourceName: "mcp-taskproxy", AuthorizationServers: []string{i.URL},
		ScopesSupported: []string{"mcp:call"}, BearerMethodsSupported: []string{"header"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := oauthex.GetProtectedResourceMetadata(t.Context(), s.URL+wellKnown, s.URL, http.DefaultClient); err != nil {
		t.Errorf("at the root: %v", err)
	}
}

func TestMetadataNameTheConfiguredURL(t *testing.T) {
	i := startIssuer(t)
	for resource, at := range map[string]string{
		"https://mcp.example.com/tools/mcp": "https://mcp.example.com" + wellKnown + "/tools/mcp",
		"https://mcp.example.com:8443":      "https://mcp.example.com:8443" + wellKnown,
		"https://mcp.example.com/":          "https://mcp.example.com" + wellKnown,
	} {
		o := i.options()
		o.Resource, o.JWT.Audience = resource, ""
		s := serve(t, o)
		if got := s.ask(t).challenge["resource_metadata"]; got != at {
			t.Errorf("%s: metadata at %q, want %q", resource, got, at)
		}
		if body := s.get(t, wellKnown).body; !strings.Contains(body, `"resource":"`+resource+`"`) {
			t.Errorf("%s: metadata %s", resource, body)
		}
		s.wantStatus(t, "the resource is the audience", i.token(t, object{"aud": resource}), 200)
		s.wantStatus(t, "another audience", i.token(t, nil), 401)
	}
}

func (s *server) get(t *testing.T, path string) reply {
	t.Helper()
	answer, err := http.Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{status: answer.StatusCode, body: string(body), header: answer.Header}
}

func TestABadHostOrPathCannotForgeAChallenge(t *testing.T) {
	i := startIssuer(t)
	s := serve(t, i.options())
	for host, want := range map[string]string{
		`a", error="x`:     "",
		"":                 "",
		"mcp.example.com":  "http://mcp.example.com" + wellKnown + "/%22,%20x=%22",
		"[::1]:8080":       "http://[::1]:8080" + wellKnown + "/%22,%20x=%22",
		"[::1":             "",
		"user@example.com": "",
	} {
		r := httptest.NewRequest(http.MethodPost, "/%22,%20x=%22", nil)
		r.Host = host
		w := httptest.NewRecorder()
		s.auth.Middleware(http.NotFoundHandler()).ServeHTTP(w, r)
		if got := challengeOf(t, w.Header()); got["resource_metadata"] != want || got["x"] != "" || got["error"] != "" {
			t.Errorf("Host %q: challenge %v, want metadata at %q", host, got, want)
		}
		r.URL.Path, r.URL.RawPath, r.Method = wellKnown, "", http.MethodGet
		w = httptest.NewRecorder()
		s.auth.Metadata().ServeHTTP(w, r)
		if (w.Code == http.StatusBadRequest) != (want == "") {
			t.Errorf("Host %q: metadata with status %d", host, w.Code)
		}
	}
}

func TestBrowsersMayReadTheMetadata(t *testing.T) {
	s := serve(t, startIssuer(t).options())
	if got := s.get(t, wellKnown+"/mcp"); got.header.Get("Access-Control-Allow-Origin") != "*" || got.header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", got.header)
	}
}

func TestWithoutAnIssuerThereAreNoMetadata(t *testing.T) {
	for name, o := range map[string]Options{"local": {}, "tokens": {TokensFile: writeTokens(t, lineFor("alice", "secret-of-alice"))}} {
		s := serve(t, o)
		if got := s.get(t, wellKnown); got.status != http.StatusNotFound {
			t.Errorf("%s: status %d, want 404", name, got.status)
		}
	}
}

func TestADerivedURLHasTheSchemeOfTheConnection(t *testing.T) {
	s := serve(t, startIssuer(t).options())
	r := httptest.NewRequest(http.MethodPost, "https://mcp.example.com/mcp", nil)
	w := httptest.NewRecorder()
	s.auth.Middleware(http.NotFoundHandler()).ServeHTTP(w, r)
	if got, want := challengeOf(t, w.Header())["resource_metadata"], "https://mcp.example.com"+wellKnown+"/mcp"; got != want {
		t.Errorf("over TLS: metadata at %q, want %q", got, want)
	}
}
