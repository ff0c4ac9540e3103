//go:build unix

package e2e

import (
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// passedEnds are the ways in which a session that has the host's streams ends.
var passedEnds = map[string]func(*house, *host){
	"the host's input ends": func(_ *house, h *host) { h.stop() },
	"SIGTERM":               func(_ *house, h *host) { h.signal(syscall.SIGTERM); h.wait() },
	"SIGKILL":               func(_ *house, h *host) { h.kill() },
	"the runner is killed":  func(s *house, h *host) { s.killRunner(s.t); h.wait() },
	"the runner is stopped": func(s *house, h *host) { s.stopRunner(s.t); h.wait() },
}

// The host's pipes are had by the runner as long as the window is served, and by
// nothing that its server has started; then by nobody, although a task goes on, and
// in the mode that the host has given them.
func TestRunnerHasTheStreamsOfItsWindow(t *testing.T) {
	for wiring := range wirings {
		for name, end := range passedEnds {
			t.Run(wiring+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newHouse(t)
				s.leaves("setsid sleep 300")
				nonBlock := name == "SIGTERM" || name == "the runner is killed"
				w := newWires(t, wiring, nonBlock)
				h := s.on(w, false)
				h.open()
				s.isPassed(h, w)
				if is := nonBlocking(t, w.theirIn); is != nonBlock {
					t.Errorf("while it is served, the input's non-blocking mode is %v", is)
				}
				h.holds("never")
				s.awaitEffect("call gate")
				end(s, h)
				s.isLeft(h, w)
				s.await("the streams to be in the host's mode", func() bool {
					return nonBlocking(t, w.theirIn) == nonBlock && nonBlocking(t, w.theirOut) == nonBlock
				})
				w.leave()
				s.await("the end of the output", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.ended })
				s.stopRunner(t)
			})
		}
	}
}

// Whoever waits for the end of a killed window's output does not wait for what the
// runner still has to do for it.
func TestOutputOfAKilledWindowEndsAtOnce(t *testing.T) {
	for wiring := range wirings {
		t.Run(wiring, func(t *testing.T) {
			t.Parallel()
			s := newHouse(t)
			w := newWires(t, wiring, false)
			h := s.on(w, false)
			h.open()
			s.isPassed(h, w)
			w.leave()
			h.send(plain.toolCall("1", "gate", `{"gate":"shut"}`))
			s.awaitEffect("call gate")
			h.kill()
			s.await("the end of the output", func() bool { h.mu.Lock(); defer h.mu.Unlock(); return h.ended })
			if s.seen.count("cancelled gate") > 0 {
				t.Error("the host was kept waiting for the end of its call")
			}
			s.awaitEffect("cancelled gate")
		})
	}
}

// A host that does not listen any more is gone, although its input has no end.
func TestHostThatClosesTheOutputOfItsWindowIsGone(t *testing.T) {
	for wiring := range wirings {
		t.Run(wiring, func(t *testing.T) {
			t.Parallel()
			s := newHouse(t)
			w := newWires(t, wiring, false)
			h := s.on(w, true)
			w.leave()
			_ = w.ourOut.Close()
			h.send(plain.toolCall("1", "release", `{}`))
			if status := h.wait(); status != 0 {
				t.Errorf("status %d: %s", status, h.stderr())
			}
		})
	}
}

// A host that does not read holds up neither its own end, nor other windows, nor the
// runner's: also where somebody who shares the output's mode has made it wait.
func TestHostThatNeverReadsWhatTheRunnerWrites(t *testing.T) {
	for wiring := range wirings {
		for name, meddle := range map[string]func(*testing.T, *wires){
			"": func(*testing.T, *wires) {}, " and is made to wait": makeWait,
		} {
			t.Run(wiring+name, func(t *testing.T) {
				t.Parallel()
				s := newHouse(t)
				w := newWires(t, wiring, false)
				h := s.on(w, true)
				for range 40 {
					h.send(plain.toolCall(h.freshID(), "flood", `{"bytes":100000}`))
				}
				s.await("the calls", func() bool { return s.seen.count("call flood") == 40 })
				s.isPassed(h, w)
				meddle(t, w)
				s.window()
				h.terminate()
				s.stopRunner(t)
				awaitNobody(t, s.mark)
			})
		}
	}
}

// makeWait reads a little, so that a write begins that will have to wait.
func makeWait(t *testing.T, w *wires) {
	raw, err := w.theirOut.SyscallConn()
	mustDo(t, err)
	mustDo(t, raw.Control(func(fd uintptr) { err = unix.SetNonblock(int(fd), false) }))
	mustDo(t, err)
	mustDo(t, w.ourOut.SetReadDeadline(time.Now().Add(patience)))
	some := make([]byte, 4<<10)
	for n := 0; n < 200<<10; {
		read, err := w.ourOut.Read(some)
		mustDo(t, err)
		n += read
	}
}
