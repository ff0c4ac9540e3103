package auth

import "github.com/go-jose/go-jose/v4"

// startLocked begins a fetch, unless there is one or there was one just now.
func (s *keySet) startLocked() {
	if s.closed || s.flight != nil || s.now().Before(s.tried.Add(pause)) {
		return
	}
	s.flight = make(chan struct{})
	s.fetch.Go(func() {
		keys, err := s.source.fetch(s.ctx)
		s.land(keys, err)
	})
}

// land ends a fetch. One that failed leaves the keys as they were.
func (s *keySet) land(keys []jose.JSONWebKey, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.flight)
	s.flight, s.tried = nil, s.now()
	if s.ctx.Err() != nil {
		s.failure = "closed"
		return
	}
	if err != nil {
		s.failedLocked(err)
		return
	}
	if s.failure != "" {
		s.log.Info().Str("issuer", s.source.issuer).Msg("the keys of the issuer are back")
	}
	s.keys, s.fetched, s.failure = keys, s.tried, ""
}

// failedLocked logs a failure once, not with each attempt.
func (s *keySet) failedLocked(err error) {
	if s.failure == err.Error() {
		return
	}
	s.failure = err.Error()
	event := s.log.Warn().Err(err).Str("issuer", s.source.issuer)
	if len(s.keys) == 0 {
		event.Msg("the keys of the issuer cannot be had: no token can be checked, and requests get 503 until they can")
		return
	}
	event.Time("keys_from", s.fetched).Dur("trusted_for", maxStale).Msg("the keys of the issuer cannot be renewed: the ones that are there stay in use")
}
