package main

// measureTrips is for a host of either era: what it says is as long, and the
// stateless one could have tasks.
func measureTrips(l *lab) {
	for _, size := range []int{200, 4 << 10, 64 << 10} {
		l.part(func() { l.trip(size, "", call(size, "", "")) })
	}
	l.part(func() { l.trip(4<<10, ", stateless", call(4<<10, meta, "")) })
}

func (l *lab) trip(size int, era string, s shape) {
	server, n := l.built("answer"), l.n(1000, 5)
	direct := l.start([]string{server}).initialize()
	copier := l.start([]string{l.built("copier"), "--", server}).initialize()
	ours := l.start(l.through(nil, server))
	if era == "" {
		ours.initialize()
	}
	trips := func(p *peer) func() sample { return func() sample { return p.trips(n, s.line) } }
	r := compare(l.n(15, 1), way{"direct", trips(direct)}, way{"copier", trips(copier)}, way{"ours", trips(ours)})
	ratio, size1 := r.ratio("ours", "copier"), sizeText(size)+era
	l.add(size1, seconds(r.value("ours")), "copier "+seconds(r.value("copier")), times(ratio), atMost(ratio, 1.2, " ×"))
	l.add(size1, "added "+seconds(r.value("ours")-r.value("direct")), "copier "+seconds(r.value("copier")-r.value("direct")), "", goal{})
	cpu := r.cpu("ours")
	l.add(size1, seconds(cpu)+" of processor a call", "copier "+seconds(r.cpu("copier")), times(r.cpuRatio("ours", "copier")), atMost(cpu*1e6, 30, " µs"))
}

func measureFlight(l *lab) {
	for _, size := range []int{200, 1 << 10, 4 << 10} {
		l.part(func() { l.flight(size) })
	}
}

const inFlight = 16

func (l *lab) flight(size int) {
	server, n, s := l.built("answer"), l.n(3000, 20), call(size, "", "")
	rate := func(argv []string) func() sample {
		p := l.start(argv).initialize()
		return func() sample { return p.rate(n, inFlight, s.line) }
	}
	r := compare(l.n(11, 1),
		way{"direct", rate([]string{server})}, way{"copier", rate([]string{l.built("copier"), "--", server})},
		way{"pump", rate([]string{l.built("pump"), "--", server})}, way{"ours", rate(l.through(nil, server))})
	ours := r.value("ours")
	l.add(sizeText(size), perSecond(ours), "direct "+perSecond(r.value("direct"))+", copier "+perSecond(r.value("copier")), times(r.ratio("ours", "copier")), atLeast(ours, 25000, "/s"))
	ratio := r.ratio("ours", "pump")
	l.add(sizeText(size), perSecond(ours), "pump "+perSecond(r.value("pump")), times(ratio), atLeast(ratio, 5, " ×"))
	l.add(sizeText(size), seconds(r.cpu("ours"))+" of processor a call", "copier "+seconds(r.cpu("copier"))+", pump "+seconds(r.cpu("pump")), "", goal{})
}

func measureSDK(l *lab) {
	for _, size := range []int{200, 1 << 10, 4 << 10} {
		l.part(func() { l.sdk(size) })
	}
}

func (l *lab) sdk(size int) {
	server, n, s := l.built("sdkecho"), l.n(1500, 20), call(size, "", "")
	rate := func(argv []string) func() sample {
		p := l.start(argv).initialize()
		return func() sample { return p.rate(n, inFlight, s.line) }
	}
	r := compare(l.n(11, 1), way{"direct", rate([]string{server})},
		way{"copier", rate([]string{l.built("copier"), "--", server})}, way{"ours", rate(l.through(nil, server))})
	ratio := r.ratio("ours", "direct")
	l.add(sizeText(size), perSecond(r.value("ours")), "direct "+perSecond(r.value("direct")), times(ratio), atLeast(ratio, 0.9, " ×"))
	l.add(sizeText(size), perSecond(r.value("ours")), "copier "+perSecond(r.value("copier")), times(r.ratio("ours", "copier")), goal{})
}
