package main

import "fmt"

func measureCreate(l *lab) {
	for _, writers := range []int{1, 8, 64} {
		for _, mode := range []string{atOnce, always} {
			l.part(func() { l.create(writers, mode) })
		}
	}
}

// create measures calls that stay unanswered, so that nothing but the creation
// is written; in the mode always, that the call is being sent is written too.
func (l *lab) create(writers int, mode string) {
	const size = 1 << 10
	p, raw, s, n := l.tasks(mode), l.rawLog(), call(size, meta, hold), l.n(200*min(writers, 16), 8*writers)
	p.busy = true
	least := l.start([]string{l.built("durable"), l.path("log")})
	r := compare(l.n(9, 1),
		way{"log", func() sample { return raw.rate(n, writers, size) }},
		way{"least", func() sample { return least.rate(n, writers, s.line) }},
		way{"ours", func() sample { return p.rate(n, writers, s.line) }})
	ratio, target := r.ratio("ours", "log"), 0.55
	if writers == 1 {
		target = 0.75
	}
	what := fmt.Sprintf("%d at once, %s", writers, mode[:len(mode)-1])
	l.add(what, perSecond(r.value("ours")), "log "+perSecond(r.value("log")), times(ratio), atLeast(ratio, target, " ×"))
	l.add(what, perSecond(r.value("ours")), "log behind an edge "+perSecond(r.value("least")), times(r.ratio("ours", "least")), goal{})
	l.add(what, seconds(r.cpu("ours"))+" of processor each", "log behind an edge "+seconds(r.cpu("least")), times(r.cpuRatio("ours", "least")), goal{})
}

func measureLife(l *lab) {
	for _, width := range []int{1, 8, 64} {
		l.part(func() { l.life(width) })
	}
}

// life is call, handle, three polls and the result: what is written is counted,
// for the disk writes whole pages.
func (l *lab) life(width int) {
	p, raw, n := l.tasks(always), l.rawLog(), l.n(100*min(width, 16), 2*width)
	v := &lives{peer: p, call: call(1<<10, meta, ""), polls: 3}
	v.run(width, width)
	written, lived := must(traffic(p.pid(), "write_bytes")), 0
	r := compare(l.n(9, 1),
		way{"log", func() sample { return raw.rate(n, width, 1<<10) }},
		way{"ours", func() sample {
			lived += n
			return p.metered(n, func() float64 { return float64(n) / timed(func() { v.run(n, width) }) })
		}})
	written = (must(traffic(p.pid(), "write_bytes")) - written) / float64(lived)
	l.add(fmt.Sprintf("%d at once", width), perSecond(r.value("ours")), "log, one record each "+perSecond(r.value("log")), times(r.ratio("ours", "log")), goal{})
	l.add(fmt.Sprintf("%d at once", width), fmt.Sprintf("%s of processor, %s written each", seconds(r.cpu("ours")), bytesText(written)), "", "", goal{})
}
