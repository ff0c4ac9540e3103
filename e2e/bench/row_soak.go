package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// soak is mixed traffic over a long time, in which processes are ended in every
// way. Every answer is checked: whoever was given a task can ask for it as long as it
// is kept, and it ends as its call did. In the second half only servers are ended,
// so that what the proxy takes of memory and disk can be told.
type soak struct {
	*lab
	address string
	argv    []string
	started time.Time
	until   time.Time
	seed    uint64

	mu    sync.Mutex
	proxy *peer // this one now
	ended time.Time
	away  bool // the proxy is being ended
	wrong []string

	did   [soakDeeds]atomic.Int64
	taken []footprint
}

// footprint is what the proxy takes at a time.
type footprint struct {
	memory float64 // of its own: what it has mapped of files goes with these
	mapped float64
	disk   float64
}

const (
	soakTTL   = 20 * time.Second
	soakHosts = 24
	steady    = 10 * time.Minute // before that, what is kept for soakTTL still grows
)

func measureSoak(l *lab) {
	d := soakFor(l)
	l.limit = d + time.Minute
	s := &soak{lab: l, address: l.address(), started: time.Now(), until: time.Now().Add(d), seed: uint64(time.Now().UnixNano())}
	s.run()
}

func soakFor(l *lab) time.Duration {
	if l.quick {
		return 6 * time.Second
	}
	return l.soak
}

func (s *soak) run() {
	fmt.Fprintf(os.Stderr, "bench: soak: seed %d, until %s\n", s.seed, s.until.Format(time.TimeOnly))
	text := fmt.Sprintf("tools: {\"*\": {task: always, ttl: %v}, echo: {task: never}}\npoll_interval: 100ms\n", soakTTL) +
		"limits: {running: 200, queued: 1000, stored: 0, store_bytes: 100GiB, result_bytes: 256KiB, connections: 512}\n"
	s.argv = append(s.through(append(s.config(text), "--listen", s.address)), "--", s.built("answer"))
	s.restart()
	var all sync.WaitGroup
	for i := range soakHosts {
		all.Go(func() { newSoakHost(s, rand.New(rand.NewPCG(s.seed, uint64(i)))).live() })
	}
	all.Go(s.release)
	all.Go(s.trouble)
	s.watch()
	all.Wait()
	s.report()
}

// restart starts the proxy, again.
func (s *soak) restart() {
	p := s.start(s.argv)
	p.open(s.address)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proxy, s.ended, s.away = p, time.Now(), false
}

// trouble ends processes. A proxy that is asked to end has some seconds for it.
func (s *soak) trouble() {
	r := rand.New(rand.NewPCG(s.seed, 1<<32))
	half := s.started.Add(s.until.Sub(s.started) / 2)
	for s.pause(time.Duration(s.n(5000, 500)+r.IntN(s.n(10_000, 500))) * time.Millisecond) {
		s.did[deedFault].Add(1)
		if r.IntN(2) == 0 || time.Now().After(half) {
			s.note()
			killChildren(s.now().pid())
			s.note()
			continue
		}
		p := s.leave()
		if r.IntN(2) == 0 {
			p.kill()
		} else {
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
			<-p.exited
		}
		s.restart()
	}
}

func (s *soak) now() *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.proxy
}

// leave says so until the proxy is started again.
func (s *soak) leave() *peer {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = true
	return s.proxy
}

// note says that calls may have failed from now on.
func (s *soak) note() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = time.Now()
}

// troubled says whether what was begun then may have failed for what was done to the
// processes.
func (s *soak) troubled(begun time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.away || s.ended.Add(2*time.Second).After(begun)
}

func (s *soak) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.wrong) < 20 {
		s.wrong = append(s.wrong, fmt.Sprintf(format, args...))
	}
}

// pause is false at the end.
func (s *soak) pause(d time.Duration) bool {
	time.Sleep(min(d, max(time.Until(s.until), 0)))
	return time.Now().Before(s.until)
}

// release has the server answer what it holds, again and again.
func (s *soak) release() {
	h := newSoakHost(s, rand.New(rand.NewPCG(s.seed, 1<<33)))
	for s.pause(200 * time.Millisecond) {
		_, _ = h.post(call(0, meta, `"release":true`), "tools/call", "echo")
	}
	for range 20 { // for those who still wait
		_, _ = h.post(call(0, meta, `"release":true`), "tools/call", "echo")
		time.Sleep(100 * time.Millisecond)
	}
}

// watch takes the footprint in the second half, in which the process stays.
func (s *soak) watch() {
	time.Sleep(time.Until(s.started.Add(s.until.Sub(s.started) * 6 / 10)))
	for s.pause(time.Duration(s.n(2000, 100)) * time.Millisecond) {
		if f, err := s.footprint(); err == nil {
			s.taken = append(s.taken, f)
		}
	}
}

func (s *soak) footprint() (f footprint, err error) {
	pid := s.now().pid()
	if f.memory, err = memory(pid, "RssAnon"); err == nil {
		f.mapped, err = memory(pid, "RssFile")
	}
	f.disk = diskUsed(s.argv[stateDirAt])
	return f, err
}

func diskUsed(dir string) (total float64) {
	_ = filepath.WalkDir(dir, func(_ string, e os.DirEntry, err error) error {
		if err == nil {
			if info, err := e.Info(); err == nil {
				total += float64(diskUse(info))
			}
		}
		return nil
	})
	return total
}

// report compares the last fourth of what was taken with the first.
func (s *soak) report() {
	fourth := max(len(s.taken)/4, 1)
	if len(s.taken) < 2 {
		check(fmt.Errorf("the proxy was looked at %d times only", len(s.taken)))
	}
	for _, of := range []struct {
		name  string
		value func(footprint) float64
		most  float64
	}{
		{"memory", func(f footprint) float64 { return f.memory }, 1.25},
		{"disk", func(f footprint) float64 { return f.disk }, 1.25},
		{"files in memory", func(f footprint) float64 { return f.mapped }, 0}, // as much of them as was touched last
	} {
		early, late := middle(s.taken[:fourth], of.value), middle(s.taken[len(s.taken)-fourth:], of.value)
		target := goal{}
		if of.most > 0 && s.until.Sub(s.started) >= steady {
			target = atMost(late/early, of.most, " ×")
		}
		highest := 0.0
		for _, f := range s.taken {
			highest = max(highest, of.value(f))
		}
		s.add(of.name+", highest", bytesText(highest), "", "", goal{})
		s.add(of.name+" in the end", bytesText(late), "earlier "+bytesText(early), times(late/early), target)
	}
	for deed, name := range deedNames {
		s.add(name, fmt.Sprint(s.did[deed].Load()), "", "", goal{})
	}
	if len(s.wrong) > 0 {
		check(fmt.Errorf("%d answers at least were wrong: %q", len(s.wrong), s.wrong))
	}
}

func middle(all []footprint, of func(footprint) float64) float64 {
	var values []float64
	for _, f := range all {
		values = append(values, of(f))
	}
	return median(values)
}
