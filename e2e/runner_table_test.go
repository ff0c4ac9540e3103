package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// process is a line of the process table.
type process struct {
	pid, parent, group, session int
	args                        []string
}

func (p process) String() string { return fmt.Sprintf("%d %.200q", p.pid, p.args) }

// isRunner leaves out the process that starts it and is gone at once, and the one
// that keeps it.
func (p process) isRunner() bool { return slices.Contains(p.args, "--forked") }

func (p process) isKeeper() bool { return slices.Contains(p.args, "--keeper") }

// marked are the processes that carry the mark of a test; one that is dead has
// none. There are none where there is no /proc.
func marked(mark string) (all []process) {
	found, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is a good one
	for _, path := range found {
		variables, _ := os.ReadFile(path)
		if slices.Contains(strings.Split(string(variables), "\x00"), markName+"="+mark) {
			all = append(all, processAt(filepath.Dir(path)))
		}
	}
	return all
}

// processAt reads what the kernel says of a process, behind its name: state,
// parent, group, session.
func processAt(dir string) process {
	p := process{}
	p.pid, _ = strconv.Atoi(filepath.Base(dir))
	line, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	p.args = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	stat, _ := os.ReadFile(filepath.Join(dir, "stat"))
	_, err := fmt.Sscan(string(stat)[strings.LastIndex(string(stat), ")")+1:], new(string), &p.parent, &p.group, &p.session)
	if err != nil {
		return process{pid: p.pid} // it has ended
	}
	return p
}

// awaitNobody waits until nothing that the test has started is left.
func awaitNobody(t testing.TB, mark string) {
	t.Helper()
	late := time.Now().Add(patience)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for left := marked(mark); len(left) > 0; left = marked(mark) {
		if time.Now().After(late) {
			t.Errorf("still there after %v: %v", patience, left)
			return
		}
		<-again.C
	}
}
