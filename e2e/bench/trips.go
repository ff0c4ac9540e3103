package main

import (
	"slices"
	"time"
)

type nextLine = func(b []byte, i int) []byte

// initialize opens a session of the older revisions.
func (p *peer) initialize() *peer {
	p.ask([]byte(initializeRequest + "\n"))
	p.send([]byte(initializedNotice + "\n"))
	return p
}

// trips makes n round trips, one at a time, and returns their median in seconds.
// The i-th line to send is built by next, in the memory that it is given.
func (p *peer) trips(n int, next nextLine) sample {
	took := make([]float64, n)
	var line []byte
	return p.metered(n, func() float64 {
		for i := range n {
			line = next(line, i)
			sent := time.Now()
			p.send(line)
			p.result()
			took[i] = time.Since(sent).Seconds()
		}
		slices.Sort(took)
		return took[n/2]
	})
}

// rate keeps that many requests in flight until n are answered, and returns how
// many that is in a second. What is in flight must fit into the pipes.
func (p *peer) rate(n, flight int, next nextLine) sample {
	var line []byte
	return p.metered(n, func() float64 {
		began := time.Now()
		for i := range n + flight {
			if i >= flight {
				p.result()
			}
			if i < n {
				line = next(line, i)
				p.send(line)
			}
		}
		return float64(n) / time.Since(began).Seconds()
	})
}

// metered adds the processor time of each of n calls.
func (p *peer) metered(n int, measure func() float64) sample {
	before := processorTime(p.pids)
	value := measure()
	return sample{value, (processorTime(p.pids) - before).Seconds() / float64(n)}
}

// processorTime is what the processes have used together.
func processorTime(pids []int) (sum time.Duration) {
	for _, pid := range pids {
		sum += must(processTime(pid))
	}
	return sum
}
