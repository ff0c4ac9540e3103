package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"time"
)

func measureStart(l *lab) {
	for _, stored := range []int{0, l.n(10_000, 20), l.n(100_000, 40)} {
		l.part(func() { l.startWith(stored) })
	}
}

// startWith fills a store, kills its process, and then measures on copies of
// what that left, and of the same after it was opened and closed once.
func (l *lab) startWith(stored int) {
	killed := l.path("state")
	p := l.start(l.on(killed, always))
	v := &lives{peer: p, call: call(300, meta, ""), polls: 0}
	v.run(max(stored, 1), 64)
	p.kill()
	closed, id := l.copied(killed), v.ids[len(v.ids)/2]
	p = l.start(l.on(closed, always))
	p.ask(getTask(id).line(nil, 0))
	p.stop()
	l.starts(stored, "clean", closed, id)
	l.starts(stored, "after kill -9", killed, id)
}

func (l *lab) starts(stored int, how, dir, id string) {
	r := compare(l.n(9, 1),
		way{"store", func() sample { return l.opened(l.copied(dir)) }},
		way{"ours", func() sample { return l.answered(l.copied(dir), id) }})
	ratio, size := r.ratio("ours", "store"), fmt.Sprintf("%d stored, %s", stored, how)
	l.add(size, seconds(r.value("ours")), "store alone "+seconds(r.value("store")), times(ratio), atMost(ratio, 1.3, " ×"))
	l.add(size, seconds(r.value("ours")), "", "", atMost(r.value("ours")*1000, 500, " ms"))
}

// on is the command line of a proxy on a given state directory.
func (l *lab) on(dir, mode string) []string {
	argv := l.through(l.config(mode), l.built("answer"))
	argv[stateDirAt] = dir
	return argv
}

// copied keeps what is sparse sparse.
func (l *lab) copied(dir string) string {
	to := l.path("copy")
	if out, err := exec.Command("cp", "-R", dir, to).CombinedOutput(); err != nil {
		check(fmt.Errorf("cp: %w\n%s", err, out))
	}
	return to
}

func (l *lab) opened(dir string) (s sample) {
	l.part(func() {
		s.value = timed(func() { l.start([]string{l.built("opener"), dir}).receive() })
	})
	l.discard(dir)
	return s
}

func (l *lab) answered(dir, id string) (s sample) {
	l.part(func() {
		var p *peer
		var answer []byte
		s.value = timed(func() {
			p = l.start(l.on(dir, always))
			answer = p.ask(getTask(id).line(nil, 0))
		})
		if !bytes.Contains(answer, []byte(`"status":"completed"`)) {
			p.fail(fmt.Sprintf("does not have the task: %s", answer), nil)
		}
	})
	l.discard(dir)
	return s
}

func timed(do func()) (inSeconds float64) {
	began := time.Now()
	do()
	return time.Since(began).Seconds()
}
