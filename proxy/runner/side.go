package runner

import (
	"encoding/json"
	"io"
	"net"
	"sync"
	"time"
)

// side is the way to a front's standard error, and where its session says how
// it ended. What comes after that, or while the front does not read, goes to the
// runner's own log.
type side struct {
	otherwise io.Writer
	taken     chan struct{} // closed when the session has begun

	mu   sync.Mutex
	conn net.Conn // nil once it is of no use
}

// sideLimit is how long a front may keep what it is told from getting out.
const sideLimit = time.Second

func newSide(conn net.Conn, otherwise io.Writer) *side {
	return &side{conn: conn, otherwise: otherwise, taken: make(chan struct{})}
}

// Write never fails: there is nobody to tell.
func (s *side) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.sendLocked(note{Stderr: p}) {
		_, _ = s.otherwise.Write(p)
	}
	return len(p), nil
}

func (s *side) sendLocked(n note) bool {
	if s.conn == nil {
		return false
	}
	text, err := json.Marshal(n)
	if err != nil {
		panic(err) // bytes and strings always have an encoding
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(sideLimit)); err == nil {
		_, err = s.conn.Write(append(text, '\n'))
		if err == nil {
			return true
		}
	}
	s.closeLocked()
	return false
}

func (s *side) closeLocked() {
	_ = s.conn.Close()
	s.conn = nil
}

// hangUp ends it without a last note: the front tries another runner.
func (s *side) hangUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn != nil {
		s.closeLocked()
	}
}

// end is the last note.
func (s *side) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := note{End: true}
	if err != nil {
		last.Error = err.Error()
	}
	if s.sendLocked(last) {
		s.closeLocked()
	}
}
