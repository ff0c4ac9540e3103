// Package auth turns an HTTP request into an owner, or refuses it.
//
// An owner is whose tasks a request may make and see. There are three modes:
//
//	local   neither Options.TokensFile nor Options.JWT: everybody is the one
//	        local owner, "". Fit for a loopback address only.
//	tokens  a file of names and hashes of bearer tokens; the owner is the name,
//	        so that a token can be replaced without losing tasks.
//	JWT     access tokens that an authorization server (the issuer) signs; the
//	        owner is the issuer and the subject. In this mode the proxy is an
//	        OAuth 2.1 resource server as the MCP specification describes it
//	        (2026-07-28 and 2025-11-25, Basic, Authorization).
//
// [Authenticator.Middleware] stands before the MCP endpoint and
// [Authenticator.Metadata] beside it. What passes carries an owner in its
// context ([OwnerOf]): a keyed hash, which can be stored and logged, where a
// token or a person's name should not be. No credential goes further than this
// package, neither into logs and error texts nor to the upstream server.
//
// A line of the tokens file is made with
//
//	printf 'alice sha256:%s\n' "$(printf %s "$TOKEN" | sha256sum | cut -d' ' -f1)"
//
// and a token worth the name with
//
//	TOKEN=$(openssl rand -hex 32)
//
// Signatures are go-jose's to check. The set of the issuer's keys is kept here,
// and not by an OpenID Connect client, because such clients fetch the set again
// for every signature that does not fit, without a limit on rate or size: here
// whoever sends tokens with made-up keys would drive the proxy to hammer the
// issuer. And one whose keys cannot be had is answered with 503, not with the
// 401 that would make every client log in again.
package auth
