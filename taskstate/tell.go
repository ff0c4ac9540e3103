package taskstate

import (
	"io"
	"slices"
)

// tell gives the watches of a task its new state. s.mu is held, so that they
// see the changes in the order in which Get does.
func (s *Store) tell(t Task) {
	for _, w := range s.watches[t.ID] {
		w.put(t)
		if t.Status.Terminal() {
			w.end(io.EOF)
		}
	}
	if t.Status.Terminal() {
		delete(s.watches, t.ID)
	}
}

// tellTouch lets the watches of a task know that there is progress. Only the
// first Touch after a snapshot wakes them. s.mu is held.
func (s *Store) tellTouch(id string) {
	for _, w := range s.watches[id] {
		if !w.touched {
			w.touched = true
			w.signal()
		}
	}
}

// forget takes w out of the watches. s.mu is held.
func (s *Store) forget(w *Watch) {
	rest := slices.DeleteFunc(s.watches[w.id], func(x *Watch) bool { return x == w })
	s.watches[w.id] = rest
	if len(rest) == 0 {
		delete(s.watches, w.id)
	}
}

// endWatches is called once the last change has been published and no Watch
// begins any more.
func (s *Store) endWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ws := range s.watches {
		for _, w := range ws {
			w.end(ErrClosed)
		}
	}
	clear(s.watches)
}
