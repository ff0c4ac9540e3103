//go:build unix

package runner

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"slices"
	"time"
)

// meet serves one connection, to its end, and reports whether it was a window's.
func (rn *runner) meet(conn *net.UnixConn) (window bool) {
	r := bufio.NewReaderSize(conn, 64<<10)
	var g greeting
	met := context.AfterFunc(rn.ctx, func() { _ = conn.Close() }) // who comes now finds another runner
	err := readLine(conn, r, &g)
	if !met() && err == nil {
		err = errStopped
	}
	if err != nil {
		rn.opts.Log.Warn().Err(err).Msg("somebody connected and did not say what for")
		_ = conn.Close()
		return false
	}
	switch {
	case g.Protocol != protocol && g.Want != wantList && g.Want != wantStop:
		rn.refuse(conn, skew(welcome{Protocol: protocol, Version: rn.opts.Version, PID: os.Getpid()}, g, rn.opts.StateDir))
	case g.Want == wantSide:
		rn.aside(conn)
	case g.Want == wantServe && g.Server != nil && g.Command != nil:
		rn.serve(conn, r, g)
	case g.Want == wantList:
		status := rn.status()
		rn.welcome(conn, welcome{Listing: &status})
		_ = conn.Close()
	case g.Want == wantStop:
		rn.halt(conn)
	default:
		rn.refuse(conn, fmt.Sprintf("this runner (version %s) does not know what %q is", rn.opts.Version, g.Want))
	}
	return g.Want == wantSide || g.Want == wantServe
}

func (rn *runner) welcome(conn net.Conn, w welcome) bool {
	w.Protocol, w.Version, w.PID = protocol, rn.opts.Version, os.Getpid()
	if err := writeLine(conn, w); err != nil {
		_ = conn.Close()
		return false
	}
	return true
}

func (rn *runner) refuse(conn net.Conn, why string) {
	rn.opts.Log.Warn().Str("why", why).Msg("refused a connection")
	rn.welcome(conn, welcome{Error: why})
	_ = conn.Close()
}

// aside keeps the connection for the session that is to follow, for a moment.
func (rn *runner) aside(conn *net.UnixConn) {
	id, s := rand.Text(), newSide(conn, rn.opts.Sink)
	rn.mu.Lock()
	rn.sides[id] = s
	rn.mu.Unlock()
	if !rn.welcome(conn, welcome{Session: id}) {
		rn.takeSide(id)
		return
	}
	timer := time.NewTimer(greetLimit)
	defer timer.Stop()
	select {
	case <-s.taken:
		return
	case <-timer.C:
	case <-rn.ctx.Done():
	}
	if rn.takeSide(id) != nil {
		s.hangUp()
	}
}

// takeSide returns a side once.
func (rn *runner) takeSide(id string) *side {
	rn.mu.Lock()
	defer rn.mu.Unlock()
	s := rn.sides[id]
	delete(rn.sides, id)
	return s
}

// serve runs a session.
func (rn *runner) serve(conn *net.UnixConn, r *bufio.Reader, g greeting) {
	side := rn.takeSide(g.Session)
	if side == nil {
		rn.refuse(conn, "the session is unknown, or its window was too slow")
		return
	}
	close(side.taken)
	log, flush := NewLogOn(side, g.Server.LogLevel)
	defer flush()
	s := &session{server: *g.Server, side: side, since: time.Now(), version: rn.opts.Version, log: log, front: g.PID}
	s.server.Upstream = g.Command.command()
	rn.opts.Log.Info().Int("front", g.PID).Str("server", s.program()).Msg("a window has come")
	if !rn.begin(s) || !rn.welcome(conn, welcome{}) {
		_ = conn.Close()
		side.hangUp()
	} else {
		s.serve(rn.ctx, conn, r, rn.tasks)
	}
	rn.end(s)
	rn.opts.Log.Info().Int("front", g.PID).Msg("its session is over")
}

// begin is false in a runner that ends: whoever waits for its sessions would not
// wait for this one.
func (rn *runner) begin(s *session) bool {
	rn.mu.Lock()
	defer rn.mu.Unlock()
	if rn.ctx.Err() != nil {
		return false
	}
	rn.sessions[s] = true
	return true
}

func (rn *runner) end(s *session) {
	rn.mu.Lock()
	defer rn.mu.Unlock()
	delete(rn.sessions, s)
	rn.changed.Broadcast()
}

// sessionsEnd waits for those that have begun.
func (rn *runner) sessionsEnd() {
	rn.mu.Lock()
	defer rn.mu.Unlock()
	for len(rn.sessions) > 0 {
		rn.changed.Wait()
	}
}

// halt stops the runner; the connection ends when it has.
func (rn *runner) halt(conn *net.UnixConn) {
	rn.opts.Log.Info().Msg("told to stop")
	rn.stop()
	if rn.welcome(conn, welcome{}) {
		<-rn.ended
		_ = conn.Close()
	}
}

func (rn *runner) status() Status {
	status := Status{
		PID: os.Getpid(), Version: rn.opts.Version, StateDir: rn.opts.StateDir, Since: rn.since,
		Sessions: []SessionStatus{}, Tasks: []TaskStatus{},
	}
	for _, t := range rn.tasks.Running() {
		status.Tasks = append(status.Tasks, TaskStatus{t.ID, t.Tool, t.Status, t.StatusMessage, t.CreatedAt})
	}
	rn.mu.Lock()
	defer rn.mu.Unlock()
	for s := range rn.sessions {
		status.Sessions = append(status.Sessions, s.status())
	}
	slices.SortFunc(status.Sessions, func(a, b SessionStatus) int { return cmp.Or(a.Since.Compare(b.Since), a.Front-b.Front) })
	return status
}
