package e2e

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// heard is what the drivers of peers/ print.
type heard struct {
	Era, Server, Kind, TaskID, Text, Resource string
	Tools, Prompts                            int
	States                                    []string
	Outcome                                   struct {
		Status string
		Result struct{ Content []struct{ Text string } }
		Error  json.RawMessage
	}
}

func runDriver(t *testing.T, script string, args ...string) heard {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	driver := exec.CommandContext(ctx, "node", append([]string{filepath.Join(npmPeers(t), script)}, args...)...)
	driver.WaitDelay = time.Second
	var stderr strings.Builder
	driver.Stderr = &stderr
	out, err := driver.Output()
	var h heard
	if err == nil {
		err = json.Unmarshal(out, &h)
	}
	if err != nil {
		t.Fatalf("%s: %v\n%s\nstderr:\n%s", script, err, out, cut(stderr.String()))
	}
	return h
}

func TestTypeScriptClientInBothEras(t *testing.T) {
	for mode, era := range map[string]string{"legacy": "legacy", "auto": "modern"} {
		for _, server := range []string{"legacy", "modern"} {
			t.Run(era+" host, "+server+" server", func(t *testing.T) {
				t.Parallel()
				p, _ := proxyAround(t, server)
				got := runDriver(t, "client.mjs", append([]string{mode}, p.argv(t)...)...)
				want := heard{Era: era, Server: server + "-fixture", Text: "done after 0.1s", Resource: "1.0", Tools: got.Tools, Prompts: 1}
				if diff := cmp.Diff(want, got); diff != "" || got.Tools == 0 {
					t.Errorf("the client met something else (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func TestTypeScriptTasksFromDeclarationToResult(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2024-11-05")
	p.Config = "after: 50ms\npoll_interval: 100ms\n"
	got := runDriver(t, "tasks.mjs", append([]string{"slow", `{"seconds":0.5}`}, p.argv(t)...)...)
	if got.Era != "modern" || got.Kind != "task" || got.TaskID == "" || got.Outcome.Status != "completed" {
		t.Fatalf("no task was driven to its result: %+v", got)
	}
	if text := got.Outcome.Result.Content[0].Text; text != "done after 0.5s" {
		t.Errorf("the result says %q", text)
	}
	if len(got.States) == 0 || got.States[0] != "working" {
		t.Errorf("states seen: %q", got.States)
	}
	if n := seen.count("call slow"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

func TestTypeScriptTaskThatFails(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy")
	p.Config = "task: always\npoll_interval: 100ms\n"
	got := runDriver(t, "tasks.mjs", append([]string{"rpcerror", `{}`}, p.argv(t)...)...)
	if got.Kind != "task" || got.Outcome.Status != "failed" {
		t.Errorf("want a failed task: %+v", got)
	}
}
