package taskstate

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// Tasks come and expire, large outcomes (in the value log) and small ones (in the
// tables): what they took is free again, while the store is being written to.
func TestDiskDoesNotGrowUnderASteadyLoad(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &Options{SweepEvery: time.Hour})
	kept := create(t, s, Task{Request: []byte("q")}).ID
	complete(t, s, kept, make([]byte, 100<<10))
	var logs, tables int64
	for range 20 { // 80 MB and 18 MB in all
		var wg sync.WaitGroup
		for i := range 304 {
			wg.Go(func() {
				size := 3 << 10
				if i < 4 {
					size = 1 << 20
				}
				task, err := s.Create(context.Background(), Task{TTL: 1})
				if err == nil {
					_, err = s.Finish(context.Background(), task.ID, Outcome{Status: Completed, Payload: make([]byte, size)})
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		s.sweep()
		s.collect()
		logs, tables = max(logs, size(t, dir, "*.vlog")), max(tables, size(t, dir, "*.sst"))
	}
	if logs > 100<<20 || tables > 12<<20 {
		t.Errorf("%d MB of logs and %d MB of tables at the worst", logs>>20, tables>>20)
	}
	if n := len(get(t, s, kept).Outcome); n != 100<<10 {
		t.Errorf("the task that is kept has %d bytes", n)
	}
	if n, _ := s.Usage(); n != 1 {
		t.Errorf("%d tasks are left", n)
	}
	shut(t, s)
	if total := size(t, dir, "*"); total > 90<<20 {
		t.Errorf("%d MB on disk", total>>20)
	}
}

// size is what files take on disk.
func size(t *testing.T, dir, pattern string) (total int64) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, pattern))
	for _, f := range files {
		if info, err := os.Stat(f); err == nil { // else it was deleted just now
			total += allocated(info)
		}
	}
	t.Logf("%s %d KB", pattern, total>>10)
	return total
}
