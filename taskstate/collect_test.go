package taskstate

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestDiskDoesNotGrowUnderASteadyLoad(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, &Options{SweepEvery: time.Hour})
	kept := create(t, s, Task{Request: []byte("q")}).ID
	complete(t, s, kept, make([]byte, 100<<10))
	for range 30 { // 120 MB in all
		for range 4 {
			complete(t, s, create(t, s, Task{TTL: 1}).ID, make([]byte, 1<<20))
		}
		s.sweep()
		s.collect()
	}
	if n := len(get(t, s, kept).Outcome); n != 100<<10 {
		t.Errorf("the task that is kept has %d bytes", n)
	}
	shut(t, s)
	if total := dirSize(t, dir); total > 90<<20 {
		t.Errorf("%d MB on disk", total>>20)
	}
}

// dirSize adds up the files; Badger cuts them to their content when it closes.
func dirSize(t *testing.T, dir string) (total int64) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	return total
}
