package proxy

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// rig is a proxy between a server and its hosts.
type rig struct {
	*server
	t      *testing.T
	store  *disk
	proxy  *Proxy
	client *upstream.Client

	errors, warnings atomic.Int32 // in the log
}

// Run counts the errors and warnings; it is a zerolog.Hook.
func (r *rig) Run(_ *zerolog.Event, level zerolog.Level, _ string) {
	switch level {
	case zerolog.ErrorLevel:
		r.errors.Add(1)
	case zerolog.WarnLevel:
		r.warnings.Add(1)
	}
}

func newRig(t *testing.T, store *disk, era upstream.Era, policy Policy) *rig {
	t.Helper()
	r := &rig{server: newServer(t, era), t: t, store: store}
	r.starts(policy)
	return r
}

// starts makes a new proxy before the server.
func (r *rig) starts(policy Policy) {
	if policy.TTL == 0 {
		policy.TTL = never
	}
	r.proxy = New(Options{Tasks: NewTasks(r.store.Store, zerolog.Nop()), Policies: Policies{Default: policy}, Log: zerolog.New(io.Discard).Hook(r), Upstream: upstream.Options{
		URL: "http://127.0.0.1/mcp", Dial: r.pipes.Dial,
	}})
	r.client = r.proxy.Dial(upstream.Hello{Era: r.era, Info: []byte(`{"name":"test"}`), Capabilities: []byte(everything)}, upstream.Handler{})
	r.t.Cleanup(r.closes)
}

func (r *rig) closes() {
	r.t.Helper()
	within(r.t, "Close", func() { r.proxy.Close(context.Background()) })
}

const everything = `{"elicitation":{},"sampling":{},"roots":{}}`

// wantIdle checks that nothing keeps the session from being ended.
func (r *rig) wantIdle() {
	r.t.Helper()
	time.Sleep(time.Second)
	synctest.Wait()
	if r.client.IdleFor() == 0 {
		r.t.Error("something still keeps the session with the server")
	}
}

// heldRun is the only run whose host is away.
func (r *rig) heldRun() *run {
	r.t.Helper()
	for _, run := range r.proxy.holds() {
		return run
	}
	r.t.Fatal("no call is held")
	return nil
}

// busy keeps a run from what comes, until goOn is called.
func busy(r *run) (goOn func()) {
	gate := make(chan struct{})
	r.post(func() { <-gate })
	return func() { close(gate) }
}

func (r *rig) task(id string) taskstate.Task {
	r.t.Helper()
	task, err := r.proxy.Task("", id)
	if err != nil {
		r.t.Fatalf("Task: %v", err)
	}
	return task
}

// wantAsked compares the keys of a task's open questions, in their order.
func (r *rig) wantAsked(id string, want ...string) {
	r.t.Helper()
	task := r.task(id)
	wantKeys(r.t, task.Inputs, want...)
	if (task.Status == taskstate.InputRequired) != (len(want) > 0) {
		r.t.Errorf("the task is %s, and asks %s", task.Status, task.Inputs)
	}
}

func wantKeys(t *testing.T, inputs []byte, want ...string) {
	t.Helper()
	var got []string
	wire.Each(inputs, func(key string, _ []byte) { got = append(got, key) })
	if len(got) != len(want) {
		t.Fatalf("%q is asked, want %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%q is asked, want %q", got, want)
		}
	}
}

func (r *rig) update(id, responses string) {
	r.t.Helper()
	within(r.t, "UpdateTask", func() {
		if err := r.proxy.UpdateTask("", id, []byte(responses)); err != nil {
			r.t.Errorf("UpdateTask: %v", err)
		}
	})
}

func (r *rig) cancel(id string) {
	r.t.Helper()
	within(r.t, "CancelTask", func() {
		if _, err := r.proxy.CancelTask("", id); err != nil {
			r.t.Errorf("CancelTask: %v", err)
		}
	})
}

// end is how a task stands: its status and, of one that has failed, the reason.
func end(task taskstate.Task) string {
	if reason, ok := wire.String(wire.Lookup(task.Outcome, "data", "reason")); ok {
		return string(task.Status) + " " + reason
	}
	return string(task.Status)
}

func (r *rig) wantEnd(id, want string) {
	r.t.Helper()
	settle()
	if got := end(r.task(id)); got != want {
		r.t.Errorf("the task is %s, want %s: %s", got, want, r.task(id).Outcome)
	}
}
