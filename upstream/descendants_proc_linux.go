package upstream

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

var (
	self       = os.Getpid()
	ownSession = sessionOf(self)
)

// procEntry is what /proc/PID/stat says of a process. The zero value is no process.
type procEntry struct {
	pid, ppid, pgrp, session int
	state                    byte   // 'Z' is dead and not waited for
	start                    uint64 // clock ticks since boot; with the pid it is the identity
}

type procTable map[int]procEntry

// readProcTable reads all processes. It is not one moment: what starts or loses its parent meanwhile may be missed or
// seen twice over, so callers look again.
func readProcTable() procTable {
	table := procTable{}
	dir, err := os.Open("/proc")
	if err != nil {
		return table
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			if e, ok := readProcEntry(pid); ok {
				table[pid] = e
			}
		}
	}
	return table
}

func readProcEntry(pid int) (procEntry, bool) {
	// Three system calls: os.ReadFile makes twice as many, and this is done for every process of the machine.
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/stat", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return procEntry{}, false
	}
	defer unix.Close(fd)
	var text [1024]byte // the line has some 50 numbers and a short name
	n, err := unix.Read(fd, text[:])
	if err != nil {
		return procEntry{}, false
	}
	return parseProcStat(text[:n])
}

// parseProcStat reads the fields of proc_pid_stat(5). The second, the name, may itself hold spaces and parentheses.
func parseProcStat(text []byte) (e procEntry, ok bool) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return e, false
	}
	fields := strings.Fields(string(text[end+1:])) // from the third on
	if len(fields) < 20 {
		return e, false
	}
	numbers := [5]int{}
	for i, field := range []string{strings.TrimSpace(string(text[:open])), fields[1], fields[2], fields[3], fields[19]} {
		n, err := strconv.Atoi(field)
		if err != nil {
			return e, false
		}
		numbers[i] = n
	}
	return procEntry{
		pid: numbers[0], ppid: numbers[1], pgrp: numbers[2], session: numbers[3],
		state: fields[0][0], start: uint64(numbers[4]),
	}, true
}

func sessionOf(pid int) int {
	e, _ := readProcEntry(pid)
	return e.session
}

// pipeNames are the links under /proc/PID/fd that mean one of these pipes.
func pipeNames(pipes *childPipes) map[string]bool {
	names := map[string]bool{}
	for _, f := range []*os.File{pipes.stdin, pipes.stdout, pipes.stderr} {
		if info, err := f.Stat(); err == nil {
			names[fmt.Sprintf("pipe:[%d]", info.Sys().(*syscall.Stat_t).Ino)] = true
		}
	}
	return names
}

// holdsPidfd reports whether os keeps a pidfd for its child and /proc tells whose it is. It does from the fork on and
// until the child was waited for; that is how our own children are told from adopted ones.
func holdsPidfd(child *os.Process) (held bool) {
	_ = child.WithHandle(func(handle uintptr) {
		held = pidOfFD(strconv.Itoa(int(handle))) == child.Pid
	})
	return held
}

// heldByPidfd are the processes that something in this program has a pidfd of; ok is false where that cannot be told:
// nobody's exit status may be taken then.
func heldByPidfd() (held map[int]bool, ok bool) {
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return nil, false
	}
	defer dir.Close()
	fds, err := dir.Readdirnames(-1)
	if err != nil {
		return nil, false
	}
	held = map[int]bool{}
	for _, fd := range fds {
		name, err := os.Readlink("/proc/self/fd/" + fd)
		switch {
		case errors.Is(err, fs.ErrNotExist): // closed meanwhile
		case err != nil:
			return nil, false
		case strings.Contains(name, "pidfd"):
			pid := pidOfFD(fd)
			if pid == 0 && isOpen(fd) {
				return nil, false
			}
			held[pid] = true
		}
	}
	return held, true
}

func isOpen(fd string) bool {
	_, err := os.Lstat("/proc/self/fd/" + fd)
	return !errors.Is(err, fs.ErrNotExist)
}

// pidOfFD is 0 for a descriptor that is no pidfd.
func pidOfFD(fd string) (pid int) {
	text, _ := os.ReadFile("/proc/self/fdinfo/" + fd)
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "Pid:"); ok {
			pid, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	return pid
}
