package proxy

import "github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"

// waitsForTurn is what a task says that is not sent yet for that reason.
const waitsForTurn = "The call waits for its turn, and is not sent yet."

// places are what a run needs to be at work. They are of the run's goroutine, and of
// Handle before there is one.
type places struct {
	turn    *turn // before it is sent; nil is not needed
	late    *turn // among the tasks, of a call that was sent before it was one
	waiting bool  // for turn: the call is not sent before
}

// sendInTurn sends what is stored, or is not to be.
func (r *run) sendInTurn() {
	switch placed, refused := r.place(r.taskID != ""); {
	case refused != nil:
		r.post(func() { r.conclude(failure(refused)) })
	case placed:
		r.sendPlaced()
	}
}

// place finds the call its place, a task's too if it is to be one. It is not placed
// if it waits: then it is sent when its turn comes. Where there is no room to wait
// it is refused; what an earlier process took on is not.
func (r *run) place(task bool) (placed bool, refused *wire.Error) {
	if r.policy.Concurrency <= 0 && !task {
		return true, nil
	}
	t := r.newTurn(task)
	r.places = places{turn: t, waiting: true} // before somebody else can make room
	placed, refused = r.proxy.opts.Tasks.slots.take(t, r.recovered)
	switch {
	case refused != nil:
		r.places = places{}
	case placed:
		r.places.waiting = false
	}
	return placed, refused
}

func (r *run) newTurn(task bool) *turn {
	t := &turn{limits: r.proxy.opts.Limits, owner: r.owner, task: task, granted: func() { r.post(r.sendPlaced) }}
	if most := r.policy.Concurrency; most > 0 {
		t.tool, t.most = r.proxy.opts.Identity+"\x00"+r.tool, most
	}
	return t
}

// sendPlaced sends what has its place.
func (r *run) sendPlaced() {
	if r.places.waiting && r.taskID != "" {
		r.proxy.opts.Tasks.store.Touch(r.taskID, "It is this call's turn.", nil)
	}
	r.places.waiting = false
	r.limit()
	switch {
	case r.ctx != nil && r.ctx.Err() != nil: // which is for giveUp to see to
	case r.taskID != "":
		r.start()
	default:
		r.dispatch()
	}
}

// overdueInQueue stores what is still to be sent. It needs a place more then; where
// it cannot be stored it is waited for, and has that.
func (r *run) overdueInQueue() {
	r.proxy.opts.Tasks.slots.becomeTask(r.places.turn)
	_ = r.store(false)
}

// overdueUnsent is for a call whose server is still starting: it is stored first,
// as if it had been so from the beginning. Where there is no room it is waited for.
func (r *run) overdueUnsent() {
	r.sent = false
	r.leavePlaces()
	r.places = places{}
	switch placed, refused := r.place(true); {
	case refused != nil:
		r.places.turn = r.newTurn(false) // which it had
		r.proxy.opts.Tasks.slots.force(r.places.turn)
		r.dispatch()
	case r.storeFirst() && placed:
		r.sendPlaced()
	}
}

// overdueSent finds a place for a call that is at work already, to be a task. Where
// it has to wait for one it is waited for like any call, until then.
func (r *run) overdueSent() {
	then := func() {
		if r.open {
			_ = r.store(true)
		}
	}
	late := &turn{limits: r.proxy.opts.Limits, owner: r.owner, task: true, granted: func() { r.post(then) }}
	switch placed, refused := r.proxy.opts.Tasks.slots.take(late, false); {
	case refused != nil:
		r.log().Warn().Str("limit", refused.Message).Msg("a slow call cannot become a task, and is waited for")
	default:
		if r.places.late = late; placed {
			then()
		}
	}
}

// countAsTask takes a place for a task that is at work and has none: it has asked
// something, or is an earlier process's.
func (r *run) countAsTask() {
	if p := &r.places; r.sent && p.late == nil && (p.turn == nil || !p.turn.task) {
		p.late = r.newTurn(true)
		if p.turn != nil {
			p.late.tool = "" // it has that
		}
		r.proxy.opts.Tasks.slots.force(p.late)
	}
}

// leavePlaces lets others have what the run had.
func (r *run) leavePlaces() {
	for _, t := range []*turn{r.places.turn, r.places.late} {
		if t != nil {
			r.proxy.opts.Tasks.slots.release(t)
		}
	}
}

// over counts the run off.
func (r *run) over() {
	r.leavePlaces()
	r.proxy.work.Done()
}
