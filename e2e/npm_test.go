package e2e

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/peers"
)

// npmPeers is the directory with the drivers of peers/ and the packages of its
// lock file beside them. It skips the test where Node 20 or npm is missing.
func npmPeers(t testing.TB) string {
	t.Helper()
	if reason := nodeMissing(); reason != "" {
		t.Skipf("needs Node 20 or newer and npm: %s", reason)
	}
	dir, err := installPeers()
	if err != nil {
		t.Fatalf("installing the npm packages of peers/package-lock.json: %v", err)
	}
	return dir
}

var nodeMissing = sync.OnceValue(func() string {
	if _, err := exec.LookPath("npm"); err != nil {
		return err.Error()
	}
	out, err := exec.Command("node", "--version").Output()
	if err != nil {
		return err.Error()
	}
	version := strings.TrimSpace(string(out))
	major, _, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	if n, err := strconv.Atoi(major); err != nil || n < 20 {
		return "node is " + version
	}
	return ""
})

var installPeers = sync.OnceValues(func() (string, error) { return peers.Install("peers") })

// npmServer is the command of a server among the packages.
func npmServer(t testing.TB, name string, args ...string) []string {
	t.Helper()
	script := filepath.Join(npmPeers(t), "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
	return append([]string{"node", script}, args...)
}
