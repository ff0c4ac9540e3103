//go:build unix

package e2e

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// leaveTime is how long the proxy may take to leave when it is told to: hosts
// kill what takes longer.
const leaveTime = 6 * time.Second

// terminate sends SIGTERM and insists on an end in time.
func (h *host) terminate() {
	h.t.Helper()
	told := time.Now()
	h.signal(syscall.SIGTERM)
	h.wait()
	if took := time.Since(told); took > leaveTime {
		h.t.Errorf("it took %v to end", took)
	}
}

// A server that does not read any more holds up its own calls and nothing else.
func TestServerThatStopsReading(t *testing.T) {
	f := newFamily(t, "sleep 300")
	f.Config = alwaysTasks
	h := f.start(t)
	f.open(h)
	waiting := taskOf(t, h.ask(declared.toolCall("2", "gate", `{"gate":"shut"}`)))
	f.awaitCall(h, "gate")
	h.ask(plain.request("3", "vendor/deafen", `{}`))
	for range 70 {
		h.send(plain.toolCall(h.freshID(), "echo", `{"x":"`+strings.Repeat("x", 1_000_000)+`"}`))
	}
	if m := pollTask(h, waiting, func(message) bool { return true }); m.text("status") != "working" {
		t.Errorf("the task in between is %s", m.Raw)
	}
	checkBusy(t, h.take("a refusal", func(m message) bool { return m.Error != nil }).Error)
	refused := taskOf(t, h.ask(declared.toolCall("4", "echo", `{}`)))
	checkBusy(t, at(finishTask(h, refused, "failed").Result, "error"))
	h.terminate()
	f.gone(h)
}

func checkBusy(t *testing.T, err []byte) {
	t.Helper()
	if why, outcome := reason(err); why != "upstream_busy" || outcome != "not_dispatched" {
		t.Errorf("reason %q, outcome %q: %s", why, outcome, cut(string(err)))
	}
}

// Neither the log nor what the server writes there may wait for a reader of
// stderr.
func TestHostThatNeverReadsStderr(t *testing.T) {
	f := newFamily(t, "sleep 300")
	f.Host.Deaf = true
	h := f.start(t)
	f.open(h)
	h.send(plain.toolCall("2", "gate", `{"gate":"shut"}`))
	f.awaitCall(h, "gate")
	h.send(plain.toolCall("3", "crash", `{"noise":1000000}`))
	for _, id := range []string{"2", "3"} {
		checkCrash(t, h.response(id).Error)
	}
	if m := h.ask(plain.toolCall("4", "release", `{}`)); m.Error != nil {
		t.Errorf("the next call was not served: %s", m.Raw)
	}
	h.terminate()
	f.gone(h)
}
