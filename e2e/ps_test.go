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
	for dir, want := range map[string]string{
		p.StateDir:                fmt.Sprintf("process %d has it for itself", h.cmd.Process.Pid),
		t.TempDir():               "nothing runs in ",
		t.TempDir() + "/not/here": "does not exist",
	} {
		for _, command := range []string{"ps", "stop"} {
			cmd := exec.Command(proxyBinary(t), command, "--state-dir", dir)
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), want) {
				t.Errorf("%s %s: %v, %s", command, dir, err, out)
			}
		}
	}
}
