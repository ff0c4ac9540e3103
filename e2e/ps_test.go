//go:build unix

package e2e

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// What has no runner says why, where a directory is named.
func TestDirectoryWithoutARunner(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy")
	h := p.start(t)
	h.ask(declared.toolCall("1", "look", `{}`))
	for dir, want := range map[string]struct {
		text string
		code int
	}{
		p.StateDir:                {fmt.Sprintf("process %d has it for itself", h.cmd.Process.Pid), 0},
		t.TempDir():               {"nothing runs in ", 0},
		t.TempDir() + "/not/here": {"no such file or directory", 2},
	} {
		for _, command := range []string{"ps", "stop"} {
			cmd := exec.Command(proxyBinary(t), command, "--state-dir", dir)
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != want.code || !strings.Contains(string(out), want.text) {
				t.Errorf("%s %s: status %d, %s", command, dir, code, out)
			}
		}
	}
}
