package host

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// makeRoomLocked ends the session that has been idle longest if there are as
// many as may be, one of the owner's own before another's. No owner of several
// has more than half of all.
func (gs *guests) makeRoomLocked(owner string) *wire.Error {
	all, own := gs.countLocked(owner)
	greedy := owner != "" && own >= max(gs.opts.Sessions/2, 1)
	if all < gs.opts.Sessions && !greedy {
		return nil
	}
	idle := gs.idleLocked(0)
	if own := slices.DeleteFunc(slices.Clone(idle), func(g *guest) bool { return g.owner != owner }); greedy || len(own) > 0 {
		idle = own
	}
	if len(idle) == 0 {
		return tooManySessions(gs.opts.Sessions)
	}
	gs.opts.Log.Info().Int("sessions", gs.opts.Sessions).Msg("ending an idle session to make room for another (limits.sessions)")
	gs.removeLocked(slices.MinFunc(idle, func(a, b *guest) int { return a.used.Compare(b.used) }))
	return nil
}

// countLocked counts the sessions with the server, also those whose hosts have
// left tasks behind.
func (gs *guests) countLocked(owner string) (all, own int) {
	for _, g := range gs.byKey {
		if g.owner == owner {
			own++
		}
	}
	for g := range gs.staying {
		if g.owner == owner {
			own++
		}
	}
	return len(gs.byKey) + len(gs.staying), own
}

func tooManySessions(limit int) *wire.Error {
	return &wire.Error{
		Code: wire.CodeInternal,
		Message: fmt.Sprintf("All sessions with the upstream server that there may be are in use (limits.sessions: %d, half of them for one owner). %s",
			limit, upstream.NotDispatched.Sentence()),
		Data: map[string]any{"reason": "limit", "limit": "sessions", "outcome": upstream.NotDispatched},
	}
}

// idleLocked are those that have been idle for that long.
func (gs *guests) idleLocked(atLeast time.Duration) (idle []*guest) {
	for _, g := range gs.byKey {
		if since := gs.idleForLocked(g); since > 0 && since >= atLeast {
			idle = append(idle, g)
		}
	}
	return idle
}

// idleForLocked is 0 for a guest that has something to do: for stateless
// requests a task, too. A host in a session that has been gone for long is not
// coming back for its answers: they keep nothing.
func (gs *guests) idleForLocked(g *guest) time.Duration {
	unused, unasked := time.Since(g.used), g.client.IdleFor()
	switch {
	case g.uses > 0:
		return 0
	case g.session != nil && (unasked > 0 || unused > gs.opts.SessionIdle):
		return unused
	}
	return min(unused, unasked)
}

func (gs *guests) sweepUntil(ctx context.Context) {
	tick := time.NewTicker(max(gs.opts.SessionIdle/10, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			gs.sweep()
		}
	}
}

func (gs *guests) sweep() {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	for _, g := range gs.idleLocked(gs.opts.SessionIdle) {
		gs.opts.Log.Debug().Dur("idle", gs.opts.SessionIdle).Msg("ending an idle session")
		gs.removeLocked(g)
	}
}
