//go:build unix

package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestWhateverIsKilledKeepsThePromises starts windows, calls, kills something and
// starts again, at random. MCP_TASKPROXY_E2E_SEED repeats a run.
func TestWhateverIsKilledKeepsThePromises(t *testing.T) {
	t.Parallel()
	seed, cycles := uint64(time.Now().UnixNano()), 200
	if text := os.Getenv("MCP_TASKPROXY_E2E_SEED"); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		mustDo(t, err)
	}
	if testing.Short() {
		cycles = 20
	}
	t.Logf("MCP_TASKPROXY_E2E_SEED=%d", seed)
	const lanes = 4 // most of a cycle is waiting
	for lane := range lanes {
		t.Run(fmt.Sprint(lane), func(t *testing.T) {
			t.Parallel()
			c := newChaos(t, rand.New(rand.NewPCG(seed, uint64(lane))))
			for c.cycle = range cycles / lanes {
				c.turn()
			}
			c.settle()
		})
	}
}

// chaos is a house in which things are killed.
type chaos struct {
	*house
	random  *rand.Rand
	cycle   int
	windows []*host
	tasks   map[string]string // the names of calls, by id
	unheard []string          // the names of calls whose answer nobody waited for
	ended   map[string]string // the states that tasks have ended in, by id
	files   int
	did     []string // in this cycle
}

func newChaos(t *testing.T, random *rand.Rand) *chaos {
	t.Helper()
	s := newHouse(t)
	s.leaves("sleep 300 & setsid sleep 300")
	return &chaos{house: s, random: random, tasks: map[string]string{}, ended: map[string]string{}}
}

// turn is a cycle: up to three windows, some calls, one death, and a look at what
// became of everything.
func (c *chaos) turn() {
	c.t.Helper()
	c.did = nil
	for len(c.windows) < 1+c.random.IntN(3) {
		c.windows = append(c.windows, c.start(c.t))
	}
	for range 1 + c.random.IntN(4) {
		c.call(c.windows[c.random.IntN(len(c.windows))])
	}
	c.kill()
	c.look()
	if c.t.Failed() {
		c.t.Fatalf("in cycle %d: %v", c.cycle, c.did)
	}
}

// call makes a task that is quick, slow, or waits for ever, and keeps its id, if it
// waits for that. Its name at the server is its own, so that its calls can be counted.
func (c *chaos) call(h *host) {
	c.t.Helper()
	c.files++
	name := fmt.Sprintf("call-%d", c.files)
	lines := []string{
		declared.toolCall(h.freshID(), "echo", fmt.Sprintf(`{"name":%q}`, name)),
		declared.toolCall(h.freshID(), "slow", fmt.Sprintf(`{"name":%q,"seconds":%.2f}`, name, c.random.Float64()/2)),
		declared.toolCall(h.freshID(), "gate", fmt.Sprintf(`{"name":%q,"gate":%q}`, name, name)),
	}
	c.did = append(c.did, "call "+name)
	if c.random.IntN(4) == 0 {
		h.send(lines[c.random.IntN(2)]) // nobody could cancel the third
		c.unheard = append(c.unheard, name)
		return
	}
	c.tasks[taskOf(c.t, h.ask(lines[c.random.IntN(3)]))] = name
}

// kill is the death of somebody, at a moment that nothing else decides.
func (c *chaos) kill() {
	c.t.Helper()
	i := c.random.IntN(len(c.windows))
	victim := c.windows[i]
	deaths := []struct {
		name string
		die  func()
	}{
		{"nobody", func() {}},
		{"window, end of input", func() { c.forget(victim) }},
		{"window, SIGTERM", func() { victim.signal(syscall.SIGTERM); c.forget(victim) }},
		{"window, SIGKILL", func() { victim.signal(syscall.SIGKILL); c.forget(victim) }},
		{"a server", func() { c.strike(isServer, syscall.SIGKILL) }},
		{"the runner, SIGKILL", c.bereave},
		{"window and runner", func() { victim.signal(syscall.SIGKILL); c.bereave() }},
	}
	d := deaths[c.random.IntN(len(deaths))]
	if c.random.IntN(16) == 0 { // it takes seconds, as tasks have a grace
		d.name, d.die = "the keeper, SIGKILL, and the runner, SIGTERM", func() {
			c.strike(process.isKeeper, syscall.SIGKILL)
			c.strike(process.isRunner, syscall.SIGTERM)
			c.forget(c.windows...)
		}
	}
	c.did = append(c.did, fmt.Sprintf("death of %s, %d of %d windows", d.name, i+1, len(c.windows)))
	d.die()
}

// bereave kills the runner, and one that is just ending or beginning beside it. Then
// no process is left, whatever servers had started.
func (c *chaos) bereave() {
	c.t.Helper()
	c.killRunners()
	c.forget(c.windows...)
	// A window that had not reached the runner has started another one, which may
	// have a task by now: there is no window any more to start a third.
	c.await("the last runner to be killed", func() bool { return c.killRunners() == 0 && len(marked(c.mark)) == 0 })
}

func (c *chaos) killRunners() (killed int) {
	for _, p := range marked(c.mark) {
		if p.isRunner() {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
			killed++
		}
	}
	return killed
}

func isServer(p process) bool { return strings.HasSuffix(p.args[0], "/legacy") }

// strike signals one of the processes that are meant.
func (c *chaos) strike(meant func(process) bool, signal syscall.Signal) {
	var all []process
	for _, p := range marked(c.mark) {
		if meant(p) {
			all = append(all, p)
		}
	}
	if len(all) > 0 {
		_ = syscall.Kill(all[c.random.IntN(len(all))].pid, signal) // it may just have ended
	}
}

// forget drops windows that end: by themselves, or, if they had not yet reached the
// runner that is gone, with their input.
func (c *chaos) forget(gone ...*host) {
	c.t.Helper()
	var left []*host
	for _, h := range c.windows {
		if slices.Contains(gone, h) {
			h.stop()
		} else {
			left = append(left, h)
		}
	}
	c.windows = left
}
