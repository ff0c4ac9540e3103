//go:build unix

package e2e

import (
	"io"
	"testing"
)

// Neither the log nor what the server writes to standard error may wait for a host
// that does not read it; and one that reads it again, later, still has its session.
func TestWindowWhoseStandardErrorIsNotRead(t *testing.T) {
	for name, later := range map[string]func(*host){
		"ever": func(h *host) { h.terminate() },
		"for a while": func(h *host) {
			h.readers.Go(func() { h.drain(h.pipes[1].(io.Reader)) })
			h.await("what was said", func() bool { return len(h.stderr()) > 50_000 })
			h.open()
			if status := h.stop(); status != 0 {
				h.t.Errorf("status %d: %s", status, cut(h.stderr()))
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newHouse(t)
			s.Host.Deaf = true
			h := s.window()
			h.send(plain.toolCall("1", "gate", `{"gate":"shut"}`))
			s.awaitEffect("call gate")
			h.send(plain.toolCall("2", "crash", `{"noise":3000000}`))
			for _, id := range []string{"1", "2"} {
				checkCrash(t, h.response(id).Error)
			}
			h.open()
			later(h)
			awaitNobody(t, s.mark)
		})
	}
}
