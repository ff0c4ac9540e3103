package e2e

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const examples = "../examples/migration/"

// exampleProxy is one that runs a configuration of examples/migration, from the
// root of the repository, at another port.
// With it goes another server than it names.
func exampleProxy(t *testing.T, config string, server proxied) *listening {
	t.Helper()
	server.Flags = []string{"--listen", "127.0.0.1:0", "--config", "examples/migration/" + config}
	server.StateDir, server.Host = t.TempDir()+"/state", hostOptions{Dir: ".."}
	return server.listen(t)
}

// exampleHost runs one of the scripts, and insists that what it prints has all of
// this, in this order.
func exampleHost(t *testing.T, l *listening, script, tool, arguments string, want ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "sh", examples+script, l.url, tool, arguments).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	rest := string(out)
	for _, text := range want {
		_, after, found := strings.Cut(rest, text)
		if !found {
			t.Fatalf("%s does not show %q in its place:\n%s", script, text, out)
		}
		rest = after
	}
}

func TestExampleOfAServerWithoutTasks(t *testing.T) {
	t.Parallel()
	l := exampleProxy(t, "legacy-server.yaml", proxied{})
	exampleHost(t, l, "host-extension.sh", "build", `{"seconds":4}`,
		`"resultType":"task"`, `"statusMessage":`, `"status":"completed"`, "built app: 8 packages, no errors")
}

func TestExampleOfAServerWithOlderTasks(t *testing.T) {
	t.Parallel()
	l := exampleProxy(t, "older-server.yaml", proxied{Upstream: npmServer(t, "server-everything")})
	exampleHost(t, l, "host-extension.sh", "simulate-research-query", `{"topic":"tides"}`,
		`"resultType":"task"`, `"statusMessage":"`, `"status":"completed"`, "# Research Report: tides")
}

func TestExampleOfAServerOfTheExtension(t *testing.T) {
	t.Parallel()
	server := exampleProxy(t, "legacy-server.yaml", proxied{})
	l := exampleProxy(t, "newer-server.yaml", proxied{URL: server.url})
	exampleHost(t, l, "host-older.sh", "build", `{"seconds":4}`,
		`"tasks":{`, `"task":{"taskId":`, "model-immediate-response", `"status":"working"`, `"status":"completed"`,
		"related-task", "built app: 8 packages, no errors")
}

// What the walk-through says to run is what there is, and what is tested.
func TestExamplesAreThoseOfTheWalkThrough(t *testing.T) {
	text, err := os.ReadFile(examples + "README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(examples)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if file.Name() != "README.md" && !strings.Contains(string(text), "examples/migration/"+file.Name()) {
			t.Errorf("the walk-through does not use %s", file.Name())
		}
	}
	for _, run := range []string{`build '{"seconds":4}'`, `simulate-research-query '{"topic":"tides"}'`} {
		if !strings.Contains(string(text), run) {
			t.Errorf("the walk-through does not run %s", run)
		}
	}
}
