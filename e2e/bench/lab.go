package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// lab is where one row is measured. It ends what the row has started, the
// newest first.
type lab struct {
	*tools
	row   string
	quick bool
	dir   string // for files of the row
	lines []line
	ends  []func()
	made  int           // directories and files in dir
	limit time.Duration // for processes; 0 is peerLimit
}

func newLab(row string, t *tools, quick bool) *lab {
	dir, err := os.MkdirTemp(t.dir, row+"-")
	check(err)
	return &lab{tools: t, row: row, quick: quick, dir: dir}
}

func (l *lab) end() {
	for i := len(l.ends) - 1; i >= 0; i-- {
		l.ends[i]()
	}
	l.ends = nil
	_ = os.RemoveAll(l.dir)
}

// part runs a part of a row, and ends what that has started before the next.
func (l *lab) part(measure func()) {
	ends := l.ends
	l.ends = nil
	defer func() {
		for i := len(l.ends) - 1; i >= 0; i-- {
			l.ends[i]()
		}
		l.ends = ends
	}()
	measure()
}

func (l *lab) add(size, ours, beside, ratio string, g goal) {
	l.lines = append(l.lines, line{l.row, size, ours, beside, ratio, g})
}

// n is a number of calls, tasks or rounds, and what it is where only the row
// itself is tried.
func (l *lab) n(full, quick int) int {
	if l.quick {
		return quick
	}
	return full
}

// settle lets a process come to rest before its memory is looked at.
func (l *lab) settle() { time.Sleep(time.Duration(l.n(2000, 20)) * time.Millisecond) }

// path is a new name in the row's directory.
func (l *lab) path(name string) string {
	l.made++
	return filepath.Join(l.dir, fmt.Sprintf("%d-%s", l.made, name))
}

func (l *lab) file(name, text string) string {
	path := l.path(name)
	check(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// through is the command line of the proxy, as one process unless flags say
// otherwise, with a state directory of its own.
func (l *lab) through(flags []string, server ...string) []string {
	argv := []string{l.proxy, "--log-level", "error", "--detach", "never", "--state-dir", l.path("state")}
	argv = append(argv, flags...)
	if len(server) > 0 {
		argv = append(append(argv, "--"), server...)
	}
	return argv
}

// stateDirAt is where through names the state directory.
const stateDirAt = 6

// config is the flags for a configuration. It takes away the limits that would be in
// the way, unless text sets some.
func (l *lab) config(text string) []string {
	if !strings.Contains(text, "limits:") {
		text += "limits: {running: 0, stored: 0}\n" // else what finds no place is waited for
	}
	return []string{"--config", l.file("config.yaml", text)}
}

// address is one that nobody listened on a moment ago.
func (l *lab) address() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	defer listener.Close()
	return listener.Addr().String()
}

func (l *lab) discard(dir string) { check(os.RemoveAll(dir)) }
