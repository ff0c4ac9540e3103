package main

import (
	"os/exec"
	"strconv"
)

func measureRunner(l *lab) {
	for _, size := range []int{200, 4 << 10, 64 << 10} {
		l.part(func() { l.runner(size) })
	}
}

func (l *lab) runner(size int) {
	server, n, s := l.built("answer"), l.n(1000, 5), call(size, "", "")
	alone := l.start(l.through(nil, server)).initialize()
	front := l.front(server)
	r := compare(l.n(11, 1),
		way{"alone", func() sample { return alone.trips(n, s.line) }},
		way{"front", func() sample { return front.trips(n, s.line) }})
	ratio := r.ratio("front", "alone")
	l.add(sizeText(size), seconds(r.value("front")), "one process "+seconds(r.value("alone")), times(ratio), atMost(ratio, 1.3, " ×"))
	l.add(sizeText(size), seconds(r.cpu("front"))+" of processor a call", "one process "+seconds(r.cpu("alone")), times(r.cpuRatio("front", "alone")), goal{})
	if size <= 4<<10 {
		l.runnerFlight(size, alone, front)
	}
}

func (l *lab) runnerFlight(size int, alone, front *peer) {
	n, s := l.n(3000, 20), call(size, "", "")
	r := compare(l.n(11, 1),
		way{"alone", func() sample { return alone.rate(n, inFlight, s.line) }},
		way{"front", func() sample { return front.rate(n, inFlight, s.line) }})
	l.add(sizeText(size)+", 16 in flight", perSecond(r.value("front")), "one process "+perSecond(r.value("alone")), times(r.ratio("front", "alone")), goal{})
}

// front is one window of a runner that it has started.
func (l *lab) front(server string) *peer {
	argv := l.through([]string{"--detach", "auto"}, server)
	dir := argv[stateDirAt]
	l.ends = append(l.ends, func() { _ = exec.Command(l.proxy, "stop", "--state-dir", dir).Run() })
	p := l.start(argv).initialize()
	shown := must(exec.Command(l.proxy, "ps", "--state-dir", dir).Output())
	p.pids = append(p.pids, must(strconv.Atoi(between(shown, "runner ", ','))))
	return p
}
