package auth

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/rs/zerolog"
)

// Authenticator finds the owner of a request. Its methods may be called from
// any goroutine.
type Authenticator struct {
	key      []byte
	resource *url.URL // nil: derived from the request
	tokens   *tokens  // one of these, or neither for the local owner
	jwt      *verifier
	forward  bool

	// refusals is sampled: whoever sends bad tokens does not fill the disk.
	refusals zerolog.Logger
}

// New reads the tokens file, or starts to fetch the issuer's keys. It does not
// wait for the issuer: one that is down is logged, requests are answered with
// 503 meanwhile, and the keys are asked for again. Fetches end with ctx. An
// error is one of configuration, and for whoever wrote it; a bad line of the
// tokens file is named as FILE:LINE. Nil options mean the local owner.
func New(ctx context.Context, o *Options) (*Authenticator, error) {
	if o == nil {
		o = &Options{}
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	a := &Authenticator{
		key:      append([]byte(nil), o.Key...),
		forward:  o.Forward,
		refusals: o.Log.Sample(&zerolog.BurstSampler{Burst: 10, Period: time.Minute}),
	}
	if o.Resource != "" {
		a.resource, _ = url.Parse(o.Resource) // checked above
	}
	if err := a.open(ctx, o); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *Authenticator) open(ctx context.Context, o *Options) (err error) {
	now := o.now
	if now == nil {
		now = time.Now
	}
	switch {
	case o.TokensFile != "":
		a.tokens, err = openTokens(o.TokensFile, now, o.Log)
	case o.JWT != nil:
		settings := *o.JWT
		if settings.Audience == "" {
			settings.Audience = o.Resource
		}
		a.jwt, err = newVerifier(ctx, &settings, now, o.Log)
	}
	return err
}

// local reports whether nobody is asked for a credential.
func (a *Authenticator) local() bool { return a.tokens == nil && a.jwt == nil }

// stranger is whoever has this credential, of which only its server knows what
// it is good for. Those without one are the local owner.
func (a *Authenticator) stranger(r *http.Request) (string, *refusal) {
	values := r.Header.Values("Authorization")
	switch {
	case !a.forward || len(values) == 0:
		return "", nil
	case len(values) > 1:
		return "", errTwoTokens
	}
	return ownerName(a.key, "forwarded", values[0]), nil
}

// Close ends a fetch that is under way and waits for it. It may be called more
// than once; requests after it are served with the keys that are there.
func (a *Authenticator) Close() {
	if a.jwt != nil {
		a.jwt.keys.close()
	}
}

// authenticate returns the owner of a request, or why there is none.
func (a *Authenticator) authenticate(r *http.Request) (string, *refusal) {
	if a.local() {
		return a.stranger(r)
	}
	token, refused := bearer(r)
	if refused != nil {
		return "", refused
	}
	if a.tokens != nil {
		name, ok := a.tokens.lookup(token)
		if !ok {
			return "", errUnknownToken
		}
		return ownerName(a.key, "token", name), nil
	}
	subject, refused := a.jwt.verify(r.Context(), token)
	if refused != nil {
		return "", refused
	}
	return ownerName(a.key, "jwt", a.jwt.issuer, subject), nil
}
