package auth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const (
	// fetchTimeout is for the metadata document and the keys together: a
	// request waits for them at most so long.
	fetchTimeout = 10 * time.Second
	// maxDocument bounds, in bytes, what is read of either.
	maxDocument = 512 << 10
	// maxHeader does so for the head of the answer.
	maxHeader    = 64 << 10
	maxRedirects = 3
)

// source is where the issuer's keys come from.
type source struct {
	issuer  string
	jwksURL string // empty: asked of the issuer, each time anew
	timeout time.Duration
	client  *http.Client
}

// newSource keeps no connection alive: fetches are minutes apart, and nothing
// is left to wait for after one.
func newSource(o *JWT) *source {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableKeepAlives = true
	transport.MaxResponseHeaderBytes = maxHeader
	s := &source{issuer: o.Issuer, jwksURL: o.JWKSURL, timeout: o.timeout}
	if s.timeout == 0 {
		s.timeout = fetchTimeout
	}
	s.client = &http.Client{Transport: transport, CheckRedirect: sameHost}
	return s
}

// sameHost: what is trusted is the host that was configured or that the issuer
// named. A redirect is not covered by that, and could lead into this network.
func sameHost(r *http.Request, via []*http.Request) error {
	first := via[0].URL
	if r.URL.Host != first.Host || r.URL.Scheme != first.Scheme {
		return fmt.Errorf("redirected to another host, %s://%s, which is not followed", r.URL.Scheme, r.URL.Host)
	}
	if len(via) > maxRedirects {
		return errors.New("redirected too often")
	}
	return nil
}

// fetch returns at least one key.
func (s *source) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("no answer within %v", s.timeout))
	defer cancel()
	from := s.jwksURL
	if from == "" {
		var err error
		if from, err = s.discover(ctx); err != nil {
			return nil, err
		}
	}
	body, err := s.get(ctx, from)
	if err != nil {
		return nil, err
	}
	keys, err := parseKeys(body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return keys, nil
}

func (s *source) get(ctx context.Context, from string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, from, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json, application/jwk-set+json")
	answer, err := s.client.Do(r)
	if err != nil {
		return nil, timedOut(ctx, from, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %s", from, answer.Status)
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxDocument+1))
	if err != nil {
		return nil, timedOut(ctx, from, err)
	}
	if len(body) > maxDocument {
		return nil, fmt.Errorf("%s: the answer is larger than %d bytes", from, maxDocument)
	}
	return body, nil
}

// timedOut says that it was our own limit, where it was.
func timedOut(ctx context.Context, from string, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return fmt.Errorf("%s: %w", from, cause)
	}
	var failed *url.Error
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("%s: %w", from, err)
}

// checkSource: keys that anybody on the way can replace are worth nothing.
func checkSource(what, raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.User != nil || u.Fragment != "" {
		return fmt.Errorf("owners: %s %q is not a URL such as https://login.example.com", what, raw)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return fmt.Errorf("owners: %s %q must begin with https://; http:// is accepted for a loopback address only", what, raw)
	}
	return nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
