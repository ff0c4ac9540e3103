package e2e

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// send writes one line exactly as it is.
func (h *host) send(line string) {
	h.t.Helper()
	h.mu.Lock()
	h.note("-> ", line)
	h.mu.Unlock()
	h.judge.Sent([]byte(line))
	if pipe, ok := h.stdin.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = pipe.SetWriteDeadline(time.Now().Add(patience)) // for a peer that stopped reading
	}
	if _, err := io.WriteString(h.stdin, line+"\n"); err != nil {
		h.t.Fatalf("sending %s: %v", cut(line), err)
	}
}

// freshID is a request id, as raw JSON, that was not used before.
func (h *host) freshID() string {
	h.ids++
	return fmt.Sprintf(`"fresh %d"`, h.ids)
}

// take removes the first message that matches, waiting for it to arrive.
func (h *host) take(what string, match func(message) bool) message {
	h.t.Helper()
	return h.takeArrival(what, func(a arrival) bool { return match(a.message) }, false)
}

// takeArrival leaves out what is not the first of its stream if heads says so.
func (h *host) takeArrival(what string, match func(arrival) bool, heads bool) message {
	h.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		m, changed, ok := h.findArrival(match, heads)
		if ok {
			return m
		}
		if changed == nil {
			h.t.Fatalf("stdout ended before %s came", what)
		}
		select {
		case <-changed:
		case <-late.C:
			h.t.Fatalf("%s did not come within %v", what, patience)
		}
	}
}

// find returns the channel to wait on when there is no match yet, nil when there can be none.
func (h *host) find(match func(message) bool) (message, <-chan struct{}, bool) {
	return h.findArrival(func(a arrival) bool { return match(a.message) }, false)
}

func (h *host) findArrival(match func(arrival) bool, heads bool) (message, <-chan struct{}, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	behind := map[int]bool{}
	for i, a := range h.queue {
		if !(heads && behind[a.stream]) && match(a) {
			h.queue = slices.Delete(h.queue, i, i+1)
			return a.message, nil, true
		}
		behind[a.stream] = true
	}
	if h.ended {
		return message{}, nil, false
	}
	return message{}, h.changed, false
}

// next takes the next message, whatever it is.
func (h *host) next() message {
	h.t.Helper()
	return h.take("a message", func(message) bool { return true })
}

// nextLike takes the next message. Over HTTP, where streams have no order among
// them, it is the next one of a stream that has the method, or else the id, of
// the pattern.
func (h *host) nextLike(pattern string) message {
	h.t.Helper()
	want, err := parseMessage(pattern)
	if h.over == nil && !h.opts.Apart || err != nil {
		return h.next()
	}
	return h.takeArrival(pattern, func(a arrival) bool { return a.like(want) }, true)
}

// like says whether a message has the method of a pattern, or else its id.
func (m message) like(want message) bool {
	return m.Method == want.Method && (want.Method != "" || string(m.ID) == string(want.ID))
}

// response takes the answer to the request with this raw id.
func (h *host) response(id string) message {
	h.t.Helper()
	return h.take("the answer to "+id, func(m message) bool { return m.Method == "" && string(m.ID) == id })
}

// ask sends a request and takes its answer.
func (h *host) ask(request string) message {
	h.t.Helper()
	m, err := parseMessage(request)
	if err != nil {
		h.t.Fatalf("the test sends no message: %v", err)
	}
	h.send(request)
	return h.response(string(m.ID))
}

// left is what arrived and nobody took.
func (h *host) left() []message {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []message
	for _, a := range h.queue {
		all = append(all, a.message)
	}
	return all
}

// stderr is what the process wrote there so far.
func (h *host) stderr() string {
	if h.over != nil {
		return h.over.stderr()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.errors.String()
}

// stop closes stdin, or tells the proxy to end where there is none, waits for the end of the process and returns its exit status.
func (h *host) stop() int {
	h.t.Helper()
	_ = h.stdin.Close()
	return h.wait()
}

// kill ends the process with SIGKILL and waits for it.
func (h *host) kill() {
	h.t.Helper()
	_ = h.cmd.Process.Kill()
	h.wait()
}

func (h *host) signal(sig os.Signal) {
	h.t.Helper()
	if err := h.cmd.Process.Signal(sig); err != nil {
		h.t.Fatalf("sending %v: %v", sig, err)
	}
}

// wait returns the exit status, -1 if a signal ended the process.
func (h *host) wait() int {
	h.t.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-h.exited:
	case <-late.C:
		h.t.Fatalf("%s did not end within %v", strings.Join(h.cmd.Args, " "), patience)
	}
	return h.cmd.ProcessState.ExitCode()
}

// await polls until condition holds: for what happens outside of our pipes.
func (h *host) await(what string, condition func() bool) {
	h.t.Helper()
	late, again := time.NewTimer(patience), time.NewTicker(5*time.Millisecond)
	defer late.Stop()
	defer again.Stop()
	for !condition() {
		select {
		case <-again.C:
		case <-late.C:
			h.t.Fatalf("%s: not within %v", what, patience)
		}
	}
}
