package e2e

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
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

// installPeers installs once for each content of peers/: the directory's name is
// its hash, and it appears under that name only when it is complete.
var installPeers = sync.OnceValues(func() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	hash, err := hashPeers()
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, "mcp-taskproxy-e2e", hash)
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	return final, installInto(final)
})

func installInto(final string) error {
	if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(final), "draft-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	if err := fillPeers(draft); err != nil {
		return err
	}
	if err := os.Rename(draft, final); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

func hashPeers() (string, error) {
	hash := sha256.New()
	files, err := filepath.Glob(filepath.Join("peers", "*"))
	for _, file := range files {
		data, readErr := os.ReadFile(file)
		if readErr != nil {
			return "", readErr
		}
		fmt.Fprintf(hash, "%s %d\n%s", filepath.Base(file), len(data), data)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8]), err
}

// fillPeers runs no install scripts: what is run is what the lock file names.
func fillPeers(dir string) error {
	if err := os.CopyFS(dir, os.DirFS("peers")); err != nil {
		return err
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
}

// npmServer is the command of a server among the packages.
func npmServer(t testing.TB, name string, args ...string) []string {
	t.Helper()
	script := filepath.Join(npmPeers(t), "node_modules", "@modelcontextprotocol", name, "dist", "index.js")
	return append([]string{"node", script}, args...)
}
