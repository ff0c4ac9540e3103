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

// post has f done on the run's goroutine, which begins with the first of them.
// It is false once the run has ended. It never waits.
func (r *run) post(f func()) bool { return r.send(letter{do: f}) }

func (r *run) send(l letter) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stage == ended {
		return false
	}
	if r.stage == quick {
		r.prepareLocked()
		go r.live()
	}
	r.mail = append(r.mail, l)
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return true
}

// prepareLocked completes a run that is not quick.
func (r *run) prepareLocked() {
	r.stage = pending
	r.log = r.proxy.opts.Log.With().Str("tool", r.tool).Logger()
	r.wake, r.done = make(chan struct{}, 1), make(chan struct{})
	r.ctx, r.end = context.WithCancelCause(r.proxy.ctx)
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

// live is the run's goroutine.
func (r *run) live() {
	defer r.over()
	defer close(r.done)
	defer r.release()
	defer r.elsewhere.Wait()
	defer r.end(nil)
	for r.isPending() {
		select {
		case <-r.wake:
			for f := r.next(); f != nil; f = r.next() {
				f()
			}
			r.presentNew()
		case <-r.ctx.Done():
			r.giveUp(context.Cause(r.ctx))
		}
	}
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
		f, r.mail[0].do = r.mail[0].do, nil
		r.mail = r.mail[1:]
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

// apart does what has to wait for others, and then the rest.
func (r *run) apart(wait func(context.Context) error, then func(error)) {
	r.elsewhere.Go(func() {
		err := wait(r.ctx)
		r.post(func() { then(err) })
	})
}
