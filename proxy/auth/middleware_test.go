package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestEverybodyIsTheLocalOwnerWithoutTokens(t *testing.T) {
	s := serve(t, Options{})
	if got := s.ask(t); got.status != http.StatusOK || got.body != "" {
		t.Errorf("status %d, owner %q; want the local owner", got.status, got.body)
	}
	if owner := OwnerOf(context.Background()); owner != "" {
		t.Errorf("a context of nobody has owner %q", owner)
	}
	a, err := New(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a.Close()
}

func TestForwardedCredentialsAreOwnersOfTheirOwn(t *testing.T) {
	const token = "secret-of-alice"
	strangers := func(o Options) (seen func(authorization ...string) (int, string, string)) {
		s := serve(t, o)
		inner := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Owner", OwnerOf(r.Context()))
			w.Header().Set("Passed", r.Header.Get("Authorization"))
		})
		return func(authorization ...string) (int, string, string) {
			w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/mcp", nil)
			r.Header["Authorization"] = authorization
			s.auth.Middleware(inner).ServeHTTP(w, r)
			return w.Code, w.Header().Get("Owner"), w.Header().Get("Passed")
		}
	}
	open := strangers(Options{Forward: true})
	_, alice, passed := open("Bearer " + token)
	_, again, _ := open("Bearer " + token)
	_, bob, _ := open("Bearer secret-of-bob")
	_, nobody, _ := open()
	if alice == "" || alice != again || alice == bob || bob == "" || nobody != "" || strings.Contains(alice, token) {
		t.Errorf("owners: alice %q, again %q, bob %q, nobody %q", alice, again, bob, nobody)
	}
	if passed != "Bearer "+token {
		t.Errorf("the server would see %q", passed)
	}
	if status, _, _ := open("Bearer a", "Bearer b"); status != http.StatusBadRequest {
		t.Errorf("two credentials: status %d", status)
	}
	known := strangers(Options{Forward: true, TokensFile: writeTokens(t, lineFor("alice", token))})
	if _, owner, passed := known("Bearer " + token); owner == "" || owner == alice || passed != "Bearer "+token {
		t.Errorf("with a tokens file: owner %q, passed on %q", owner, passed)
	}
	if status, _, _ := known("Bearer secret-of-bob"); status != http.StatusUnauthorized {
		t.Errorf("an unknown token: status %d", status)
	}
}

func TestOddAuthorizationHeaders(t *testing.T) {
	const token = "secret-of-alice"
	s := serve(t, Options{TokensFile: writeTokens(t, lineFor("alice", token))})
	for name, c := range map[string]struct {
		path   string
		header []string
		want   *refusal // nil if it is none
	}{
		"good":                       {"/mcp", []string{"Bearer " + token}, nil},
		"scheme in capitals":         {"/mcp", []string{"BEARER " + token}, nil},
		"many spaces":                {"/mcp", []string{"bearer    " + token}, nil},
		"none":                       {"/mcp", nil, errNoToken},
		"empty":                      {"/mcp", []string{""}, errNoToken},
		"in the query string":        {"/mcp?access_token=" + token, nil, errNoToken},
		"another scheme":             {"/mcp", []string{"Basic YWxpY2U6c2VjcmV0"}, errNoToken},
		"no scheme":                  {"/mcp", []string{token}, errNoToken},
		"no token":                   {"/mcp", []string{"Bearer"}, errMalformed},
		"two in one":                 {"/mcp", []string{"Bearer " + token + " " + token}, errMalformed},
		"two in a list":              {"/mcp", []string{"Bearer " + token + ", Bearer " + token}, errMalformed},
		"two headers":                {"/mcp", []string{"Bearer " + token, "Bearer " + token}, errTwoTokens},
		"another token":              {"/mcp", []string{"Bearer " + token + "2"}, errUnknownToken},
		"the beginning of one":       {"/mcp", []string{"Bearer " + token[:len(token)-1]}, errUnknownToken},
		"the hash":                   {"/mcp", []string{"Bearer " + hashOf(token)}, errUnknownToken},
		"the name":                   {"/mcp", []string{"Bearer alice"}, errUnknownToken},
		"longer than tokens can be":  {"/mcp", []string{"Bearer " + strings.Repeat("x", maxToken)}, errTokenTooLong},
		"letters that are not ASCII": {"/mcp", []string{"Bearer sécret-of-alice"}, errMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			got := s.askAt(t, c.path, c.header...)
			if c.want == nil {
				c.want = &refusal{status: http.StatusOK}
			}
			if got.status != c.want.status || got.challenge["error"] != c.want.code || !strings.HasPrefix(got.body, c.want.text) {
				t.Errorf("status %d, error %q, %q; want %v", got.status, got.challenge["error"], got.body, *c.want)
			}
			if refused := got.status != http.StatusOK; refused != (got.challenge != nil) {
				t.Errorf("status %d with challenge %v", got.status, got.challenge)
			}
			if _, ok := got.challenge["resource_metadata"]; ok {
				t.Error("the challenge names metadata, and there are none")
			}
		})
	}
}

func TestRefusalsDoNotFillTheLog(t *testing.T) {
	s := serve(t, Options{TokensFile: writeTokens(t, lineFor("alice", "secret-of-alice"))})
	s.ask(t)
	if log := s.log.String(); log != "" {
		t.Errorf("a request without a token, with which every login begins, is in the log: %s", log)
	}
	for range 50 {
		s.bearer(t, "guess")
	}
	if n := strings.Count(s.log.String(), "request refused"); n == 0 || n > 20 {
		t.Errorf("50 refusals made %d lines, want some and at most 20", n)
	}
}

func TestRefusalsFitIntoAChallenge(t *testing.T) {
	for _, r := range []*refusal{errNoToken, errTwoTokens, errScope, errMalformed, errTokenTooLong, errUnknownToken, errAlgorithm, errType,
		errNoKey, errSignature, errClaims, errIssuer, errAudience, errNoExpiry, errExpired, errTooEarly, errNoSubject, errNoKeys(0)} {
		if strings.ContainsFunc(r.text, func(c rune) bool { return c < ' ' || c > '~' || c == '"' || c == '\\' }) || !strings.HasSuffix(r.text, ".") {
			t.Errorf("%q", r.text)
		}
	}
}
