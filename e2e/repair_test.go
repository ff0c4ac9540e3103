package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A store that cannot be trusted is not opened, and moved aside only where that is
// asked for. A file that is cut short is what a disk that lies leaves behind.
func TestDamagedStoreIsRepairedOnRequestOnly(t *testing.T) {
	for _, detach := range []string{"never", "auto"} {
		t.Run(detach, func(t *testing.T) {
			t.Parallel()
			p, _ := proxyAround(t, "legacy")
			p.Config, p.Flags = alwaysTasks, []string{"--detach", "never"}
			h := p.start(t)
			id := taskOf(t, h.ask(declared.toolCall("1", "echo", `{}`)))
			finishTask(h, id, "completed")
			h.stop()
			if err := os.Truncate(filepath.Join(p.StateDir, "MANIFEST"), 3); err != nil {
				t.Fatal(err)
			}
			if refused := p.start(t); refused.wait() != 1 || !strings.Contains(refused.stderr(), "--repair") {
				t.Errorf("it does not say what to do: %s", refused.stderr())
			}
			p.Flags = []string{"--detach", detach, "--repair"}
			h = p.start(t)
			if why := h.ask(declared.request("2", "tasks/get", `{"taskId":"`+id+`"}`)); why.code() != -32602 {
				t.Errorf("the former task: %s", why.Raw)
			}
			finishTask(h, taskOf(t, h.ask(declared.toolCall("3", "echo", `{}`))), "completed")
			moved, _ := filepath.Glob(filepath.Join(p.StateDir, "damaged-*", "MANIFEST"))
			if len(moved) != 1 || !strings.Contains(h.stderr(), filepath.Dir(moved[0])) {
				t.Errorf("moved to %q, and it says %s", moved, h.stderr())
			}
			if h.stop() != 0 {
				t.Error("the proxy does not end in good order")
			}
		})
	}
}
