package auth

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

func TestTheKeyIsMadeOnceAndKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	var keys [8][]byte
	var all sync.WaitGroup
	for n := range keys {
		all.Go(func() {
			var err error
			if keys[n], err = LoadKey(dir); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for n := range keys {
		if len(keys[n]) != keySize || !bytes.Equal(keys[n], keys[0]) {
			t.Errorf("key %d is %x, key 0 is %x", n, keys[n], keys[0])
		}
	}
	if other, err := LoadKey(t.TempDir()); err != nil || bytes.Equal(other, keys[0]) {
		t.Errorf("another directory: key %x, error %v", other, err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("in the directory: %v, %v; want the key alone", entries, err)
	}
}

func TestAKeyThatAnotherProcessHasJustMadeIsNotReplaced(t *testing.T) {
	dir := t.TempDir()
	first, err := LoadKey(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := createKey(dir, filepath.Join(dir, keyFile)); err != nil {
		t.Fatal(err)
	}
	if second, err := LoadKey(dir); err != nil || !bytes.Equal(first, second) {
		t.Errorf("the key was %x and is %x, error %v", first, second, err)
	}
}

func TestTheKeyIsClosedToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode bits on Windows")
	}
	dir := t.TempDir()
	if _, err := LoadKey(dir); err != nil {
		t.Fatal(err)
	}
	wantClosed(t, dir)
	if err := os.Chmod(filepath.Join(dir, keyFile), 0o664); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(dir); err != nil {
		t.Fatal(err)
	}
	wantClosed(t, dir)
}

func wantClosed(t *testing.T, dir string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(dir, keyFile))
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode() != 0o600 {
		t.Errorf("mode %v, want 0600", info.Mode())
	}
}

func TestADamagedKeyIsNotReplaced(t *testing.T) {
	for _, content := range []string{"", "short", strings.Repeat("x", keySize+1)} {
		dir := t.TempDir()
		path := filepath.Join(dir, keyFile)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if key, err := LoadKey(dir); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%d bytes: key %x, error %v", len(content), key, err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Errorf("the key file now holds %q, %v", got, err)
		}
	}
}

func TestADirectoryThatCannotBeWrittenIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(filepath.Join(file, "state")); err == nil || !strings.HasPrefix(err.Error(), "owner key: ") {
		t.Errorf("error %v", err)
	}
}

func TestOwnersDependOnTheKeyAndOnEachPart(t *testing.T) {
	other := bytes.Repeat([]byte{8}, keySize)
	seen := map[string]bool{}
	for _, owner := range []string{
		ownerName(testKey, "jwt", "https://a", "b"), ownerName(other, "jwt", "https://a", "b"),
		ownerName(testKey, "jwt", "https://", "ab"), ownerName(testKey, "token", "https://a", "b"),
		ownerName(testKey, "token", "alice"), ownerName(testKey, "jwt", "https://a", "alice"),
		ownerName(testKey, "jwt", "https://a", "b", ""),
	} {
		if seen[owner] || len(owner) != 43 {
			t.Errorf("owner %q is not one of its own", owner)
		}
		seen[owner] = true
	}
}
