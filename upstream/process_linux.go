package upstream

import (
	"syscall"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// family is a child and what it started, known by pid and start time, so that a pid that is used again is not taken for
// its former owner. Everything in it is guarded by kin.
//
// Found for certain, whenever it started: every descendant whose ancestors live, and everything in the child's own
// session (the child is made a session leader; without a controlling terminal it also cannot be stopped by reading one).
// A process that left the session and lost its parent, a daemon, is adopted by us if AdoptOrphans was called, and is
// taken for a member
//   - if it was ever seen as a descendant, or shares a session with one that was;
//   - or else if it holds one of the child's pipes;
//   - or else if no other child was alive when it started, so that it can be no other's.
//
// Not guaranteed: with several children alive, a daemon that closed its pipes before it was ever seen cannot be told
// apart. It is then left alone, and taken by the last of the children that it might belong to, or by KillOrphans. Without
// AdoptOrphans such daemons go to init and are lost. The same holds below Linux 5.4, where adopted processes cannot be
// told from children of other parts of this program.
type family struct {
	log      zerolog.Logger
	pipes    map[string]bool // the child's pipes as /proc/PID/fd names them
	root     procEntry       // the child; start 0 until it runs
	reaped   bool            // the child was waited for: its pid says nothing any more
	members  map[int]uint64  // start time by pid, the child included
	sessions map[int]bool    // of all members ever seen
	sweep    bool            // all orphans are members: see KillOrphans
	done     bool            // nothing is left, for good
}

// newFamily registers a family before its child exists, lest an orphan of it be taken for another's in between.
func newFamily(pipes *childPipes, log zerolog.Logger) *family {
	f := &family{log: log, pipes: pipeNames(pipes), members: map[int]uint64{}, sessions: map[int]bool{}}
	kin.Lock()
	defer kin.Unlock()
	kin.families[f] = true
	return f
}

func (f *family) forget() {
	kin.Lock()
	defer kin.Unlock()
	delete(kin.families, f)
}

// attributes let the child die with us even if we are killed. It is the only such hold: see process.run for the thread.
func (f *family) attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// terminate sends SIGTERM once to each: to the child's process group as a whole, to others one by one.
func (f *family) terminate() {
	kin.Lock()
	defer kin.Unlock()
	table := f.lookLocked()
	group := !f.reaped && unix.Kill(-f.root.pid, unix.SIGTERM) == nil
	for pid := range f.members {
		if e := table[pid]; !group || e.pgrp != f.root.pid {
			f.signalLocked(e, unix.SIGTERM)
		}
	}
}

// freezeRounds bounds the hunt for processes that fork faster than we look; killing goes on in rounds anyway.
const freezeRounds = 8

// killOnce stops all members until no new one turns up, so that none can fork or change its session between the look and
// the kill, then kills them.
func (f *family) killOnce() {
	kin.Lock()
	defer kin.Unlock()
	frozen := map[int]bool{}
	for range freezeRounds {
		if f.freezeLocked(frozen) == 0 {
			break
		}
	}
	table := readProcTable()
	for pid := range f.members {
		f.signalLocked(table[pid], unix.SIGKILL)
	}
}

// freezeLocked returns how many members it had not stopped before.
func (f *family) freezeLocked(frozen map[int]bool) (fresh int) {
	table := f.lookLocked()
	for pid := range f.members {
		if !frozen[pid] {
			frozen[pid] = true
			fresh++
			f.signalLocked(table[pid], unix.SIGSTOP)
		}
	}
	return fresh
}

// settled reports whether nothing is left. The last look and the end of the registration are one step, so that of two
// families that end together one is left to answer for an orphan that could be either's.
func (f *family) settled() bool {
	kin.Lock()
	defer kin.Unlock()
	if f.done {
		return true
	}
	left := f.reapLocked(f.lookLocked())
	if f.reaped && left == 0 {
		f.done = true
		delete(kin.families, f)
	}
	return f.done
}

// reapLocked waits for the members that died in our care, and counts the others.
func (f *family) reapLocked(table procTable) (left int) {
	for pid := range f.members {
		e := table[pid]
		dead := e.state == 'Z' && (f.foreignLocked(e, table) || e.ppid == self && pid != f.root.pid && reap(pid))
		if !dead {
			left++
		}
	}
	return left
}

// foreignLocked reports whether a dead member is its parent's to wait for. Below a parent that is a member it becomes
// ours in a later round: a program whose first thread is dead looks dead, and has its children until its last thread is.
func (f *family) foreignLocked(e procEntry, table procTable) bool {
	_, there := table[e.ppid]
	_, member := f.members[e.ppid]
	return there && !member && e.ppid != self
}

func (f *family) pids() []int {
	kin.Lock()
	defer kin.Unlock()
	pids := make([]int, 0, len(f.members))
	for pid := range f.members {
		pids = append(pids, pid)
	}
	return pids
}
