package taskstate

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/bench/commitlog"
)

// BenchmarkCreate measures durable creation of 1 KB tasks against the least that
// any durable store could do: append to a file, one fdatasync for all who wait.
// The two take turns, because what a disk does changes from second to second; of
// the many turns the medians are compared.
func BenchmarkCreate(b *testing.B) {
	request := bytes.Repeat([]byte("x"), 1<<10)
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			l, s := newLog(b), open(b, b.TempDir(), nil)
			turn := 50 + 20*writers
			var raw, store []time.Duration
			for b.Loop() {
				raw = append(raw, parallel(b, writers, turn, func() error { return l.Append(request) }))
				store = append(store, parallel(b, writers, turn, func() error {
					_, err := s.Create(context.Background(), Task{TTL: time.Hour, Request: request})
					return err
				}))
			}
			b.ReportMetric(float64(turn)/median(raw).Seconds(), "log/s")
			b.ReportMetric(float64(turn)/median(store).Seconds(), "creates/s")
			b.ReportMetric(median(raw).Seconds()/median(store).Seconds(), "ratio")
		})
	}
}

func median(d []time.Duration) time.Duration { return slices.Sorted(slices.Values(d))[len(d)/2] }

// parallel is how long n writes take, made by a number of writers.
func parallel(b *testing.B, writers, n int, write func() error) time.Duration {
	var left atomic.Int64
	left.Store(int64(n))
	started := time.Now()
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := write(); err != nil {
					b.Error(err)
				}
			}
		})
	}
	wg.Wait()
	return time.Since(started)
}

func newLog(b *testing.B) *commitlog.Log {
	l, err := commitlog.Create(filepath.Join(b.TempDir(), "log"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = l.Close() })
	return l
}

// BenchmarkOpen compares opening a store of finished tasks with what Badger alone
// takes to open the same directory.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{0, 10_000, 100_000} {
		b.Run(fmt.Sprintf("tasks=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			fill(b, dir, n)
			var bare, ours []time.Duration
			for b.Loop() {
				started := time.Now()
				db, err := openOnce(dir, &badgerLog{})
				bare = append(bare, time.Since(started))
				if err != nil || db.Close() != nil {
					b.Fatal(err)
				}
				started = time.Now()
				s := open(b, dir, nil)
				ours = append(ours, time.Since(started))
				shut(b, s)
			}
			b.ReportMetric(float64(median(bare).Microseconds())/1000, "badger-ms")
			b.ReportMetric(float64(median(ours).Microseconds())/1000, "store-ms")
			b.ReportMetric(median(ours).Seconds()/median(bare).Seconds(), "ratio")
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
