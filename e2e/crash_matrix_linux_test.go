package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestKillAtEveryPointOfACall kills whoever has the store, the server, or both, at
// every point of a call's way: before there is a record, between the record, the
// handle, the mark that the call is sent, the call itself, its result and the record
// of that, and behind all; one time in four once more while the next process takes
// up what is left. Afterwards every handle is known, every task has an honest end, and no call was
// made twice.
//
// MCP_TASKPROXY_E2E_SEED repeats a run, MCP_TASKPROXY_E2E_CYCLES has another number
// of cycles.
func TestKillAtEveryPointOfACall(t *testing.T) {
	t.Parallel()
	needsHeldSyncs(t)
	seed, cycles := fromEnvironment(t, "MCP_TASKPROXY_E2E_SEED", uint64(time.Now().UnixNano())), uint64(500)
	if testing.Short() {
		cycles = 50
	}
	cycles = fromEnvironment(t, "MCP_TASKPROXY_E2E_CYCLES", cycles)
	t.Logf("MCP_TASKPROXY_E2E_SEED=%d MCP_TASKPROXY_E2E_CYCLES=%d", seed, cycles)
	counts := &crashCounts{seen: map[string]map[string]int{}}
	t.Run("cycles", func(t *testing.T) { playCrashes(t, seed, int(cycles), counts) })
	counts.check(t, cycles >= 400)
}

// needsHeldSyncs skips the test where the system does not let a process filter its
// own calls. In CI that is a failure.
func needsHeldSyncs(t *testing.T) {
	t.Helper()
	out, err := exec.Command(fixture(t, "holdsync"), "/nowhere", "true").CombinedOutput()
	if !strings.Contains(string(out), "seccomp") {
		return
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("%v: %s", err, out)
	}
	t.Skipf("%v: %s", err, out)
}

func fromEnvironment(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	mustDo(t, err)
	return n
}

// playCrashes gives each way its share, in scenes that do not get too old.
func playCrashes(t *testing.T, seed uint64, cycles int, counts *crashCounts) {
	each := min(25, (cycles+len(crashWays)-1)/len(crashWays))
	for lane := 0; lane*each < cycles; lane++ {
		way := crashWays[lane%len(crashWays)]
		t.Run(fmt.Sprintf("%d %s", lane, way.name), func(t *testing.T) {
			t.Parallel()
			s := newScene(t, way, rand.New(rand.NewPCG(seed, uint64(lane))), counts)
			for range min(each, cycles-lane*each) {
				s.cycle()
			}
			s.end()
		})
	}
}

func (s *scene) cycle() {
	s.t.Helper()
	s.did = nil
	s.enter()
	s.strike()
	for s.killed && s.random.IntN(4) == 0 {
		s.strikeAgain()
	}
	s.settle()
	if s.t.Failed() {
		s.t.FailNow()
	}
}

// end sees that every handle there ever was is known, and that nobody is left.
func (s *scene) end() {
	s.t.Helper()
	s.enter()
	s.calls, s.killed = nil, false
	records := s.unheard()
	s.judge(s.finish(records))
	s.audit(len(records))
	for id, c := range s.tasks {
		if m := pollTask(s.h, id, terminal); m.Error != nil || m.text("status") != c.seen {
			s.t.Errorf("at the end %s is not %s: %s", c.name, c.seen, m.Raw)
		}
	}
	s.h.stop()
	s.stopRunner(s.t)
	awaitNobody(s.t, s.dir)
}

// crashClasses are how far a call had come when the process died that had the store,
// by what is found afterwards.
var crashClasses = []string{
	"no record",
	"record, no handle",
	"handle, not sent",
	"marked as sent, not made",
	"made, no result",
	"result, not recorded",
	"recorded, not seen",
	"seen",
}

// crashCounts are how often each was met.
type crashCounts struct {
	mu   sync.Mutex
	seen map[string]map[string]int
}

func (c *crashCounts) add(row, class string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen[row] == nil {
		c.seen[row] = map[string]int{}
	}
	c.seen[row][class] += n
}

// check logs the counts, and insists on every class if there were cycles enough.
func (c *crashCounts) check(t *testing.T, enough bool) {
	t.Helper()
	for row, seen := range c.seen {
		for _, class := range crashClasses {
			t.Logf("%-7s %-25s %5d", row, class, seen[class])
			if enough && seen[class] == 0 {
				t.Errorf("no kill of the %s came where there was: %s", row, class)
			}
		}
	}
}

// row is who has the store.
func (s *scene) row() string {
	if s.way.detached {
		return "runner"
	}
	return "proxy"
}

// class is how far a task had come.
func (c *crashCall) class(end message) string {
	_, outcome := reason(at(end.Result, "error"))
	switch {
	case c.wasSeen:
		return "seen"
	case c.later, c.calls == 0 && outcome == "not_dispatched":
		return "handle, not sent"
	case outcome == "unknown" && c.calls == 0:
		return "marked as sent, not made"
	case outcome == "unknown" && c.ends == 0:
		return "made, no result"
	case outcome == "unknown":
		return "result, not recorded"
	}
	return "recorded, not seen"
}
