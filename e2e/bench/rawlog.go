package main

import (
	"os"
	"sync"
	"time"
)

// rawLog is the least that any durable store can do: records are appended to a
// file, with one fdatasync for all who wait.
type rawLog struct {
	file *os.File
	mu   sync.Mutex
	buf  []byte
	next *commit // of what is in buf
	busy sync.Mutex
}

type commit struct {
	once sync.Once
	err  error
}

func (l *lab) rawLog() *rawLog {
	file := must(os.Create(l.path("log")))
	l.ends = append(l.ends, func() { _ = file.Close() })
	return &rawLog{file: file, next: new(commit)}
}

// rate has that many writers append a record of size bytes, n in all.
func (g *rawLog) rate(n, writers, size int) sample {
	record := make([]byte, size)
	began := time.Now()
	together(writers, func(int) {
		for range n / writers {
			check(g.append(record))
		}
	})
	return sample{value: float64(n/writers*writers) / time.Since(began).Seconds()}
}

func (g *rawLog) append(record []byte) error {
	g.mu.Lock()
	g.buf = append(g.buf, record...)
	c := g.next
	g.mu.Unlock()
	c.once.Do(func() { c.err = g.flush() })
	return c.err
}

// flush waits for the flush before it; who comes meanwhile joins this one.
func (g *rawLog) flush() error {
	g.busy.Lock()
	defer g.busy.Unlock()
	g.mu.Lock()
	buf := g.buf
	g.buf, g.next = nil, new(commit)
	g.mu.Unlock()
	if _, err := g.file.Write(buf); err != nil {
		return err
	}
	return dataSync(g.file)
}
