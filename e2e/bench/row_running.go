package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"regexp"
	"strconv"
)

func measureRunning(l *lab) {
	for _, mode := range []string{atOnce, always} {
		l.part(func() { l.running(mode) })
	}
}

// running measures what each running task adds to the memory, beyond its message, as
// their number grows in one process: what is held, and what is resident with all that
// the collector has not given back yet.
func (l *lab) running(mode string) {
	const size = 300
	quiet := []string{"env", "-u", "GODEBUG", l.built("answer")}
	p := l.start(append([]string{"env", "GODEBUG=gctrace=1"}, l.through(l.config(mode), quiet...)...))
	ids := p.create(1)
	held, resident := l.memories(p, ids)
	for _, n := range []int{l.n(1000, 10), l.n(5000, 20), l.n(10_000, 30), l.n(20_000, 40)} {
		ids = append(ids, p.create(n-len(ids))...)
		h, r := l.memories(p, ids)
		each := (h-held)/float64(n) - size
		what := fmt.Sprintf("%d, %s", n, mode[:len(mode)-1])
		l.add(what, bytesText(each)+" held for each", "", "", atMost(each/1024, 5, " KB"))
		l.add(what, bytesText((r-resident)/float64(n)-size)+" resident for each", "", "", goal{})
	}
}

// memories has the process collect twice, by polls that leave garbage, and returns what
// it holds then, and what is resident.
func (l *lab) memories(p *peer, ids []string) (held, resident float64) {
	next, n := polls(ids), l.n(5000, 500)
	last, _ := collections(p.stderr)
	for range 1000 {
		count, live := collections(p.stderr)
		if count >= last+2 {
			return live, must(memory(p.pid(), "VmRSS"))
		}
		p.rate(n, inFlight, next)
	}
	p.fail("does not say that it collects garbage", nil)
	return 0, 0
}

// collected is what the Go runtime writes for each collection: how much of the heap
// was live, and the stacks, in MB.
var collected = regexp.MustCompile(`^gc \d+ @.*->(\d+) MB, .* (\d+) MB stacks`)

// collections are how many there were, and what the last one has left, in bytes.
func collections(path string) (count int, live float64) {
	lines := bufio.NewScanner(bytes.NewReader(must(os.ReadFile(path))))
	for lines.Scan() {
		if m := collected.FindStringSubmatch(lines.Text()); m != nil {
			heap, stacks := must(strconv.Atoi(m[1])), must(strconv.Atoi(m[2]))
			count, live = count+1, float64(heap+stacks)*(1<<20)
		}
	}
	return count, live
}
