package proxy

import (
	"context"
	"time"
)

// letter is what somebody wants to have done on the run's goroutine.
type letter struct {
	do   func()
	lost func() // done elsewhere, if the run ends before; may be nil
}

// post has f done on the run's goroutine. It is false once the run has ended. It
// never waits.
func (r *run) post(f func()) bool { return r.send(letter{do: f}) }

// send starts the goroutine, unless there is one: it lasts as long as there is mail,
// since most runs have nothing to do but wait for their servers.
func (r *run) send(l letter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stage == ended {
		return false
	}
	if r.stage == quick {
		r.prepareLocked()
	}
	r.mail = append(r.mail, l)
	if !r.reading {
		r.reading = true
		go r.read()
	}
	return true
}

// prepareLocked completes a run that is not quick.
func (r *run) prepareLocked() {
	r.stage = pending
	r.done = make(chan struct{})
	r.ctx, r.end = context.WithCancelCause(r.proxy.ctx)
	r.unwatch = context.AfterFunc(r.ctx, func() { r.post(func() { r.giveUp(context.Cause(r.ctx)) }) })
	r.release = r.client.Keep()
}

// endQuick ends a run that was quick until now; whoever does so takes its
// answer, or takes it back, and counts it off.
func (r *run) endQuick() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stage != quick {
		return false
	}
	r.stage, r.open = ended, false
	if r.threshold != nil {
		r.threshold.Stop()
	}
	if r.beats.timer != nil {
		r.beats.timer.Stop()
	}
	return true
}

// read is the run's goroutine.
func (r *run) read() {
	for {
		for f := r.next(); f != nil; f = r.next() {
			f()
		}
		r.presentNew()
		switch more, over := r.pauses(); {
		case over:
			r.wind()
			return
		case !more:
			return
		}
	}
}

// pauses says what is left to the goroutine: with nothing it ends, and another may
// begin.
func (r *run) pauses() (more, over bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reading = len(r.mail) > 0
	return r.reading, r.stage == ended
}

// wind ends a run that was stopped, on the goroutine on which that was.
func (r *run) wind() {
	r.unwatch()
	r.end(nil)
	r.elsewhere.Wait()
	r.release()
	close(r.done)
	r.over()
}

func (r *run) isPending() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stage == pending
}

func (r *run) next() (f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stage == pending && len(r.mail) > 0 {
		f, r.mail[0] = r.mail[0].do, letter{}
		if r.mail = r.mail[1:]; len(r.mail) == 0 {
			r.mail = nil
		}
	}
	return f
}

// stop lets nothing more be done: the goroutine ends when it is back.
func (r *run) stop() {
	for _, l := range r.shut() {
		if l.lost != nil {
			l.lost()
		}
	}
}

func (r *run) shut() (unread []letter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	unread, r.stage, r.mail, r.open = r.mail, ended, nil, false
	for _, timer := range []*time.Timer{r.threshold, r.maxRun, r.stall, r.beats.timer} {
		if timer != nil {
			timer.Stop()
		}
	}
	return unread
}

// later has f done after d, if the run is not over by then.
func (r *run) later(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() { r.post(f) })
}

// apart does what has to wait for others, and then the rest, in a run that is to go
// on: for what is to end there is giveUp, which follows.
func (r *run) apart(wait func(context.Context) error, then func(error)) {
	r.elsewhere.Go(func() {
		err := wait(r.ctx)
		r.post(func() {
			if r.ctx.Err() == nil {
				then(err)
			}
		})
	})
}
