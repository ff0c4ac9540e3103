package config

import (
	"fmt"
	"time"
)

// Listen is where and for whom hosts are served over HTTP.
type Listen struct {
	Address              string // HOST:PORT; empty: there is one host, on standard input and output
	Endpoint             string // the path, such as /mcp
	TLS                  TLS
	Auth                 Auth
	AllowUnauthenticated bool     // whether Address may be beyond loopback without Auth
	Origins              []string // allowed besides loopback's: scheme://host[:port] in lower case
	Hosts                []string // allowed besides loopback's: names and addresses in lower case, without port
	HeaderBytes          int64    // the longest head of a request, in bytes
	Connections          int      // how many may be open at a time
	Sessions             int      // how many sessions with the upstream server may be open at a time
	SessionIdle          time.Duration
	HeaderTimeout        time.Duration // how long the head of a request may take to arrive
}

// TLS names PEM files: both, or none for plain HTTP. Check sees to it.
type TLS struct{ Cert, Key string }

// Auth is how hosts show who they are: by a token of the file Tokens, or by a
// JWT of Issuer for Audience. If all is empty, they need not.
type Auth struct {
	Tokens   string // a path
	Issuer   string
	Audience string   // how the tokens name this server
	JWKSURL  string   // where the issuer's keys are; empty: the issuer is asked
	Scopes   []string // that a token must have
	Resource string   // this server's public URL; empty: as each request names it
}

// given tells whether hosts must show who they are.
func (a Auth) given() bool { return a.Tokens != "" || a.Issuer != "" }

func (r *reader) listenFields(known fields, l *Listen) {
	known["listen"] = text(r, &l.Address, "HOST:PORT, in quotes if it begins with [, such as 127.0.0.1:8080", ParseListen)
	known["endpoint"] = text(r, &l.Endpoint, "a path such as /mcp", ParseEndpoint)
	known["tls"] = r.group("{cert: FILE, key: FILE}", []string{"cert", "key"}, fields{
		"cert": text(r, &l.TLS.Cert, "a file", r.path),
		"key":  text(r, &l.TLS.Key, "a file", r.path),
	})
	known["auth"] = r.auth(&l.Auth)
	known["allow_unauthenticated"] = text(r, &l.AllowUnauthenticated, "true or false", ParseBool)
	known["origins"] = r.list(&l.Origins, "https://app.example", parseOrigin)
	known["hosts"] = r.list(&l.Hosts, "proxy.example", parseHost)
}

func (r *reader) auth(a *Auth) func(value) {
	keys := []string{"tokens", "issuer", "audience", "jwks_url", "scopes", "resource"}
	return r.group("{tokens: FILE}, or {issuer: URL, audience: URL}", keys, fields{
		"tokens":   text(r, &a.Tokens, "a file", r.path),
		"issuer":   text(r, &a.Issuer, "a URL", parseTrusted),
		"audience": text(r, &a.Audience, "a URL", parseAudience),
		"jwks_url": text(r, &a.JWKSURL, "a URL", parseTrusted),
		"scopes":   r.list(&a.Scopes, "mcp.read", parseScope),
		"resource": text(r, &a.Resource, "a URL", ParseURL),
	})
}

// RFC 6749, section 3.3: what a scope may consist of.
var scopeForm = pattern(`^[\x21\x23-\x5b\x5d-\x7e]{1,200}$`)

func parseScope(s string) (string, error) {
	if !scopeForm().MatchString(s) {
		return "", fmt.Errorf("%s is not one scope; write each by itself, without spaces, quotes and backslashes", quoted(s))
	}
	return s, nil
}

// checkListen refuses halves, and what would silently win over the other.
func (r *reader) checkListen(l Listen) {
	if (l.TLS.Cert == "") != (l.TLS.Key == "") {
		r.mistake(r.places["tls"], "tls: one file is missing; write {cert: FILE, key: FILE}")
	}
	at, said := r.places["auth"]
	a := l.Auth
	others := a.Issuer + a.Audience + a.JWKSURL + a.Resource
	switch {
	case !said:
	case a.Tokens != "" && (others != "" || len(a.Scopes) > 0):
		r.mistake(r.places["auth.tokens"], "auth.tokens: nothing else has an effect beside it; keep tokens alone, or issuer and what belongs to it")
	case a.Tokens == "" && a.Issuer == "":
		r.mistake(at, "auth: nothing says whose tokens count; write {tokens: FILE}, or {issuer: URL, audience: URL}")
	case a.Issuer != "" && a.Audience == "":
		r.mistake(at, "auth: without an audience, tokens that were issued for other servers would count; write how they name this one, audience: URL")
	}
}
