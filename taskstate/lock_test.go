package taskstate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

// childHold has a store open until its stdin ends.
func childHold(dir string) {
	s, err := Open(context.Background(), dir, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
	fmt.Println("open")
	io.Copy(io.Discard, os.Stdin)
	s.Close()
	os.Exit(0)
}

func TestHolderOfTheDirectoryIsNamed(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "hold", dir)
	c.lines.Scan()
	started := time.Now()
	_, err := Open(context.Background(), dir, &Options{LockWait: 120 * time.Millisecond})
	var held *HeldError
	if !errors.As(err, &held) || held.Dir != dir || held.PID != c.cmd.Process.Pid {
		t.Fatalf("%#v", err)
	}
	if waited := time.Since(started); waited < 120*time.Millisecond {
		t.Errorf("gave up after %v", waited)
	}
	for _, want := range []string{dir, fmt.Sprint(held.PID)} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %q", want, err)
		}
	}
}

func TestOpenWaitsForTheHolderToClose(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "hold", dir)
	c.lines.Scan()
	go c.stdin.Close()
	shut(t, open(t, dir, &Options{LockWait: time.Minute}))
}

func TestStaleLockFileOfAKilledProcessIsHarmless(t *testing.T) {
	dir := t.TempDir()
	c := startChild(t, "hold", dir)
	c.lines.Scan()
	c.cmd.Process.Kill()
	c.cmd.Wait()
	shut(t, open(t, dir, nil))
}
