package taskstate

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// BenchmarkCreate measures durable creation of 1 KB tasks, beside the least that
// any durable store could do: append to a file, one fdatasync for all who wait.
func BenchmarkCreate(b *testing.B) {
	request := bytes.Repeat([]byte("x"), 1<<10)
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("log/writers=%d", writers), func(b *testing.B) {
			l := newRawLog(b)
			parallel(b, writers, func() error { return l.append(request) })
		})
		b.Run(fmt.Sprintf("store/writers=%d", writers), func(b *testing.B) {
			s := open(b, b.TempDir(), nil)
			parallel(b, writers, func() error {
				_, err := s.Create(context.Background(), Task{TTL: time.Hour, Request: request})
				return err
			})
			b.StopTimer()
			s.Close()
		})
	}
}

func parallel(b *testing.B, writers int, write func() error) {
	work := make(chan struct{})
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range work {
				if err := write(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	b.ResetTimer()
	for range b.N {
		work <- struct{}{}
	}
	close(work)
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
}

// rawLog is an append-only file with group commit.
type rawLog struct {
	f      *os.File
	mu     sync.Mutex
	buf    []byte
	synced *round // of what is in buf
	busy   sync.Mutex
}

type round struct {
	once sync.Once
	err  error
}

func newRawLog(b *testing.B) *rawLog {
	f, err := os.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return &rawLog{f: f, synced: new(round)}
}

func (l *rawLog) append(rec []byte) error {
	l.mu.Lock()
	l.buf = append(l.buf, rec...)
	r := l.synced
	l.mu.Unlock()
	r.once.Do(func() { r.err = l.flush() })
	return r.err
}

// flush waits for the flush before it; who comes meanwhile joins this one.
func (l *rawLog) flush() error {
	l.busy.Lock()
	defer l.busy.Unlock()
	l.mu.Lock()
	buf := l.buf
	l.buf, l.synced = nil, new(round)
	l.mu.Unlock()
	if _, err := l.f.Write(buf); err != nil {
		return err
	}
	return unix.Fdatasync(int(l.f.Fd()))
}

func BenchmarkOpenWithFinishedTasks(b *testing.B) {
	for _, n := range []int{0, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			fill(b, dir, n)
			for b.Loop() {
				s := open(b, dir, nil)
				b.StopTimer()
				s.Close()
				b.StartTimer()
			}
		})
	}
}

func fill(b *testing.B, dir string, n int) {
	s := open(b, dir, nil)
	payload := bytes.Repeat([]byte("x"), 1<<10)
	work := make(chan struct{})
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for range work {
				task, err := s.Create(context.Background(), Task{TTL: time.Hour})
				if err == nil {
					_, err = s.Finish(context.Background(), task.ID, Outcome{Status: Completed, Payload: payload})
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	for range n {
		work <- struct{}{}
	}
	close(work)
	wg.Wait()
	s.Close()
}

func BenchmarkGetRunning(b *testing.B) {
	s := open(b, b.TempDir(), nil)
	task, err := s.Create(context.Background(), Task{TTL: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Get(task.ID); err != nil {
			b.Fatal(err)
		}
	}
}
