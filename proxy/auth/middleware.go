package auth

import (
	"context"
	"net/http"
	"strings"
)

type ownerKey struct{}

// OwnerOf returns the owner that Middleware found, in 43 characters of
// base64url; empty for the local owner, and for a context that did not pass
// through Middleware. It tells owners apart for as long as the key of the state
// directory lives, and cannot be traced back to a name or a token without it.
func OwnerOf(ctx context.Context) string {
	owner, _ := ctx.Value(ownerKey{}).(string)
	return owner
}

// Middleware wraps the MCP endpoint: next gets requests with a good token only,
// with the owner in the context and, unless Forward was asked for, without the
// Authorization header (2026-07-28, Authorization, Token Handling: "MCP servers
// MUST NOT accept or transit any other tokens"). Others are answered with 401, with 403 if the
// token lacks a scope, with 400 if there are two tokens, and with 503 if the
// issuer's keys cannot be had. Checks of Origin and Host and answers to CORS
// preflights, which carry no token, belong outside of it.
//
// It is not go-sdk's RequireBearerToken, which has one challenge for all
// failures, without an error code, and takes the first of several tokens.
func (a *Authenticator) Middleware(next http.Handler) http.Handler {
	if a.local() && !a.forward {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		owner, refused := a.authenticate(r)
		if refused != nil {
			a.refuse(w, r, refused)
			return
		}
		inner := r.Clone(context.WithValue(r.Context(), ownerKey{}, owner))
		if !a.forward {
			inner.Header.Del("Authorization")
		}
		next.ServeHTTP(w, inner)
	})
}

// maxToken bounds, in bytes, what is parsed on behalf of nobody in particular.
// The longest tokens in use, with a person's groups in them, have about 8 KiB.
const maxToken = 16 << 10

// bearer takes the token out of the one Authorization header (OAuth 2.1,
// section 5.1.1). The query string is not looked at: "Access tokens MUST NOT be
// included in the URI query string" (2026-07-28, Authorization, Token
// Requirements).
func bearer(r *http.Request) (string, *refusal) {
	values := r.Header.Values("Authorization")
	switch {
	case len(values) == 0:
		return "", errNoToken
	case len(values) > 1:
		return "", errTwoTokens
	case len(values[0]) > maxToken:
		return "", errTokenTooLong
	}
	scheme, rest, _ := strings.Cut(strings.TrimSpace(values[0]), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", errNoToken
	}
	token := strings.TrimSpace(rest)
	if token == "" || strings.ContainsFunc(token, notToken) {
		return "", errMalformed
	}
	return token, nil
}

func notToken(c rune) bool { return c <= ' ' || c > '~' }
