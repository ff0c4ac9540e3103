package auth

import (
	"context"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/json"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/rs/zerolog"
)

const (
	// pause lies between two fetches, however many requests ask for one.
	pause = 10 * time.Second
	// maxAge is the age at which keys are fetched again. The request that finds
	// them so old does not wait for it; one that finds them twice as old, after
	// a quiet night, does: a key may have been withdrawn.
	maxAge = 10 * time.Minute
	// maxStale ends that trust where the issuer cannot be asked.
	maxStale = 24 * time.Hour
)

// keySet is the issuer's keys. Requests have them fetched: the first one that
// finds them old, and one whose key is not among them. There is one fetch at a
// time, in a goroutine that close waits for, so that a client which hangs up
// does not end it for the others.
type keySet struct {
	source *source
	now    func() time.Time
	log    zerolog.Logger
	ctx    context.Context // of fetches
	cancel context.CancelFunc
	fetch  sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	flight  chan struct{} // closed at the end of the fetch; nil if there is none
	keys    []jose.JSONWebKey
	fetched time.Time // when the keys came
	tried   time.Time // when the last fetch ended
	failure string    // of the last fetch; logged
}

// newKeySet begins with a fetch: most mistakes in the configuration are then in
// the log before the first request.
func newKeySet(ctx context.Context, from *source, now func() time.Time, log zerolog.Logger) *keySet {
	s := &keySet{source: from, now: now, log: log}
	s.ctx, s.cancel = context.WithCancel(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startLocked()
	return s
}

func (s *keySet) close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.fetch.Wait()
}

// verify returns the payload of a token that one of the issuer's keys signed.
func (s *keySet) verify(ctx context.Context, token *jwt.JSONWebToken) ([]byte, *refusal) {
	keys, refused := s.get(ctx)
	if refused != nil {
		return nil, refused
	}
	payload, why := try(keys, token)
	if why == nil || why == errSignature {
		return payload, why
	}
	if keys, refused = s.renew(ctx); refused != nil {
		return nil, refused
	}
	return try(keys, token)
}

// try answers errNoKey if another key may fit: the one that the token names is
// not there, or it names none and may be signed with a newer one. A signature
// that does not fit the key it names is a forgery, and no reason to fetch.
func try(keys []jose.JSONWebKey, token *jwt.JSONWebToken) ([]byte, *refusal) {
	header, known := token.Headers[0], false
	for _, k := range keys {
		if !fits(k, header) {
			continue
		}
		var payload json.RawMessage
		if token.Claims(k, &payload) == nil {
			return payload, nil
		}
		known = header.KeyID != ""
	}
	if known {
		return nil, errSignature
	}
	return nil, errNoKey
}

// fits: a key that says what it is for is used for nothing else. That its type
// goes with the algorithm is checked with the signature.
func fits(k jose.JSONWebKey, h jose.Header) bool {
	return (h.KeyID == "" || h.KeyID == k.KeyID) && (k.Algorithm == "" || k.Algorithm == h.Algorithm)
}

// get returns the keys. It waits for them if there are none, or if they are
// very old and nothing says yet that the issuer cannot be asked.
func (s *keySet) get(ctx context.Context) ([]jose.JSONWebKey, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	age := s.now().Sub(s.fetched)
	if age > maxAge {
		s.startLocked()
	}
	if !s.usableLocked() || age > 2*maxAge && s.failure == "" {
		s.waitLocked(ctx)
	}
	if !s.usableLocked() {
		return nil, s.unavailableLocked()
	}
	return s.keys, nil
}

// renew returns keys that were fetched a moment ago.
func (s *keySet) renew(ctx context.Context) ([]jose.JSONWebKey, *refusal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startLocked()
	s.waitLocked(ctx)
	if s.failure != "" || ctx.Err() != nil {
		return nil, s.unavailableLocked()
	}
	return s.keys, nil
}

func (s *keySet) usableLocked() bool {
	return len(s.keys) > 0 && s.now().Before(s.fetched.Add(maxStale))
}

func (s *keySet) unavailableLocked() *refusal {
	return errNoKeys(s.tried.Add(pause).Sub(s.now()))
}

// waitLocked waits without the lock for the fetch that is under way.
func (s *keySet) waitLocked(ctx context.Context) {
	flight := s.flight
	if flight == nil {
		return
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-flight:
	case <-ctx.Done():
	}
}
