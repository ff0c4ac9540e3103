package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/peers"
)

// tools are the programs that the rows run.
type tools struct {
	dir    string // of those that were built; the caller removes it
	module string // the directory of the module
	proxy  string
	soak   time.Duration // how long that row takes
}

func buildTools() (*tools, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list, in a directory of the module: %w", err)
	}
	t := &tools{module: strings.TrimSpace(string(out)), proxy: os.Getenv("MCP_TASKPROXY_E2E_BINARY")}
	if t.dir, err = os.MkdirTemp("", "taskproxy-bench-"); err != nil {
		return nil, err
	}
	packages := []string{"./e2e/bench/peer/...", "./e2e/servers/copier"}
	if t.proxy == "" {
		t.proxy = t.built("mcp-taskproxy")
		packages = append(packages, ".")
	}
	if err := t.build(packages); err != nil {
		_ = os.RemoveAll(t.dir)
		return nil, err
	}
	return t, nil
}

func (t *tools) build(packages []string) error {
	cmd := exec.Command("go", append([]string{"build", "-buildvcs=false", "-o", t.dir + "/"}, packages...)...)
	cmd.Dir = t.module
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	return nil
}

func (t *tools) built(name string) string {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(t.dir, name)
}

// npm is the command line of a program of npm/, at the version of its lock file.
func (t *tools) npm(name string, args ...string) ([]string, error) {
	dir, err := peers.Install(filepath.Join(t.module, "e2e", "bench", "npm"))
	if err != nil {
		return nil, err
	}
	return append([]string{"node", filepath.Join(dir, "node_modules", ".bin", name)}, args...), nil
}
