package e2e

import (
	"fmt"
	"testing"
	"time"
)

// A cancel that meets the call on its way to become a task ends either the call
// or nothing: there is no task that nobody was told of, and none that was
// handed out and cancelled by it.
func TestCancelThatMeetsTheThresholdLosesNothing(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Flags = append(p.Flags, "--after", "20ms")
	h := p.start(t)
	h.ask(declared.request(`"first"`, "tools/list", `{}`)) // what waits for the start of the server never reaches it
	const calls = 150
	for i := range calls {
		h.send(declared.toolCall(fmt.Sprint(i), "gate", `{"gate":"g"}`))
		// Not to wait for anything: the cancel is meant to come at this time.
		<-time.After(19*time.Millisecond + time.Duration(i%40)*200*time.Microsecond)
		h.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i))
	}
	h.ask(declared.request(`"last"`, "tools/list", `{}`))
	var ids []string
	h.await("every call to be cancelled or a task", func() bool {
		ids = ids[:0]
		for _, m := range h.left() {
			if m.Method == "" {
				ids = append(ids, taskOf(t, m))
			}
		}
		return len(ids)+seen.count("cancelled gate") == calls
	})
	t.Logf("%d of %d calls became tasks", len(ids), calls)
	h.ask(declared.toolCall(`"open"`, "release", `{"gate":"g"}`))
	for _, id := range ids {
		finishTask(h, id, "completed")
	}
}

// A call that waits for its server to start when its time is up has not been
// sent: a crash does not fail it.
func TestCallThatWaitsForTheServerIsNotSentYet(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-start-delay", "30s")
	p.Flags = append(p.Flags, "--after", "50ms")
	h := p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "release", `{"gate":"g"}`)))
	h.kill()
	if n := seen.count("call release"); n != 0 {
		t.Fatalf("the server was called %d times before it was up", n)
	}
	m := p.start(t).ask(declared.request("1", "tasks/get", `{"taskId":"`+id+`"}`))
	if status := m.text("status"); status != "working" {
		t.Errorf("after the restart the task is %q, want working, it was never sent: %s", status, m.Raw)
	}
}
