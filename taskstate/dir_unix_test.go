//go:build unix

package taskstate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func init() { parts["umask"] = childUmask }

func TestDirectoryIsClosedToOthers(t *testing.T) {
	for name, prepare := range map[string]func(dir string) error{
		"new":        func(string) error { return nil },
		"loose":      func(dir string) error { return os.MkdirAll(dir, 0o755) },
		"a store":    func(dir string) error { return makeLooseStore(dir) },
		"group only": func(dir string) error { return os.MkdirAll(dir, 0o750) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a", "b")
			if err := prepare(dir); err != nil {
				t.Fatal(err)
			}
			open(t, dir, nil)
			info, err := os.Stat(dir)
			if err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
		})
	}
}

func makeLooseStore(dir string) error {
	s, err := Open(context.Background(), dir, nil)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	return os.Chmod(dir, 0o755)
}

func TestDirectoryThatIsNotForUsIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	used := t.TempDir()
	if err := os.WriteFile(filepath.Join(used, "letter.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(used, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{file: "not a directory", used: "chmod 700", foreignDir(t): "belongs to another user"} {
		if _, err := Open(context.Background(), dir, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", dir, err, want)
		}
	}
}

// foreignDir is a directory of another user: the root, or for root one given away.
func foreignDir(t *testing.T) string {
	if os.Geteuid() != 0 {
		return "/"
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestEmptyStoreTakesHardlyAnyDisk(t *testing.T) {
	dir := t.TempDir()
	open(t, dir, nil)
	var total int64
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Sys().(*syscall.Stat_t).Blocks * 512
	}
	if total > 50<<20 {
		t.Errorf("%d MB", total>>20)
	}
}

// childUmask makes files of every kind under a umask that leaves all rights.
func childUmask(dir string) {
	syscall.Umask(0)
	s, err := Open(context.Background(), dir, &Options{SweepEvery: time.Hour})
	var task Task
	if err == nil {
		task, err = s.Create(context.Background(), Task{TTL: time.Hour, Request: make([]byte, 2*valueThreshold)})
	}
	if err == nil {
		_, err = s.Spill(task.ID, []byte("x"))
	}
	if err == nil {
		err = errors.Join(s.submit(newOp(opFlush, "")), s.submit(newOp(opRotate, ""))) // makes tables, and another log
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	s.closeFiles() // as every sweep does
	fmt.Println("done")
	io.Copy(io.Discard, os.Stdin)
	s.Close()
	os.Exit(0)
}

func TestNoFileIsOpenToOthersWhateverTheUmask(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	c := startChild(t, "umask", dir)
	if c.lines.Scan(); c.lines.Text() != "done" {
		t.Fatal(c.lines.Text())
	}
	checkModes(t, dir, 6) // while it is open
	c.stdin.Close()
	c.cmd.Wait()
	checkModes(t, dir, 6)
}

// checkModes wants at least a number of files, all of them closed to others.
func checkModes(t *testing.T, dir string, atLeast int) {
	t.Helper()
	n := 0
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		if n++; openToOthers(info) {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || n < atLeast {
		t.Errorf("%d files, %v", n, err)
	}
}
