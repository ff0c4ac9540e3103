package e2e

import (
	"fmt"
	"slices"
	"time"
)

// crashVictims are who dies, in this order.
var (
	crashVictims    = []string{"proxy", "proxy", "proxy", "server", "server, proxy", "proxy, server"}
	detachedVictims = []string{"runner", "runner", "server", "window", "server, runner", "window, runner", "runner, server"}
)

// strike has calls on their way, waits for a moment, and kills.
func (s *scene) strike() {
	s.t.Helper()
	victims := crashVictims
	if s.way.detached {
		victims = detachedVictims
	}
	victim := victims[s.random.IntN(len(victims))]
	n := 1 + s.random.IntN(4)
	hold, wait := s.moment(n)
	s.did = append(s.did, fmt.Sprintf("run %d, always %t: %s at sync %d or %v", s.run, s.always, victim, hold, wait))
	s.calls, s.polls, s.killed = nil, map[string]*crashCall{}, false
	for _, d := range s.disks {
		d.hold(hold)
	}
	for range n {
		s.send(s.newCall())
	}
	if hold < 0 && wait == patience {
		s.seeEnds()
	} else if s.until(wait, s.calls...); s.random.IntN(3) == 0 {
		s.catchUp()
	}
	s.slay(victim)
	s.letGo()
}

// letGo is for whoever lives: the moment may not have come.
func (s *scene) letGo() {
	for _, d := range s.disks {
		d.letGo()
	}
}

// moment is a sync that the kill is to come at, or some time after which it comes, or
// neither: then it comes behind all.
// A call that is a task from the start takes six syncs to its end, and those of several
// calls are for some of them at once.
func (s *scene) moment(calls int) (hold int, wait time.Duration) {
	switch s.random.IntN(16) {
	case 0, 1:
		return -1, patience
	case 2, 3:
		return -1, time.Duration(s.random.IntN(20_000)) * time.Microsecond
	}
	return s.random.IntN(4 + 2*calls), patience
}

// crashQuiet is how long nothing happens before nothing is waited for any more.
const crashQuiet = 100 * time.Millisecond

// until has the host do what hosts do, up to the moment.
func (s *scene) until(wait time.Duration, calls ...*crashCall) {
	s.t.Helper()
	late, again := time.After(wait), time.NewTicker(time.Millisecond)
	defer again.Stop()
	for quiet, before := time.Now(), -1; ; {
		held, syncs := s.syncs()
		if held || time.Since(quiet) > crashQuiet {
			return
		}
		if n := s.hear(); n > 0 || syncs != before {
			quiet, before = time.Now(), syncs
		}
		if len(calls) > 0 {
			s.meddle(calls[s.random.IntN(len(calls))])
		}
		select {
		case <-again.C:
		case <-late:
			return
		}
	}
}

func (s *scene) syncs() (held bool, count int) {
	for _, d := range s.disks {
		h, n, _ := d.look()
		held, count = held || h, count+n
	}
	return held, count
}

// meddle looks for a task, or lets it go on.
func (s *scene) meddle(c *crashCall) {
	s.t.Helper()
	switch s.random.IntN(12) {
	case 0:
		s.unlock(c)
	case 1, 2, 3:
		s.poll(c)
	case 4:
		if c.kind == "quiz" && c.task != "" {
			s.h.send(both.request(s.h.freshID(), "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{"elicitation-1":%s,"form":%s}}`, c.task, yes, yes)))
		}
	}
}

// catchUp has the host see how far its tasks are. It does not insist: to read a task
// that has ended may have to wait for a sync that is held.
func (s *scene) catchUp() {
	s.t.Helper()
	for _, c := range s.calls {
		s.poll(c)
	}
	late := time.Now().Add(crashQuiet / 4)
	s.await("answers about tasks", func() bool { s.hear(); return len(s.polls) == 0 || time.Now().After(late) })
}

// seeEnds has the host see the end of every call that ends by itself.
func (s *scene) seeEnds() {
	s.t.Helper()
	for _, c := range s.calls {
		s.unlock(c)
	}
	s.await("the ends of calls", func() bool {
		s.hear()
		for _, c := range s.calls {
			if len(s.polls) < len(s.calls) {
				s.poll(c)
			}
		}
		return !slices.ContainsFunc(s.calls, (*crashCall).isAwaited)
	})
}

// isAwaited is for calls that need nobody to end.
func (c *crashCall) isAwaited() bool {
	return c.kind != "quiz" && (c.isUnheard() || c.task != "" && !c.wasSeen)
}

// strikeAgain kills the next process while it takes up what the last one has left.
func (s *scene) strikeAgain() {
	s.t.Helper()
	hold, wait := s.moment(4)
	s.did = append(s.did, fmt.Sprintf("again at sync %d or %v", hold, wait))
	s.h = s.spawn(hold)
	begun := time.Now().Add(min(wait, 2*time.Second))
	s.await("the store to be opened", func() bool {
		_, syncs, _ := s.disks[len(s.disks)-1].look()
		return syncs > 0 || time.Now().After(begun)
	})
	s.until(wait)
	servers := s.servers()
	kill(s.h.cmd.Process.Pid, s.holder())
	s.leave()
	s.letGo()
	s.awaitDead(servers)
}
