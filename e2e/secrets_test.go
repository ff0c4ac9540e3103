package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Command lines hold keys: no part of one may lie in the state directory,
// whatever stage its tasks are in.
func TestCommandLineIsNotAtRest(t *testing.T) {
	const secret = "--api-key=sk-SECRET-0123456789"
	p, seen := proxyAround(t, "legacy")
	p.Upstream, p.Config = append(p.Upstream, "plain", secret), alwaysTasks
	h := p.start(t)
	h.ask(declared.toolCall("1", "gate", `{"gate":"shut"}`))
	h.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
	finishTask(h, taskOf(t, h.ask(declared.toolCall("2", "release", `{}`))), "completed")
	h.kill()
	parts := [][]byte{[]byte("sk-SECRET"), []byte("--api-key")}
	for _, word := range p.Upstream {
		if len(word) > 8 {
			parts = append(parts, []byte(word))
		}
	}
	checkNotAtRest(t, p.StateDir, parts)
}

func checkNotAtRest(t *testing.T, dir string, parts [][]byte) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		files++
		data, err := os.ReadFile(path)
		for _, part := range parts {
			if bytes.Contains(data, part) {
				t.Errorf("%s holds %q", path, part)
			}
		}
		return err
	})
	if err != nil || files == 0 {
		t.Errorf("%d files were read: %v", files, err)
	}
}
