package auth

import (
	"context"
	"strings"
	"testing"
)

func TestMistakesInOptionsAreNamed(t *testing.T) {
	good := JWT{Issuer: "https://login.example.com", Audience: testAudience, JWKSURL: "https://keys.example.com/keys?p=x"}
	with := func(change func(*JWT)) Options {
		j := good
		change(&j)
		return Options{JWT: &j, Key: testKey}
	}
	for name, c := range map[string]struct {
		options Options
		want    string
	}{
		"both modes":              {Options{TokensFile: "tokens", JWT: &good, Key: testKey}, "use one of them"},
		"no key":                  {Options{JWT: &good}, "the key has 0 bytes"},
		"no issuer":               {with(func(j *JWT) { j.Issuer = "" }), "issuer"},
		"issuer in the clear":     {with(func(j *JWT) { j.Issuer = "http://login.example.com" }), "must begin with https"},
		"issuer like a loopback":  {with(func(j *JWT) { j.Issuer = "http://127.0.0.1.example.com" }), "must begin with https"},
		"issuer with a query":     {with(func(j *JWT) { j.Issuer += "?a=b" }), "query"},
		"issuer with a password":  {with(func(j *JWT) { j.Issuer = "https://a:b@login.example.com" }), "issuer"},
		"keys in the clear":       {with(func(j *JWT) { j.JWKSURL = "http://keys.example.com" }), "JWKS URL"},
		"no audience":             {with(func(j *JWT) { j.Audience = "" }), "audience"},
		"a scope that is two":     {with(func(j *JWT) { j.Scopes = []string{"a b"} }), `"a b"`},
		"a scope with a quote":    {with(func(j *JWT) { j.Scopes = []string{`a"`} }), "no scope may have"},
		"algorithm none":          {with(func(j *JWT) { j.Algorithms = []string{"none"} }), `"none"`},
		"algorithm HS256":         {with(func(j *JWT) { j.Algorithms = []string{"RS256", "HS256"} }), `"HS256"`},
		"resource without scheme": {Options{Resource: "mcp.example.com/mcp"}, "https://mcp.example.com/mcp"},
		"resource with fragment":  {Options{Resource: "https://mcp.example.com#x"}, "public URL"},
		"resource with a quote":   {Options{Resource: `https://mcp"example.com`}, "public URL"},
	} {
		a, err := New(t.Context(), &c.options)
		if a != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
	}
	o := with(func(*JWT) {})
	ended, end := context.WithCancel(t.Context())
	end() // nothing is to be fetched
	a, err := New(ended, &o)
	if err != nil {
		t.Fatalf("good options: %v", err)
	}
	a.Close()
}
