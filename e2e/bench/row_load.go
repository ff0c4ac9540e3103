package main

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
)

// measureLoad has many hosts over HTTP, each with connections of its own, run ten
// tasks each, all at once, ask for them, and hear of their ends on a stream.
func measureLoad(l *lab) {
	hosts, tasks := l.n(1000, 4), l.n(10_000, 40)
	address := l.address()
	flags := append(l.config(fmt.Sprintf("task: always\nlimits: {running: 0, stored: %d, connections: %d, listeners: %d}\n", 2*tasks, 4*hosts+8, 2*tasks)), "--listen", address)
	s := l.start(l.through(flags, l.built("answer"))).open(address)
	s.create(1)
	c := l.crowd(s, hosts)
	l.load(c, "a connection opened by each", hosts, func() { c.each((*crowdHost).connect) })
	l.load(c, "tasks made", tasks, func() { c.each((*crowdHost).create) })
	l.load(c, "streams opened, each for its host's tasks", hosts, func() { c.each((*crowdHost).listen) })
	l.load(c, "running tasks asked for", tasks, func() { c.each((*crowdHost).poll) })
	l.load(c, "tasks ended, and their hosts told", tasks, c.end)
	l.load(c, "ended tasks asked for", tasks, func() { c.each((*crowdHost).poll) })
}

// load measures a part of it, and what is resident then.
func (l *lab) load(c *crowd, what string, n int, do func()) {
	took := timed(do)
	l.settle()
	resident := must(memory(c.hosts[0].pid(), "VmRSS"))
	l.add(fmt.Sprintf("%d %s", n, what), perSecond(float64(n)/took), bytesText(resident)+" resident then", "", goal{})
}

// crowd is many hosts of one site.
type crowd struct {
	hosts []*crowdHost
	heard sync.WaitGroup

	missed atomic.Int64 // ends of tasks
}

// crowdHost shares its connections with nobody.
type crowdHost struct {
	*site
	crowd *crowd
	tasks int
	ids   []string
}

func (l *lab) crowd(s *site, n int) *crowd {
	c := &crowd{}
	for range n {
		own := *s
		own.client = newClient()
		c.hosts = append(c.hosts, &crowdHost{site: &own, crowd: c, tasks: 10})
		l.ends = append(l.ends, own.client.CloseIdleConnections)
	}
	return c
}

// each has all hosts do something, some at a time: the benchmark is one process.
func (c *crowd) each(do func(*crowdHost)) {
	next := make(chan *crowdHost, len(c.hosts))
	for _, h := range c.hosts {
		next <- h
	}
	close(next)
	together(min(64, len(c.hosts)), func(int) {
		for h := range next {
			do(h)
		}
	})
}

func (h *crowdHost) connect() {
	h.ask(request("server/discover", meta).line(nil, 0), statelessHeader("server/discover", ""))
}

func (h *crowdHost) create() {
	held := call(300, meta, hold)
	for i := range h.tasks {
		h.ids = append(h.ids, taskID(h.ask(held.line(nil, i), statelessHeader("tools/call", "echo"))))
	}
}

func (h *crowdHost) poll() {
	for i, id := range h.ids {
		h.ask(getTask(id).line(nil, i), statelessHeader("tasks/get", ""))
	}
}

// listen returns when the host will hear of its tasks, and reads on until all of
// them have ended.
func (h *crowdHost) listen() {
	ids := `"` + strings.Join(h.ids, `","`) + `"`
	q := request("subscriptions/listen", meta+`,"notifications":{"taskIds":[`+ids+`]}`)
	response := h.begin(q.line(nil, 1), statelessHeader("subscriptions/listen", ""))
	in := bufio.NewReaderSize(response.Body, 4<<10)
	must(in.Peek(len("event: message"))) // the acknowledgement is the first
	h.crowd.heard.Go(func() {
		defer response.Body.Close()
		for left := len(h.ids); left > 0; {
			line, err := in.ReadSlice('\n')
			if err != nil {
				h.crowd.missed.Add(int64(left))
				return
			}
			if bytes.Contains(line, []byte(`"status":"completed"`)) {
				left--
			}
		}
	})
}

// end lets the server answer, and waits until every host has heard of it.
func (c *crowd) end() {
	first := c.hosts[0]
	first.ask(call(0, meta, `"release":true`).line(nil, 1), statelessHeader("tools/call", "echo"))
	c.heard.Wait()
	if n := c.missed.Load(); n > 0 {
		first.fail(fmt.Sprintf("has not told of %d ends of tasks", n), nil)
	}
}
