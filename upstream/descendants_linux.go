package upstream

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// started records the child. Nothing has waited for it yet, so /proc still knows it even if it is dead already.
func (f *family) started(child *os.Process) error {
	held := holdsPidfd(child)
	kin.Lock()
	defer kin.Unlock()
	kin.pidfds = kin.pidfds || held
	f.root = procEntry{pid: child.Pid}
	if e, ok := readProcEntry(child.Pid); ok && e.ppid == self {
		f.root = e
		f.addLocked(e)
		if kin.oldest == 0 || e.start < kin.oldest {
			kin.oldest = e.start
		}
	}
	return nil
}

// parentGone is called right after the child was waited for. What is left of its session is remembered now, while the
// number of the session cannot have been used again.
func (f *family) parentGone() {
	kin.Lock()
	defer kin.Unlock()
	f.lookLocked()
	f.reaped = true
}

// look remembers who belongs to the family at this moment.
func (f *family) look() {
	kin.Lock()
	defer kin.Unlock()
	f.lookLocked()
}

func (f *family) lookLocked() procTable {
	table := readProcTable()
	for pid, start := range f.members {
		if e, ok := table[pid]; !ok || e.start != start {
			delete(f.members, pid)
		}
	}
	orphans := f.orphansLocked(table)
	for f.growLocked(table, orphans) {
	}
	return table
}

// growLocked adds the processes that belong to members known so far; it reports whether there were any.
func (f *family) growLocked(table procTable, orphans map[int]bool) (grew bool) {
	for pid, e := range table {
		_, known := f.members[pid]
		_, child := f.members[e.ppid]
		if !known && pid != self && (child || orphans[pid] || f.inSessionLocked(e, table)) {
			f.addLocked(e)
			grew = true
		}
	}
	return grew
}

func (f *family) addLocked(e procEntry) {
	f.members[e.pid] = e.start
	if e.session != ownSession {
		f.sessions[e.session] = true
	}
}

// inSessionLocked: a session is joined by birth only. Its number stands for it as long as the child or another leader
// that we know is there; after that, only for what we adopted, lest a stranger with a number that is used again suffer.
func (f *family) inSessionLocked(e procEntry, table procTable) bool {
	if !f.sessions[e.session] {
		return false
	}
	if leader, there := table[e.session]; there {
		start, member := f.members[leader.pid]
		return member && start == leader.start
	}
	return e.ppid == self || !f.reaped && e.session == f.root.pid
}

// orphansLocked are the adopted processes of which only now is decided that they belong to this family.
func (f *family) orphansLocked(table procTable) map[int]bool {
	orphans := map[int]bool{}
	for _, e := range adoptedLocked(table) {
		stranger := e.session == ownSession || e.start < kin.oldest // no child of ours is its ancestor
		if _, known := f.members[e.pid]; known || stranger {
			continue
		}
		if f.sweep || f.holdsPipe(e.pid) || f.onlySuspectLocked(e) {
			orphans[e.pid] = true
		}
	}
	return orphans
}

// holdsPipe reports whether a process has one of the child's pipes. Our own forks have them all until they exec, but are
// never adopted.
func (f *family) holdsPipe(pid int) bool {
	fds, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if name, err := os.Readlink(fd); err == nil && f.pipes[name] {
			return true
		}
	}
	return false
}

// onlySuspectLocked reports whether no other family existed when the process started. One that is just being started has
// start 0 and is a suspect of everything.
func (f *family) onlySuspectLocked(e procEntry) bool {
	for g := range kin.families {
		if g != f && g.root.start <= e.start {
			return false
		}
	}
	return f.root.start <= e.start
}

// signalLocked sends through a handle that is opened first and checked second, so that it cannot hit another process
// that got the pid in between.
func (f *family) signalLocked(e procEntry, sig unix.Signal) {
	p, err := os.FindProcess(e.pid)
	if e.pid <= 0 || err != nil {
		return
	}
	defer p.Release()
	if now, ok := readProcEntry(e.pid); !ok || now.start != e.start {
		return
	}
	if err := p.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		f.log.Warn().Int("pid", e.pid).Stringer("signal", sig).Err(err).Msg("cannot signal a process of the upstream")
	}
}
