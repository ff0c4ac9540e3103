package e2e

import (
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// crashWay is how a host reaches the proxy that is killed.
type crashWay struct {
	name                  string
	older, http, detached bool
	server                string
}

var crashWays = []crashWay{
	{name: "stdio", server: "legacy"},
	{name: "session", older: true, server: "modern"},
	{name: "http", http: true, server: "legacy"},
	{name: "runner", detached: true, server: "legacy"},
	{name: "stdio, stateless server", server: "modern"},
	{name: "session, older server", older: true, server: "legacy"},
	{name: "http, stateless server", http: true, server: "modern"},
	{name: "runner, session", older: true, detached: true, server: "legacy"},
}

// scene is a state directory on which one process after the other is killed.
type scene struct {
	*proxied
	t      *testing.T
	way    crashWay
	random *rand.Rand
	seen   *records
	dir    string // the mark of all processes
	socket *net.UnixListener
	disks  []*disk // of all processes that may live
	h      *host
	opened bool // the host's session
	run    int  // how many processes there were
	always bool // every call of the newest process is a task from the start
	counts *crashCounts

	calls  []*crashCall // of this cycle
	owed   []*crashCall // not answered, and not looked for yet
	polls  map[string]*crashCall
	tasks  map[string]*crashCall // of all cycles, by id
	killed bool                  // in this cycle the process was that has the store
	did    []string
}

func newScene(t *testing.T, way crashWay, random *rand.Rand, counts *crashCounts) *scene {
	t.Helper()
	args := map[string][]string{"legacy": {"-version", "2025-11-25"}}[way.server]
	p, seen := proxyAround(t, way.server, args...)
	s := &scene{proxied: p, t: t, way: way, random: random, seen: seen, counts: counts, tasks: map[string]*crashCall{}}
	t.Cleanup(s.awaitDisks)
	t.Cleanup(s.report)
	p.detached(t)
	s.dir = filepath.Dir(p.StateDir)
	if !way.detached {
		p.Host.Env = append(p.Host.Env, "MCP_TASKPROXY_DETACH=never")
	}
	if way.http {
		p.Flags = append(p.Flags, "--listen", "127.0.0.1:0")
		withTokens(t, p) // whose hosts may list their tasks
	}
	var err error
	s.socket, err = net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(s.dir, "hold"), Net: "unix"})
	mustDo(t, err)
	t.Cleanup(func() { _ = s.socket.Close() })
	return s
}

func (s *scene) awaitDisks() {
	for _, d := range s.disks {
		d.letGo()
		<-d.over
	}
}

// report says what the cycle has done.
func (s *scene) report() {
	if s.t.Failed() {
		s.t.Logf("in the last cycle: %s", strings.Join(s.did, "; "))
	}
}

// spawn starts a process that holds its syncs as hold says.
func (s *scene) spawn(hold int) *host {
	s.t.Helper()
	s.run++
	s.Config = s.policy()
	opts := s.Host
	opts.Env = append(slices.Clip(opts.Env), fmt.Sprintf("E2E_RUN=%d", s.run))
	socket := s.socket.Addr().String()
	h := startHostWith(s.t, opts, append([]string{fixture(s.t, "holdsync"), socket}, s.argv(s.t)...)...)
	s.disks = append(slices.DeleteFunc(s.disks, (*disk).isOver), newDisk(s.t, s.socket, hold))
	s.opened = false
	return h
}

func (d *disk) isOver() bool {
	select {
	case <-d.over:
		return true
	default:
		return false
	}
}

// policy makes a call a task at once, or when it has taken some milliseconds.
func (s *scene) policy() string {
	s.always = s.random.IntN(3) > 0
	if s.always {
		return alwaysTasks
	}
	return fmt.Sprintf("after: %dms\npoll_interval: 100ms\n", 1+s.random.IntN(5))
}

// enter starts a process, if there is none, and has a host ready.
func (s *scene) enter() {
	s.t.Helper()
	if s.h != nil {
		return
	}
	s.h = s.spawn(-1)
	if s.way.http {
		l := &listening{host: s.h}
		l.await("the proxy to listen", func() bool { l.url = l.logged("listening", "url"); return l.url != "" })
		s.h = l.joinAs(bearer(aliceToken))
	}
	if s.way.older {
		s.session()
	}
}

// session opens the host's session, once.
func (s *scene) session() {
	s.t.Helper()
	if !s.opened {
		s.h.initialize("2025-11-25")
		s.opened = true
	}
}
