package proxy

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// keeper is what a server knows of the one task that it has made.
type keeper struct {
	mu        sync.Mutex
	state     string // of the task, as members
	cancelled int
}

func (k *keeper) is(state string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.state = state
}

func (k *keeper) answer(m wire.Message) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch m.Method() {
	case "tasks/cancel":
		k.cancelled++
		return `{"resultType":"complete"}`
	case "tasks/get":
		return `{"resultType":"complete","taskId":"theirs","createdAt":"2026-11-30T00:00:00Z","lastUpdatedAt":"2026-11-30T00:00:00Z","ttlMs":null,` + k.state + `}`
	}
	return ""
}

const theirs = `{"resultType":"task","taskId":"theirs","status":"working","createdAt":"2026-11-30T00:00:00Z","lastUpdatedAt":"2026-11-30T00:00:00Z","ttlMs":null}`

// keepingRig is a rig whose server makes tasks, and one of it.
func keepingRig(t *testing.T, store *disk, policy Policy, change func(*Request)) (*rig, *keeper, taskstate.Task) {
	t.Helper()
	r, k := newRig(t, store, upstream.Stateless, policy), &keeper{state: `"status":"working","statusMessage":"linking"`}
	r.keeps = k.answer
	c := r.calls(deploy, func(req *Request) { req.Tasks = true; change(req) })
	r.next().ends(theirs)
	return r, k, c.task()
}

func unchanged(*Request) {}

func TestATaskThatTheServerKeepsIsFollowedAfterARestart(t *testing.T) {
	for name, policy := range map[string]Policy{"always": {Task: Always}, "after": {Task: After, After: time.Second}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, store *disk) {
				r, k, task := keepingRig(t, store, policy, unchanged)
				time.Sleep(5 * time.Second)
				if got := r.task(task.ID); got.StatusMessage != "linking" {
					t.Errorf("the task says %q", got.StatusMessage)
				}
				r.restarts(policy)
				r.wantEnd(task.ID, "working")
				k.is(`"status":"completed","result":{"resultType":"complete","content":[]}`)
				time.Sleep(5 * time.Second)
				r.wantEnd(task.ID, "completed")
				r.idle(time.Minute)
				if k.cancelled != 0 {
					t.Error("the server was told to cancel")
				}
				r.wantIdle()
			})
		})
	}
}

func TestAnEndThatCameWhileNobodyFollowedCounts(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		policy := Policy{Task: Always, MaxRun: time.Hour}
		r, k, task := keepingRig(t, store, policy, unchanged)
		time.Sleep(time.Second)
		r.closes()
		k.is(`"status":"completed","result":{"resultType":"complete","content":[],"isError":true}`)
		time.Sleep(2 * time.Hour)
		r.store.closes(t)
		r.store.opens(t)
		r.starts(policy)
		r.proxy.Recover(func(string, upstream.Caller) *upstream.Client { return r.client })
		time.Sleep(5 * time.Second)
		r.wantEnd(task.ID, "completed")
		if !r.task(task.ID).IsError {
			t.Error("the task does not say that its result is an error")
		}
	})
}

func TestACancelReachesTheServersTask(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		policy := Policy{Task: Always}
		r, k, task := keepingRig(t, store, policy, unchanged)
		time.Sleep(time.Second)
		r.restarts(policy)
		time.Sleep(time.Second)
		r.cancel(task.ID)
		time.Sleep(time.Second)
		r.wantEnd(task.ID, "cancelled")
		if k.cancelled != 1 {
			t.Errorf("the server was told %d times", k.cancelled)
		}
		r.wantIdle()
	})
}

func TestWhatWasAskedInTheServersTaskIsAskedAgainAfterARestart(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		policy := Policy{Task: Always}
		r, k, task := keepingRig(t, store, policy, unchanged)
		k.is(`"status":"input_required","inputRequests":{"k":` + elicitation + `}`)
		time.Sleep(5 * time.Second)
		r.wantAsked(task.ID, "elicitation-1")
		r.restarts(policy)
		time.Sleep(5 * time.Second)
		if key := r.askedKey(task.ID); key == "elicitation-1" {
			t.Error("a key stands for two questions")
		}
		k.is(`"status":"completed","result":{"resultType":"complete","content":[]}`)
		time.Sleep(5 * time.Second)
		r.wantEnd(task.ID, "completed")
	})
}

func TestATaskWhoseHeadersAreGoneIsNotFollowed(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		policy := Policy{Task: Always}
		r, _, task := keepingRig(t, store, policy, func(req *Request) { req.Header = http.Header{"X-Tenant": {"a"}} })
		time.Sleep(time.Second)
		r.restarts(policy)
		r.wantEnd(task.ID, "failed proxy_restarted")
	})
}

func TestAServerIsAskedForNoTaskWherePolicySaysOff(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Always, NoUpstreamTasks: true})
		r.keeps = (&keeper{}).answer
		r.calls(deploy, asTask).task()
		p := r.next()
		if extensions := wire.Lookup(p.message.Params(), "_meta", "io.modelcontextprotocol/clientCapabilities", "extensions"); extensions != nil {
			t.Errorf("it was told %s", extensions)
		}
		p.ends(`{"content":[]}`)
	})
}

func TestAFormerTaskWhoseServerNeverComesEndsWithMaxRun(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		policy := Policy{Task: Always, MaxRun: time.Hour}
		r, _, task := keepingRig(t, store, policy, unchanged)
		time.Sleep(time.Second)
		r.closes()
		r.store.closes(t)
		r.store.opens(t)
		r.starts(policy)
		time.Sleep(59 * time.Minute)
		r.wantEnd(task.ID, "working")
		time.Sleep(time.Hour)
		r.wantEnd(task.ID, "failed max_run")
	})
}

// A clock that was set back between two processes does not give a task more time than
// it has at all, and one that was set forward leaves time to ask the server.
func TestRestOfATaskWhateverTheClockSays(t *testing.T) {
	const maxRun = time.Hour
	for created, want := range map[time.Duration]time.Duration{
		-time.Minute: 59 * time.Minute, -100 * time.Hour: followWait, 100 * time.Hour: maxRun,
	} {
		if got := restOf(time.Now().Add(created), maxRun); got > want || got < want-time.Minute/2 {
			t.Errorf("created %v from now: %v, want %v", created, got, want)
		}
	}
	if got := restOf(time.Now(), time.Second); got != followWait {
		t.Errorf("of a second: %v", got)
	}
}
