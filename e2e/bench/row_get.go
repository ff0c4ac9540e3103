package main

import "fmt"

func measureGet(l *lab) {
	for _, live := range []int{1, 1000, 10_000} {
		if l.quick && live > 1 {
			break
		}
		l.part(func() { l.get(live) })
		l.part(func() { l.getHTTP(live) })
	}
}

// polls asks for one task after the other, in no order that the memory likes.
func polls(ids []string) nextLine {
	asks := make([]shape, len(ids))
	for i, id := range ids {
		asks[i] = getTask(id)
	}
	return func(b []byte, i int) []byte { return asks[i*7919%len(asks)].line(b, i) }
}

func tableIDs(n int) []string {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("task-%08d", i)
	}
	return ids
}

func (l *lab) get(live int) {
	ours, bare := l.tasks(always), []string{l.built("table"), "-tasks", fmt.Sprint(live)}
	table, edge := l.start(bare), l.start(append(bare, "-edge"))
	ids, n := ours.create(live), l.n(5000, 32)
	l.settle()
	mine, others := polls(ids), polls(tableIDs(live))
	r := compare(l.n(11, 1),
		way{"table", func() sample { return table.rate(n, inFlight, others) }},
		way{"edge", func() sample { return edge.rate(n, inFlight, others) }},
		way{"ours", func() sample { return ours.rate(n, inFlight, mine) }})
	l.addGets(fmt.Sprintf("%d tasks, stdio, 16 in flight", live), r)
	l.getReads(ours, live, mine)
}

// addGets compares with a map behind the same edge, and with the map alone.
func (l *lab) addGets(size string, r results) {
	ratio := r.ratio("ours", "edge")
	l.add(size, perSecond(r.value("ours")), "map behind the same edge "+perSecond(r.value("edge")), times(ratio), atLeast(ratio, 0.8, " ×"))
	l.add(size, perSecond(r.value("ours")), "map that parses nothing "+perSecond(r.value("table")), times(r.ratio("ours", "table")), goal{})
	l.add(size, seconds(r.cpu("ours"))+" of processor each", "map behind the same edge "+seconds(r.cpu("edge")), times(r.cpuRatio("ours", "edge")), goal{})
}

// getReads compares what the process has read with what it was sent.
func (l *lab) getReads(p *peer, live int, next nextLine) {
	n, sent := l.n(1000, 10), 0
	before := must(traffic(p.pid(), "rchar"))
	p.rate(n, 1, func(b []byte, i int) []byte { b = next(b, i); sent += len(b); return b })
	more := must(traffic(p.pid(), "rchar")) - before - float64(sent)
	l.add(fmt.Sprintf("%d tasks", live), fmt.Sprintf("%.0f B read beside %d requests", more, n), "", "", atMost(more, 512, " B"))
}

func (l *lab) getHTTP(live int) {
	address, other, third := l.address(), l.address(), l.address()
	ours := l.start(l.through(append(l.config(always), "--listen", address), l.built("answer"))).open(address)
	bare := []string{l.built("table"), "-tasks", fmt.Sprint(live)}
	table, edge := l.start(append(bare, "-listen", other)).open(other), l.start(append(bare, "-edge", "-listen", third)).open(third)
	mine, others := polls(ours.create(live)), polls(tableIDs(live))
	n, header := l.n(2000, 32), statelessHeader("tasks/get", "")
	l.settle()
	r := compare(l.n(11, 1),
		way{"table", func() sample { return table.rate(n, inFlight, others, header) }},
		way{"edge", func() sample { return edge.rate(n, inFlight, others, header) }},
		way{"ours", func() sample { return ours.rate(n, inFlight, mine, header) }})
	l.addGets(fmt.Sprintf("%d tasks, HTTP, 16 hosts", live), r)
}

// create makes n running tasks and returns their ids.
func (s *site) create(n int) []string {
	ids := make([]string, n)
	s.busy = true
	held, header := call(300, meta, hold), statelessHeader("tools/call", "echo")
	hosts := min(n, 32)
	together(hosts, func(host int) {
		for i := host; i < n; i += hosts {
			ids[i] = taskID(s.ask(held.line(nil, i), header))
		}
	})
	return ids
}
