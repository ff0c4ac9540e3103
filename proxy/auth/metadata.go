package auth

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// wellKnown stands between the host and the path of a resource in the URL of
// its metadata (RFC 9728, section 3.1).
const wellKnown = "/.well-known/oauth-protected-resource"

// Metadata serves the document that tells clients which issuer to ask for a
// token (RFC 9728, section 3.2; 2026-07-28, Authorization Server Discovery:
// "MCP servers MUST implement OAuth 2.0 Protected Resource Metadata"). It is
// mounted at /.well-known/oauth-protected-resource and at that path followed by
// the path of Options.Resource (/mcp), without Middleware. Where tokens come
// from no issuer there is no such document, and it answers 404.
func (a *Authenticator) Metadata() http.Handler {
	if a.jwt == nil {
		return http.NotFoundHandler()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		resource := a.resourceOf(r, strings.TrimPrefix(r.URL.EscapedPath(), wellKnown))
		if resource == nil {
			http.Error(w, "The Host header of the request is not a host.", http.StatusBadRequest)
			return
		}
		auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
			Resource:               resource.String(),
			ResourceName:           "mcp-taskproxy",
			AuthorizationServers:   []string{a.jwt.issuer},
			ScopesSupported:        a.jwt.scopes,
			BearerMethodsSupported: []string{"header"},
		}).ServeHTTP(w, r)
	})
}

// metadataURL is where the metadata of the requested endpoint are; empty if
// that cannot be said.
func (a *Authenticator) metadataURL(r *http.Request) string {
	u := a.resourceOf(r, r.URL.EscapedPath())
	if u == nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + wellKnown + strings.TrimSuffix(u.EscapedPath(), "/")
}

// resourceOf is the configured public URL, or the one at path by the request's
// own account; nil if that is nonsense. A path in the escaped form holds none
// of the characters that could end the value of a header.
func (a *Authenticator) resourceOf(r *http.Request, path string) *url.URL {
	if a.resource != nil {
		return a.resource
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	if !validHost(r.Host) || path != "" && path[0] != '/' {
		return nil
	}
	u, err := url.Parse(scheme + "://" + r.Host + path)
	if err != nil {
		return nil
	}
	return u
}

// validHost keeps what is no host name, address or port out of headers.
func validHost(host string) bool {
	return host != "" && !strings.ContainsFunc(host, func(c rune) bool {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		return !letter && !strings.ContainsRune("-._:[]", c)
	})
}
