// Package peers installs packages from npm for the tests, once for each lock
// file, under the user's cache directory.
package peers

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Install returns a directory that holds the files of source (scripts,
// package.json, package-lock.json; no Go files, no directories) and beside
// them the packages that the lock file names. It installs only when no earlier
// run did: the directory's name is a hash of those files, and it appears under
// that name when it is complete, so several test binaries may call this at
// once. No install script of any package is run.
func Install(source string) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	files, err := read(source)
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, "mcp-taskproxy-e2e", fingerprint(files))
	if _, err := os.Stat(final); err == nil {
		return final, nil
	}
	return final, install(files, final)
}

type file struct {
	name string
	data []byte
}

func read(source string) ([]file, error) {
	entries, err := os.ReadDir(source)
	var files []file
	for _, entry := range entries {
		if entry.IsDir() || filepath.Ext(entry.Name()) == ".go" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(source, entry.Name()))
		if err != nil {
			return nil, err
		}
		files = append(files, file{entry.Name(), data})
	}
	return files, err
}

func fingerprint(files []file) string {
	hash := sha256.New()
	for _, f := range files {
		fmt.Fprintf(hash, "%s %d\n%s", f.name, len(f.data), f.data)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)[:8])
}

func install(files []file, final string) error {
	if err := os.MkdirAll(filepath.Dir(final), 0o700); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(final), "draft-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	if err := fill(draft, files); err != nil {
		return err
	}
	if err := os.Rename(draft, final); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

func fill(dir string, files []file) error {
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name), f.data, 0o600); err != nil {
			return err
		}
	}
	npm := exec.Command("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
}
