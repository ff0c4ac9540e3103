package main

// measureBig sends and gets messages of the same size. Nothing is faster than
// to copy them through two pipes.
func measureBig(l *lab) {
	sizes := []int{1 << 20, 4 << 20, 16 << 20}
	if l.quick {
		sizes = []int{1 << 20}
	}
	for _, size := range sizes {
		l.part(func() { l.big(size) })
	}
}

func (l *lab) big(size int) {
	server, s := l.built("answer"), call(size, "", "")
	n := max(1, l.n(16<<20, 1)/size)
	copier := l.start([]string{l.built("copier"), "--", server}).initialize()
	ours := l.start(l.through(nil, server)).initialize()
	ours.ask(call(200, "", "").line(nil, 0))
	before := must(memory(ours.pid(), "VmRSS"))
	r := compare(l.n(9, 1),
		way{"copier", func() sample { return copier.trips(n, s.line) }},
		way{"ours", func() sample { return ours.trips(n, s.line) }})
	ratio := r.ratio("ours", "copier")
	l.add(sizeText(size), seconds(r.value("ours")), "copier "+seconds(r.value("copier")), times(ratio), atMost(ratio, 1.5, " ×"))
	perMB := r.value("ours") / float64(size>>20)
	l.add(sizeText(size), seconds(perMB)+" a MB, "+seconds(r.cpu("ours")/float64(size>>20))+" of processor", "", "", goal{})
	grown := (must(memory(ours.pid(), "VmHWM")) - before) / float64(size)
	l.add(sizeText(size), "at most "+bytesText(grown*float64(size))+" more resident", "the message", times(grown), atMost(grown, 2, " ×"))
}
