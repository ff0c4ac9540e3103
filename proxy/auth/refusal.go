package auth

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// refusal says why a request has no owner.
type refusal struct {
	status int
	// code is the error of the challenge (RFC 6750, section 3.1); empty if the
	// request had no token at all, as that section asks.
	code string
	// text goes to the client and into the log: it is fixed, so that nothing
	// of a token can get into it, and made of characters that an
	// error_description may hold (no quotes, no backslash).
	text       string
	retryAfter time.Duration // for 503
}

func badToken(text string) *refusal {
	return &refusal{status: http.StatusUnauthorized, code: "invalid_token", text: text}
}

var (
	errNoToken = &refusal{status: http.StatusUnauthorized,
		text: "This server needs an access token in the Authorization header, as in Authorization: Bearer TOKEN. A token in the query string is not accepted."}
	errTwoTokens = &refusal{status: http.StatusBadRequest, code: "invalid_request",
		text: "The request has more than one Authorization header: send one."}
	errScope = &refusal{status: http.StatusForbidden, code: "insufficient_scope",
		text: "The access token lacks a scope that this server needs: get one with all the scopes of the WWW-Authenticate header."}

	errMalformed    = badToken("The access token is malformed.")
	errTokenTooLong = badToken("The access token is longer than the 16 KiB that are accepted.")
	errUnknownToken = badToken("The access token is not one that this server knows. Ask whoever runs it for one.")
	errAlgorithm    = badToken("The access token is signed with an algorithm that is not accepted here.")
	errType         = badToken("The token is not an access token.")
	errNoKey        = badToken("The access token is signed with a key that the issuer of this server's tokens does not publish.")
	errSignature    = badToken("The signature of the access token is wrong.")
	errClaims       = badToken("The claims of the access token cannot be read.")
	errIssuer       = badToken("The access token is from another issuer than the one that this server trusts.")
	errAudience     = badToken("The access token was issued for another server. Ask the issuer for one for this resource.")
	errNoExpiry     = badToken("The access token has no time of expiry.")
	errExpired      = badToken("The access token has expired: get a new one.")
	errTooEarly     = badToken("The access token is not valid yet: the clocks of the issuer and of this server may differ.")
	errNoSubject    = badToken("The access token has no subject that is a text.")
)

// errNoKeys is no fault of the token, and a 401 would make the client log in
// again, at an issuer that is down.
func errNoKeys(retryAfter time.Duration) *refusal {
	return &refusal{status: http.StatusServiceUnavailable, retryAfter: retryAfter,
		text: "The access token cannot be checked, because the proxy cannot get the keys of the issuer. Its log says why. Repeat the request later with the same token."}
}

// refuse answers a request that has no owner.
func (a *Authenticator) refuse(w http.ResponseWriter, r *http.Request, why *refusal) {
	if why.code != "" || why.status == http.StatusServiceUnavailable {
		a.refusals.Info().Int("status", why.status).Str("remote", r.RemoteAddr).Str("reason", why.text).Msg("request refused")
	}
	w.Header().Set("Cache-Control", "no-store")
	if why.status == http.StatusServiceUnavailable {
		seconds := (why.retryAfter + time.Second - 1) / time.Second
		w.Header().Set("Retry-After", strconv.Itoa(max(1, int(seconds))))
	} else {
		w.Header().Set("WWW-Authenticate", a.challenge(r, why))
	}
	http.Error(w, why.text+" The proxy refused the request; nothing was sent to the upstream server.", why.status)
}

// challenge is the value of WWW-Authenticate: RFC 6750, section 3, and RFC
// 9728, section 5.1. The scopes are named whenever a new token is needed, all
// at once (2026-07-28, Authorization, Scope Selection Strategy).
func (a *Authenticator) challenge(r *http.Request, why *refusal) string {
	params := []string{`realm="mcp-taskproxy"`}
	add := func(name, value string) {
		if value != "" {
			params = append(params, name+`="`+value+`"`)
		}
	}
	if add("error", why.code); why.code != "" {
		add("error_description", why.text)
	}
	if a.jwt != nil {
		add("scope", strings.Join(a.jwt.scopes, " "))
		add("resource_metadata", a.metadataURL(r))
	}
	return "Bearer " + strings.Join(params, ", ")
}
