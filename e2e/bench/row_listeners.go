package main

import (
	"bufio"
	"bytes"
	"fmt"
	"sync"
)

func measureListeners(l *lab) {
	for _, size := range []int{200, 64 << 10} {
		for _, n := range []int{l.n(10, 2), l.n(100, 3), l.n(1000, 4)} {
			l.part(func() { l.listeners(n, size) })
		}
	}
}

// listeners has n hosts listen to a task, each on a stream of its own, and
// measures from the end of the task until the last one has heard of it.
func (l *lab) listeners(n, size int) {
	address := l.address()
	flags := append(l.config("task: always\nlimits: {connections: 4096, running: 0, running_per_owner: 0}\n"), "--listen", address)
	s := l.start(l.through(flags, l.built("answer"))).open(address)
	r := compare(l.n(5, 1), way{"ours", func() sample { return s.endHeard(n, size) }})
	took, cpu := r.value("ours"), r.cpu("ours")
	l.add(fmt.Sprintf("%d listeners, result of %s", n, sizeText(size)),
		fmt.Sprintf("the last after %s; %s of processor each", seconds(took), seconds(cpu)), "", "", goal{})
}

func (s *site) endHeard(n, size int) (heard sample) {
	id := s.create(1)[0]
	var listening, all sync.WaitGroup
	listening.Add(n)
	all.Go(func() {
		together(n, func(int) { s.listen(id, listening.Done) })
	})
	listening.Wait()
	release := call(0, meta, fmt.Sprintf(`"release":true,"bytes":%d`, size)).line(nil, 1)
	return s.metered(n, func() float64 {
		return timed(func() {
			s.ask(release, statelessHeader("tools/call", "echo"))
			all.Wait()
		})
	})
}

// listen returns when it has heard that the task is completed.
func (s *site) listen(id string, ready func()) {
	q := request("subscriptions/listen", meta+`,"notifications":{"taskIds":["`+id+`"]}`)
	response := s.begin(q.line(nil, 2), statelessHeader("subscriptions/listen", ""))
	defer response.Body.Close()
	in := bufio.NewReaderSize(response.Body, 128<<10)
	for {
		line, err := in.ReadSlice('\n')
		check(err)
		switch {
		case bytes.Contains(line, []byte("notifications/subscriptions/acknowledged")):
			ready()
		case bytes.Contains(line, []byte(`"status":"completed"`)):
			return
		}
	}
}
