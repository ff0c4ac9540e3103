package e2e

import (
	"cmp"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// slay kills whom the names say, one right behind the other.
func (s *scene) slay(victim string) {
	s.t.Helper()
	store, servers := s.holder(), s.servers()
	server := func() { kill(servers...) }
	window := func() { kill(s.h.cmd.Process.Pid) }
	holder := func() { s.killed = true; kill(store) }
	for _, die := range map[string][]func(){
		"proxy": {holder}, "server": {server}, "server, proxy": {server, holder}, "proxy, server": {holder, server},
		"runner": {holder}, "window": {window}, "server, runner": {server, holder}, "window, runner": {window, holder}, "runner, server": {holder, server},
	}[victim] {
		die()
	}
	if victim != "server" {
		s.leave()
	}
	if s.killed {
		s.awaitDead(servers)
	}
}

// holder is the process that has the store: whoever syncs.
func (s *scene) holder() (pid int) {
	for _, d := range s.disks {
		if _, _, thread := d.look(); thread != 0 && !d.isOver() {
			pid = processOf(thread)
		}
	}
	return cmp.Or(pid, s.h.cmd.Process.Pid)
}

// processOf is the process of a thread, 0 if it is gone.
func processOf(thread int) (pid int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", thread))
	if _, line, ok := strings.Cut(string(status), "\nTgid:"); ok {
		_, _ = fmt.Sscan(line, &pid) // it is a number
	}
	return pid
}

// leave waits for the end of the host's process, and hears all that it has said.
func (s *scene) leave() {
	s.t.Helper()
	s.h.wait()
	if s.way.http {
		s.await("the answers to end", func() bool { s.h.mu.Lock(); defer s.h.mu.Unlock(); return s.h.ended })
	}
	s.hear()
	s.h = nil
}

func (s *scene) await(what string, condition func() bool) {
	s.t.Helper()
	(&host{t: s.t}).await(what, condition)
}

func (s *scene) awaitDead(servers []int) {
	s.t.Helper()
	for _, pid := range servers {
		s.await(fmt.Sprintf("server %d to be gone", pid), func() bool { return !alive(pid) })
	}
}

// servers are the processes of servers that live.
func (s *scene) servers() (pids []int) {
	for line := range strings.Lines(s.seen.read(s.seen.effects)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "server "); ok {
			pid, _ := strconv.Atoi(text)
			if program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err == nil && program == s.Upstream[0] && alive(pid) {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func kill(pids ...int) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may just have ended
	}
}
