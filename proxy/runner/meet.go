//go:build unix

package runner

import (
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
	in := newInbox(conn)
	defer in.close()
	met := context.AfterFunc(rn.over, func() { _ = conn.Close() })
	g, err := in.greeting()
	if !met() && err == nil {
		err = errStopped
	}
	if err != nil {
		rn.opts.Log.Warn().Err(err).Msg("somebody connected and did not say what for")
		_ = conn.Close()
		return false
	}
	rn.answer(in, g)
	return g.Want == wantSide || g.Want == wantServe
}

// answer does what is wanted. A window that comes to a runner that ends is left
// without a word: it goes to the next one.
func (rn *runner) answer(in *inbox, g greeting) {
	switch conn := in.conn; {
	case g.Want == wantList:
		status := rn.status()
		rn.welcome(conn, welcome{Listing: &status})
		_ = conn.Close()
	case g.Want == wantStop:
		rn.halt(conn)
	case rn.ctx.Err() != nil:
		_ = conn.Close()
	case g.Protocol != protocol:
		rn.refuse(conn, skew(welcome{Protocol: protocol, Version: rn.opts.Version, PID: os.Getpid()}, g, rn.opts.StateDir))
	case g.Want == wantSide:
		rn.aside(conn)
	case g.Want == wantServe && g.Command != nil:
		rn.serve(in, g)
	default:
		rn.refuse(conn, fmt.Sprintf("this runner (version %s) does not know what %q is", rn.opts.Version, g.Want))
	}
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
func (rn *runner) serve(in *inbox, g greeting) {
	server, err := decodeSettings(g.Server)
	if err != nil {
		rn.refuse(in.conn, rn.unknown(g, err))
		return
	}
	if err := in.check(g); err != nil {
		rn.refuse(in.conn, err.Error())
		return
	}
	server.Upstream = g.Command.command()
	side := rn.takeSide(g.Session)
	if side == nil {
		rn.refuseLate(in.conn)
		return
	}
	close(side.taken)
	log, flush := NewLogOn(side, server.LogLevel)
	defer flush()
	s := &session{server: server, side: side, since: time.Now(), version: rn.opts.Version, log: log, front: g.PID}
	rn.opts.Log.Info().Int("front", g.PID).Str("server", s.program()).Msg("a window has come")
	if host := in.streams(rn.opts.Log); !rn.begin(s) || !rn.welcome(in.conn, welcome{Passed: host.passed}) {
		host.end()
		side.hangUp()
	} else {
		s.serve(rn.ctx, host, rn.tasks)
	}
	rn.end(s)
	rn.opts.Log.Info().Int("front", g.PID).Msg("its session is over")
}

// unknown is skew for single settings.
func (rn *runner) unknown(g greeting, err error) string {
	return fmt.Sprintf("this window (version %s) cannot use the runner that is there (process %d, version %s): %v: "+
		"leave the setting out, close the other windows of this server, or end the runner with mcp-taskproxy stop --state-dir %s; results stay",
		g.Version, os.Getpid(), rn.opts.Version, err, rn.opts.StateDir)
}

// refuseLate is for a window whose side is gone, perhaps because the runner ends.
func (rn *runner) refuseLate(conn *net.UnixConn) {
	if rn.ctx.Err() != nil {
		_ = conn.Close()
		return
	}
	rn.refuse(conn, "the session is unknown, or its window was too slow")
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
		<-rn.over.Done()
		_ = conn.Close()
	}
}

func (rn *runner) status() Status {
	status := Status{
		PID: os.Getpid(), Ending: rn.ctx.Err() != nil, Version: rn.opts.Version, StateDir: rn.opts.StateDir, Since: rn.since,
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
