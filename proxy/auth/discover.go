package auth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
)

// discover asks the issuer where its keys are. The order is that of 2026-07-28,
// Authorization Server Discovery, Authorization Server Metadata Discovery.
//
// It is not oauthex.GetAuthServerMeta, which asks for what a client needs
// (PKCE) and refuses issuers in private networks: here the issuer is named by
// the operator and not by a server that a client happens to talk to.
func (s *source) discover(ctx context.Context) (string, error) {
	var failures []error
	for _, from := range metadataURLs(s.issuer) {
		at, err := s.discoverAt(ctx, from)
		if err == nil {
			return at, nil
		}
		failures = append(failures, err)
	}
	return "", errors.Join(failures...)
}

func (s *source) discoverAt(ctx context.Context, from string) (string, error) {
	body, err := s.get(ctx, from)
	if err != nil {
		return "", err
	}
	var document struct {
		Issuer  string `json:"issuer"`
		JWKSURI string `json:"jwks_uri"`
	}
	if err := json.Unmarshal(body, &document); err != nil {
		return "", fmt.Errorf("%s: not a metadata document: %w", from, err)
	}
	// "the issuer value in the document MUST be identical".
	if document.Issuer != s.issuer {
		return "", fmt.Errorf("%s: the document is of issuer %q, and the configured one is %q", from, document.Issuer, s.issuer)
	}
	return document.JWKSURI, s.checkKeysURL(from, document.JWKSURI)
}

// checkKeysURL: the keys may lie on another host, as Google's do, but an issuer
// out in the world must not point at something on this machine.
func (s *source) checkKeysURL(from, keys string) error {
	if u, err := url.Parse(keys); err != nil || u.Host == "" || u.User != nil {
		return fmt.Errorf("%s: the document has no jwks_uri that could be used", from)
	}
	if strings.HasPrefix(s.issuer, "https:") && !strings.HasPrefix(keys, "https:") {
		return fmt.Errorf("%s: the jwks_uri of the document does not begin with https://", from)
	}
	if strings.HasPrefix(keys, "https:") {
		return nil
	}
	return checkSource("jwks_uri", keys)
}

func metadataURLs(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil {
		return nil // not after checkSource
	}
	root := u.Scheme + "://" + u.Host
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	urls := []string{
		root + "/.well-known/oauth-authorization-server" + path,
		root + "/.well-known/openid-configuration" + path,
	}
	if path != "" {
		urls = append(urls, root+path+"/.well-known/openid-configuration")
	}
	return urls
}
