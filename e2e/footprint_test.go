//go:build linux

package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The limits are promises, and generous beside what was measured.
func TestIdleProxyStaysSmall(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector multiplies memory")
	}
	p, _ := proxyAround(t, "legacy")
	h := p.start(t)
	h.ask(plain.toolCall("1", "release", `{}`))
	if kb := residentKB(t, h.cmd.Process.Pid); kb > 30<<10 {
		t.Errorf("%d KB resident, promised are 30 MB", kb)
	}
	if kb := diskKB(t, p.StateDir); kb == 0 || kb > 50<<10 {
		t.Errorf("%d KB on disk, promised are 50 MB", kb)
	}
}

func residentKB(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kb, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		t.Fatal(err)
	}
	return kb
}

// diskKB counts the blocks that the files really take: some are sparse.
func diskKB(t *testing.T, dir string) int64 {
	t.Helper()
	var blocks int64
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		var stat syscall.Stat_t
		if err == nil {
			err = syscall.Stat(path, &stat)
		}
		blocks += stat.Blocks
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return blocks / 2
}
