package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// readmeBlock returns the fenced block behind <!-- name --> in the README.
func readmeBlock(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "<!-- "+name+" -->\n```")
	if !ok {
		t.Fatalf("README.md has no block %q", name)
	}
	_, rest, _ = strings.Cut(rest, "\n")
	block, _, ok := strings.Cut(rest, "\n```")
	if !ok {
		t.Fatalf("block %q of README.md does not end", name)
	}
	return block
}

func TestReadmeDemoShowsATaskFromHandleToResult(t *testing.T) {
	args := strings.Fields(readmeBlock(t, "demo"))
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	mark := t.TempDir()
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "MCP_TASKPROXY_DETACH=auto", markName+"="+mark)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	awaitNobody(t, mark)
	if err != nil {
		t.Fatalf("%q: %v\n%s", args, err, out)
	}
	rest := string(out)
	for _, want := range []string{"the call is now task", "working: ", "opening the next one", "completed: "} {
		_, after, found := strings.Cut(rest, want)
		if !found {
			t.Fatalf("the demo does not show %q in its place:\n%s", want, out)
		}
		rest = after
	}
}

// The other of the two commands cannot be run from here: it runs this test.
func TestReadmeTestCommandNamesAllPackages(t *testing.T) {
	if got, want := readmeBlock(t, "test"), "go test -timeout 30m ./..."; got != want {
		t.Errorf("README.md tests with %q, want %q", got, want)
	}
}

func TestReadmeConfigurationIsAccepted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "readme.yaml")
	if err := os.WriteFile(file, []byte(readmeBlock(t, "config")), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), proxyBinary(t), "config", "check", file).CombinedOutput()
	if err != nil {
		t.Errorf("config check: %v\n%s", err, out)
	}
}

// The example of a request by hand gets a task, at another port.
func TestReadmeRequestByHandGetsATask(t *testing.T) {
	t.Parallel()
	p := &proxied{
		Flags: []string{"--listen", "127.0.0.1:0", "--after", "100ms"}, StateDir: t.TempDir() + "/state",
		Upstream: []string{"go", "run", "../examples/slowserver"},
	}
	l := p.listen(t)
	script := strings.Replace(readmeBlock(t, "curl"), "http://127.0.0.1:8080/mcp", l.url, 1)
	out, err := exec.CommandContext(t.Context(), "sh", "-c", "set -e; "+strings.Replace(script, "curl ", "curl -sS ", 1)).Output()
	if err != nil || !strings.Contains(string(out), `"resultType":"task"`) {
		t.Errorf("%v: %s", err, out)
	}
}

func TestReadmeMakesATokenThatIsAdmitted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", readmeBlock(t, "token"))
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TOKEN="+aliceToken)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	p, _ := proxyAround(t, "modern")
	p.Flags = []string{"--tokens", filepath.Join(dir, "tokens.txt")}
	l := p.listen(t)
	if a := l.do(t, rawRequest{Body: releaseCall, Header: bearer(aliceToken)}); a.Status != 200 {
		t.Errorf("status %d, %s", a.Status, a.Body)
	}
	l.do(t, rawRequest{Body: releaseCall, Header: bearer(bobToken)}).refusedWith(t, 401, 0)
}

func TestReadmeInstallsThisModule(t *testing.T) {
	mod, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	if want := "go install " + strings.TrimPrefix(first, "module ") + "@latest"; readmeBlock(t, "install") != want {
		t.Errorf("README.md installs with %q, want %q", readmeBlock(t, "install"), want)
	}
}
