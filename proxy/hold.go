package proxy

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"maps"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// hold is a host's absence: it has gone with a question, to come back with the
// answer and the state that names the hold (revision 2026-07-28, Multi Round-Trip
// Requests). It can come back once.
type hold struct {
	id     string
	timer  *time.Timer
	answer *answer // came meanwhile
	kept   int     // bytes that it keeps in memory
}

const (
	// defaultHolds may be at a time, half of them one owner's of several, and
	// maxHeldBytes be in them.
	defaultHolds = 1000
	maxHeldBytes = 128 << 20
	// holdLimit is the longest one: the state is meant to be short-lived.
	holdLimit = 15 * time.Minute
)

// await answers the call with its open questions, and holds it.
func (r *run) await() {
	h := &hold{id: rand.Text(), kept: r.inputs.size()}
	if limit := r.proxy.addHold(h, r); limit != "" {
		r.log().Warn().Str("limit", limit).Msg("a client could not be asked: too many calls wait for their clients already")
		r.reply(wire.Failure(noID, errTooManyHolds(limit, r.outcome())))
		r.leave(because("the client could not be asked"))
		return
	}
	limit := min(r.policy.inputTimeout(), holdLimit)
	r.hold = h
	h.timer = r.later(limit, func() { r.lapse(h.id, "the client did not come back with an answer") })
	state := r.proxy.seal(claims{Call: h.id, Expires: time.Now().Add(limit).UnixMilli()}, r.req)
	result := wire.Prepend(nil, keyState, wire.Quote(state))
	result = wire.Prepend(result, "inputRequests", inputRequests(r.inputs.open))
	if !r.reply(wire.Result(noID, wire.Prepend(result, "resultType", []byte(`"input_required"`)))) {
		r.leave(because("the client has cancelled the request"))
	}
}

// lapse ends a call whose host has not come back, and is not just doing so.
func (r *run) lapse(id, why string) {
	if r.hold == nil || r.hold.id != id || r.proxy.takeHold(id) == nil {
		return
	}
	if !r.sent {
		r.proxy.noteUnsent(id)
	}
	r.log().Warn().Bool("answered", r.hold.answer != nil).Str("reason", why).Msg("a call that waited for its client to come back is given up")
	r.leave(because(why))
}

// keepFor keeps the call's end for the host.
func (r *run) keepFor(h *hold, a answer) {
	if size := len(a.message.Raw()); !r.proxy.growHold(h, size) {
		a = failure(errOutcomeTooLarge(size))
	}
	h.answer = &a
}

// retry is a request that comes back to a call.
func (p *Proxy) retry(req *Request, state string) Cancel {
	c, err := p.unseal(state, req)
	if err == nil || err == errStateExpired {
		if p.wasUnsent(c.Call) {
			name, _ := wire.String(wire.Get(req.Message.Params(), "name"))
			req.Reply(unapproved(name, "nobody has confirmed it in time").message)
			return moot
		}
	}
	if err != nil {
		return refused(req, err)
	}
	r := p.takeHold(c.Call)
	gone := func() { req.Reply(wire.Failure(noID, errStateGone)) }
	if r == nil || !r.send(letter{do: func() { r.retried(req) }, lost: gone}) {
		return refused(req, errStateGone)
	}
	return r.cancelledBy(req)
}

// retried has the run answer the newer request.
func (r *run) retried(req *Request) {
	h, sent := r.hold, r.sent
	h.timer.Stop()
	r.hold = nil
	r.mu.Lock()
	r.req, r.open = req, true
	r.mu.Unlock()
	answers := r.inputs.match(wire.Get(req.Message.Params(), keyResponses))
	r.inputs.open = r.inputs.without(inputsOf(answers)...)
	r.give(answers)
	r.dropUndeclared()
	switch {
	case !r.isPending() || !r.open:
	case h.answer != nil:
		r.conclude(*h.answer)
	case len(r.inputs.open) > 0:
		r.present()
	case sent && r.mayBecomeTask():
		r.arm(req, r.patience())
	}
}

// dropUndeclared ends questions that this request cannot be asked.
func (r *run) dropUndeclared() {
	for _, in := range r.inputs.open {
		if r.isPending() && r.open && !declares(r.capabilities(), needed(in.request)) {
			r.inputs.open = r.inputs.without(in)
			in.asker.unanswered(r, "The client did not declare that it can be asked.")
		}
	}
	r.goOn()
}

func (p *Proxy) maxHolds() int { return cmp.Or(p.opts.Limits.Questions, defaultHolds) }

// addHold says which limit leaves no room for one more; empty for none.
func (p *Proxy) addHold(h *hold, r *run) (limit string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := 0
	for _, other := range p.held {
		if other.owner == r.owner {
			own++
		}
	}
	greedy := r.owner != "" && own >= max(p.maxHolds()/2, 1)
	switch {
	case p.closed || p.drained:
		return "the proxy ends"
	case greedy || len(p.held) >= p.maxHolds():
		return fmt.Sprintf("questions: %d", p.maxHolds())
	case p.kept+h.kept > maxHeldBytes:
		return fmt.Sprintf("bytes of questions: %d", maxHeldBytes)
	}
	p.held[h.id] = r
	p.kept += h.kept
	r.held = h
	return ""
}

// growHold is false where there is no room for so much. A hold whose host is just
// coming back is no matter any more.
func (p *Proxy) growHold(h *hold, size int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.held[h.id] == nil:
		return true
	case p.kept+size > maxHeldBytes:
		return false
	}
	p.kept, h.kept = p.kept+size, h.kept+size
	return true
}

// takeHold ends a hold, once.
func (p *Proxy) takeHold(id string) *run {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.held[id]
	if r != nil {
		p.kept -= r.held.kept
		delete(p.held, id)
	}
	return r
}

// noteUnsent remembers the holds that ended before their calls were sent, for a
// host that comes back too late: nothing was done.
func (p *Proxy) noteUnsent(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.unsent) >= p.maxHolds() {
		clear(p.unsent)
	}
	p.unsent[id] = true
}

func (p *Proxy) wasUnsent(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.unsent[id]
}

func (p *Proxy) holds() map[string]*run {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.held)
}
