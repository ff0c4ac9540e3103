package auth

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/rs/zerolog"
)

// Options say who may use the proxy over HTTP. At most one of TokensFile and
// JWT is set; with neither, everybody is the one local owner.
type Options struct {
	// TokensFile is the path of a file of static bearer tokens: lines of the
	// form NAME sha256:HEX, see the package comment. It is read again when it
	// changes.
	TokensFile string
	// JWT has access tokens of an authorization server accepted.
	JWT *JWT
	// Resource is the public URL of the MCP endpoint, for clients that look for
	// the issuer (RFC 9728). Empty: derived from each request's Host and path,
	// which is wrong behind a proxy that ends TLS or changes the path. Headers
	// such as X-Forwarded-Proto are not looked at: anybody can send them.
	Resource string
	// Forward leaves Authorization in the requests that pass, for a server that
	// wants it. Where neither TokensFile nor JWT tells owners apart, each
	// credential is then an owner of its own, as the server will see it.
	Forward bool
	// Key is what owners are hashed with, 32 bytes, from [LoadKey]. Not needed
	// where there is only the local owner.
	Key []byte
	Log zerolog.Logger

	now func() time.Time // another clock, in tests
}

// JWT says which access tokens are good.
type JWT struct {
	// Issuer must be the token's iss, byte for byte.
	Issuer string
	// Audience must be among the token's aud: the resource identifier of this
	// server (2026-07-28, Authorization, Token Handling: "MCP servers MUST
	// validate that access tokens were issued specifically for them"). A
	// trailing slash makes no difference. Empty: Options.Resource.
	Audience string
	// JWKSURL is where the issuer's keys are. Empty: the issuer's metadata
	// document says it.
	JWKSURL string
	// Scopes are what a token must have, all of them; may be empty.
	Scopes []string
	// Algorithms are the JWS algorithms that are accepted. Empty: the RSA,
	// ECDSA and EdDSA ones. Neither none nor HMAC can be had.
	Algorithms []string

	timeout time.Duration // for one fetch of the keys; another one in tests
}

// keySize is the length of Options.Key in bytes.
const keySize = 32

var asymmetric = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

func (o *Options) check() error {
	if o.TokensFile != "" && o.JWT != nil {
		return errors.New("owners: both a tokens file and an issuer of access tokens are given; use one of them")
	}
	if o.Resource != "" {
		if err := checkResource(o.Resource); err != nil {
			return err
		}
	}
	if (o.TokensFile != "" || o.JWT != nil || o.Forward) && len(o.Key) != keySize {
		return fmt.Errorf("owners: the key has %d bytes, not %d", len(o.Key), keySize)
	}
	return nil
}

func (j *JWT) check() error {
	if err := checkSource("issuer", j.Issuer); err != nil {
		return err
	}
	if strings.Contains(j.Issuer, "?") {
		return fmt.Errorf("owners: issuer %q has a query, which no issuer may have (RFC 8414, section 2)", j.Issuer)
	}
	if j.JWKSURL != "" {
		if err := checkSource("JWKS URL", j.JWKSURL); err != nil {
			return err
		}
	}
	if j.Audience == "" {
		return errors.New("owners: no audience; write this server's public URL, or the identifier that the issuer puts into a token's aud for it")
	}
	return j.checkScopes()
}

func (j *JWT) checkScopes() error {
	for _, s := range j.Scopes {
		if s == "" || strings.ContainsFunc(s, notScope) {
			return fmt.Errorf("owners: scope %q is empty or holds a character that no scope may have", s)
		}
	}
	return nil
}

// notScope: OAuth 2.1, section 1.4.1 (scope-token).
func notScope(c rune) bool { return c <= ' ' || c > '~' || c == '"' || c == '\\' }

func (j *JWT) algorithms() ([]jose.SignatureAlgorithm, error) {
	if len(j.Algorithms) == 0 {
		return asymmetric, nil
	}
	var out []jose.SignatureAlgorithm
	for _, name := range j.Algorithms {
		alg := jose.SignatureAlgorithm(name)
		if !slices.Contains(asymmetric, alg) {
			return nil, fmt.Errorf("owners: algorithm %q is not accepted; use some of %v", name, asymmetric)
		}
		out = append(out, alg)
	}
	return out, nil
}

// checkResource: RFC 9728, section 1.2. Not all public URLs are https: a
// server on a loopback address or in a closed network has no certificate.
func checkResource(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || !validHost(u.Host) ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("owners: resource %q is not this server's public URL; write it as https://mcp.example.com/mcp", raw)
	}
	return nil
}
