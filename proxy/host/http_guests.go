package host

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// guests are those who have a session with the upstream server over HTTP, by
// the id of their own session, or by owner and capabilities.
type guests struct {
	opts HTTPOptions
	work sync.WaitGroup // ends of sessions

	ctx  context.Context // ends with close
	stop context.CancelFunc

	mu      sync.Mutex
	byKey   map[string]*guest
	keys    statelessKeys
	staying map[*guest]bool // whose hosts have left, and not their tasks
	closed  bool
}

// guest has one session with the upstream server: a host in a session of the
// initialize era, or all stateless requests of one owner that declare the same
// capabilities.
type guest struct {
	key       string
	owner     string
	client    *upstream.Client
	channel   *channel
	inflight  *inflight
	stateless *stateless // nil in a session
	session   *session   // nil for stateless requests
	streams   *streams   // of a session

	// Under guests.mu.
	uses int // requests and streams being served
	used time.Time
}

func newGuests(opts HTTPOptions) *guests {
	gs := &guests{opts: opts, byKey: map[string]*guest{}, staying: map[*guest]bool{}}
	gs.ctx, gs.stop = context.WithCancel(context.Background())
	return gs
}

// stateless is the guest for an owner's stateless requests, found or made.
func (gs *guests) stateless(owner string, capabilities []byte) (g *guest, leave func(), err *wire.Error) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	key := gs.keys.of(owner, capabilities)
	if gs.byKey[key] == nil {
		if err := gs.makeRoomLocked(owner); err != nil {
			return nil, nil, err
		}
	}
	g, leave = gs.useLocked(gs.statelessLocked(key, owner, capabilities))
	return g, leave, nil
}

// recovered is stateless for a task of an earlier process, however many there
// are.
func (gs *guests) recovered(owner string, capabilities []byte) *guest {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	return gs.statelessLocked(gs.keys.of(owner, capabilities), owner, capabilities)
}

func (gs *guests) statelessLocked(key, owner string, capabilities []byte) *guest {
	if gs.byKey[key] == nil {
		gs.byKey[key] = gs.newStateless(key, owner, capabilities)
	}
	return gs.byKey[key]
}

// open makes a session of the initialize era.
func (gs *guests) open(owner string, params []byte) (g *guest, leave func(), err *wire.Error) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if err := gs.makeRoomLocked(owner); err != nil {
		return nil, nil, err
	}
	g = gs.newSession(gs.newID(), owner, params)
	gs.byKey[g.key] = g
	g, leave = gs.useLocked(g)
	return g, leave, nil
}

// newID is visible ASCII and cannot be guessed (revision 2025-11-25,
// Transports, Session Management).
func (gs *guests) newID() string {
	if gs.opts.Node == "" {
		return rand.Text()
	}
	return gs.opts.Node + "-" + rand.Text()
}

// enter finds an owner's session by its id.
func (gs *guests) enter(id, owner string) (g *guest, leave func(), ok bool) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	g = gs.byKey[id]
	if g == nil || g.owner != owner || g.session == nil {
		return nil, nil, false
	}
	g, leave = gs.useLocked(g)
	return g, leave, true
}

func (gs *guests) useLocked(g *guest) (*guest, func()) {
	g.uses++
	return g, sync.OnceFunc(func() {
		gs.mu.Lock()
		defer gs.mu.Unlock()
		g.uses--
		g.used = time.Now()
	})
}

// remove ends a guest's session and what is open in it.
func (gs *guests) remove(g *guest) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	gs.removeLocked(g)
}

func (gs *guests) removeLocked(g *guest) {
	if gs.byKey[g.key] != g || gs.closed {
		return
	}
	delete(gs.byKey, g.key)
	gs.work.Go(func() {
		g.leave(sessionOver)
		gs.seeOff(g)
	})
}

// seeOff ends the session with the server, once it has done its tasks: a task
// does not end with the session that made it.
func (gs *guests) seeOff(g *guest) {
	for pause := 50 * time.Millisecond; gs.stays(g); pause = min(2*pause, 5*time.Second) {
		select {
		case <-time.After(pause):
		case <-gs.ctx.Done(): // the rest is the proxy's to end
			return
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), hangupGrace)
	defer cancel()
	gs.opts.Proxy.Hangup(ctx, g.client)
}

// stays notes whether a guest that has left needs its session with the server.
func (gs *guests) stays(g *guest) bool {
	stays := g.session != nil && g.session.talks.unfinished()
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if delete(gs.staying, g); stays {
		gs.staying[g] = true
	}
	return stays
}

// hangupGrace is how long an upstream server has to leave by itself.
const hangupGrace = 5 * time.Second

func (gs *guests) all() (all []*guest) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	for _, g := range gs.byKey {
		all = append(all, g)
	}
	return all
}

// close waits for what was removed and ends what the others have begun, but
// not their sessions with the server.
func (gs *guests) close() {
	gs.mu.Lock()
	gs.closed = true
	gs.mu.Unlock()
	gs.stop()
	for _, g := range gs.all() {
		g.leave(toldToEnd)
	}
	gs.work.Wait()
}
