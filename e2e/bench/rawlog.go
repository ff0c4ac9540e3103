package main

import (
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/bench/commitlog"
)

// rawLog is a log without anybody who speaks to it.
type rawLog struct{ *commitlog.Log }

func (l *lab) rawLog() *rawLog {
	log := must(commitlog.Create(l.path("log")))
	l.ends = append(l.ends, func() { _ = log.Close() })
	return &rawLog{log}
}

// rate has that many writers append a record of size bytes, n in all.
func (g *rawLog) rate(n, writers, size int) sample {
	record := make([]byte, size)
	began := time.Now()
	together(writers, func(int) {
		for range n / writers {
			check(g.Append(record))
		}
	})
	return sample{value: float64(n/writers*writers) / time.Since(began).Seconds()}
}
