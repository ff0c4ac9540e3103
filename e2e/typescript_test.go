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
	Era, Server, Text, Resource string
	Tools, Prompts, Listed      int
	Questions, News             []string
	Calls                       []followed
}

// followed is a call that a driver has followed to its end.
type followed struct {
	Tool, Kind, TaskID string
	States             []string
	Outcome            struct {
		Status string
		Result json.RawMessage
		Error  json.RawMessage
	}
	// What tasks/result says, of drivers of revision 2025-11-25.
	Payload, Refusal json.RawMessage
}

// job is what drivers are told to do: peers/connect.mjs explains it.
type job struct {
	Mode    string          `json:"mode,omitempty"`
	Command []string        `json:"command,omitempty"`
	URL     string          `json:"url,omitempty"`
	Answer  json.RawMessage `json:"answer,omitempty"`
	Calls   []jobCall       `json:"calls"`
}

type jobCall struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Open   string          `json:"open,omitempty"`
	Cancel bool            `json:"cancel,omitempty"`
}

func (j job) run(t *testing.T, script string) heard {
	t.Helper()
	told, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	return runDriver(t, script, string(told))
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
	got := job{Mode: "auto", Command: p.argv(t), Calls: []jobCall{{Tool: "slow", Args: []byte(`{"seconds":0.5}`)}}}.run(t, "tasks.mjs")
	call := got.Calls[0]
	if got.Era != "modern" || call.Kind != "task" || call.TaskID == "" || call.Outcome.Status != "completed" {
		t.Fatalf("no task was driven to its result: %+v", got)
	}
	if text := firstText(call.Outcome.Result); text != "done after 0.5s" {
		t.Errorf("the result says %q", text)
	}
	if len(call.States) == 0 || call.States[0] != "working" {
		t.Errorf("states seen: %q", call.States)
	}
	if n := seen.count("call slow"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}
