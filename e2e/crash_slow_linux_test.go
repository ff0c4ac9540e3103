package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// What has to wait for a slow disk, as the look at a task that ended long ago may,
// holds up nothing else of its host.
func TestSlowDiskHoldsUpNoOtherRequest(t *testing.T) {
	t.Parallel()
	s := newScene(t, crashWays[0], rand.New(rand.NewPCG(1, 2)), &crashCounts{seen: map[string]map[string]int{}})
	h := s.spawn(-1)
	if !s.always {
		t.Fatal("another seed is needed: this one's calls are no tasks at once")
	}
	ended := taskOf(t, h.ask(declared.toolCall("1", "echo", `{}`)))
	finishTask(h, ended, "completed")
	h.stop()
	s.random = rand.New(rand.NewPCG(1, 2))
	h = s.spawn(-1)
	gate := filepath.Join(t.TempDir(), "gate")
	running := taskOf(t, h.ask(declared.toolCall("2", "gate", fmt.Sprintf(`{"file":%q}`, gate))))
	disk := s.disks[len(s.disks)-1]
	disk.holdOnly(unix.SYS_MSYNC)
	h.send(declared.toolCall("3", "echo", `{}`))
	h.await("a sync to be held", func() bool { held, _, _ := disk.look(); return held })
	h.send(declared.request("4", "tasks/get", fmt.Sprintf(`{"taskId":%q}`, ended)))
	if m := h.ask(declared.request("5", "tasks/get", fmt.Sprintf(`{"taskId":%q}`, running))); m.text("status") != "working" {
		t.Errorf("the task that runs: %s", m.Raw)
	}
	disk.letGo()
	if m := h.response("4"); m.text("status") != "completed" {
		t.Errorf("the one that has ended: %s", m.Raw)
	}
	mustDo(t, os.WriteFile(gate, nil, 0o600))
	finishTask(h, running, "completed")
	h.stop()
}
