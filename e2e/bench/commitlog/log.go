// Package commitlog is a plain append log: records are written behind each other in a
// file, with one sync for all who wait.
package commitlog

import (
	"os"
	"sync"
)

// Log is safe for concurrent use.
type Log struct {
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

// Create begins a log in a new file.
func Create(path string) (*Log, error) {
	file, err := os.Create(path)
	return &Log{file: file, next: new(commit)}, err
}

// Close lets go of the file.
func (g *Log) Close() error { return g.file.Close() }

// Append returns when the record is on disk.
func (g *Log) Append(record []byte) error {
	g.mu.Lock()
	g.buf = append(g.buf, record...)
	c := g.next
	g.mu.Unlock()
	c.once.Do(func() { c.err = g.flush() })
	return c.err
}

// flush waits for the flush before it; who comes meanwhile joins this one.
func (g *Log) flush() error {
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
