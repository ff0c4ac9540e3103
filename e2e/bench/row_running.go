package main

import "fmt"

func measureRunning(l *lab) {
	for _, mode := range []string{atOnce, always} {
		l.part(func() { l.running(mode) })
	}
}

// running measures what each running task adds to the memory, beyond its
// message, as their number grows in one process.
func (l *lab) running(mode string) {
	const size = 300
	p := l.tasks(mode)
	p.create(1)
	l.settle()
	before, there := must(memory(p.pid(), "VmRSS")), 0
	for _, n := range []int{l.n(1000, 10), l.n(5000, 20), l.n(10_000, 30), l.n(20_000, 40)} {
		p.create(n - there)
		there = n
		l.settle()
		each := (must(memory(p.pid(), "VmRSS"))-before)/float64(n) - size
		l.add(fmt.Sprintf("%d, %s", n, mode[:len(mode)-1]), bytesText(each)+" each", "", "", atMost(each/1024, 5, " KB"))
	}
}
