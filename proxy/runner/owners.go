package runner

import (
	"context"
	"net/http"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/auth"
)

// CheckTokens says what is wrong with a tokens file, before anything begins.
func CheckTokens(path string) error { return auth.CheckTokens(path) }

// newAuth keeps the key of the owners' hashes beside their tasks.
func newAuth(ctx context.Context, opts Options) (*auth.Authenticator, error) {
	key, err := auth.LoadKey(opts.StateDir)
	if err != nil {
		return nil, err
	}
	from := opts.Listen.Auth
	o := &auth.Options{
		TokensFile: from.TokensFile, Resource: from.Resource, Forward: opts.ForwardAuthorization, Key: key, Log: opts.Log,
	}
	if from.Issuer != "" {
		o.JWT = &auth.JWT{Issuer: from.Issuer, Audience: from.Audience, JWKSURL: from.JWKSURL, Scopes: from.Scopes}
	}
	return auth.New(ctx, o)
}

func ownerOf(r *http.Request) string { return auth.OwnerOf(r.Context()) }
