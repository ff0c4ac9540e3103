package auth

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/rs/zerolog"
)

// verifier checks access tokens in JWT form.
type verifier struct {
	issuer, audience string
	scopes           []string
	algorithms       []jose.SignatureAlgorithm
	keys             *keySet
	now              func() time.Time
}

func newVerifier(ctx context.Context, o *JWT, now func() time.Time, log zerolog.Logger) (*verifier, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	algorithms, err := o.algorithms()
	if err != nil {
		return nil, err
	}
	v := &verifier{issuer: o.Issuer, audience: o.Audience, scopes: o.Scopes, algorithms: algorithms, now: now}
	v.keys = newKeySet(ctx, newSource(o), now, log)
	return v, nil
}

// verify returns the subject of a good token. Nothing that the token says of
// itself is believed before its signature was checked, but for which of the
// issuer's keys it was signed with.
func (v *verifier) verify(ctx context.Context, token string) (subject string, refused *refusal) {
	signed, err := jwt.ParseSigned(token, v.algorithms)
	var algorithm *jose.ErrUnexpectedSignatureAlgorithm
	switch {
	case errors.As(err, &algorithm):
		return "", errAlgorithm
	case err != nil:
		return "", errMalformed
	case !isAccessToken(signed.Headers[0]):
		return "", errType
	}
	payload, refused := v.keys.verify(ctx, signed)
	if refused != nil {
		return "", refused
	}
	var c claims
	if err := json.Unmarshal(payload, &c); err != nil {
		return "", errClaims
	}
	return c.Subject, v.check(&c)
}

// isAccessToken keeps out what the issuer signs for other purposes (RFC 8725,
// section 3.11). RFC 9068 asks for at+jwt; most issuers write JWT or nothing.
func isAccessToken(h jose.Header) bool {
	kind, ok := h.ExtraHeaders[jose.HeaderType]
	if !ok {
		return true
	}
	text, _ := kind.(string)
	text = strings.TrimPrefix(strings.ToLower(text), "application/")
	return text == "jwt" || text == "at+jwt"
}

// leeway is how far the clocks of the issuer and of this machine may differ.
const leeway = 30 * time.Second

// check is what OAuth 2.1, section 5.2, and RFC 9068, section 4, ask of the
// claims. An ID token of the same issuer fails for its audience.
func (v *verifier) check(c *claims) *refusal {
	switch {
	case c.Issuer != v.issuer:
		return errIssuer
	case !c.isFor(v.audience):
		return errAudience
	case c.Expiry == nil:
		return errNoExpiry
	case c.Subject == "", strings.ContainsRune(c.Subject, utf8.RuneError): // which stands for any that is no text
		return errNoSubject
	}
	if err := c.ValidateWithLeeway(jwt.Expected{Time: v.now()}, leeway); errors.Is(err, jwt.ErrExpired) {
		return errExpired
	} else if err != nil {
		return errTooEarly
	}
	if !c.has(v.scopes) {
		return errScope
	}
	return nil
}
