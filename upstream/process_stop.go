package upstream

import (
	"context"
	"time"
)

const (
	// lookEvery is how often a dying family is looked at. The kernel tells a process of the end of its children only,
	// not of their descendants.
	lookEvery = 20 * time.Millisecond
	// killLimit is how long SIGKILL may take. Longer means a process that the kernel cannot end (a dead network
	// file system) or that belongs to another user.
	killLimit = 5 * time.Second
)

// stop ends the child and everything that it started, and returns when all of it is gone: it closes stdin, sends SIGTERM
// to whatever is left after CloseGrace, and SIGKILL to whatever is left after TermGrace. It carries out the sequence of
// revision 2025-11-25, Basic, Lifecycle, Shutdown, stdio (in 2026-07-28: Basic, Transports, stdio, Shutdown).
// When ctx ends, the graces do. Any number of calls may be made, at the same time too; each returns when all is done, and
// the most impatient ctx counts.
//
// Beyond the child's own session, see family for what is found.
func (p *process) stop(ctx context.Context) {
	release := context.AfterFunc(ctx, p.hasten)
	defer release()
	p.stopOnce.Do(p.end)
}

func (p *process) end() {
	defer p.family.forget()
	// Closing stdin may end the child at once, and with it the knowledge whose children its children are.
	p.family.look()
	_ = p.stdin.Close()
	p.awaitParent(p.opts.CloseGrace)
	if !p.family.settled() {
		p.family.terminate()
		p.awaitSettled(p.opts.TermGrace)
	}
	p.kill()
}

func (p *process) kill() {
	if !p.family.settled() {
		p.opts.Log.Warn().Ints("pids", p.family.pids()).Msg("killing upstream processes that did not end when asked")
	}
	ctx, cancel := context.WithTimeout(context.Background(), killLimit)
	defer cancel()
	if left := p.family.kill(ctx); left != nil {
		p.opts.Log.Error().Ints("pids", left).Msg("upstream processes survive SIGKILL")
		return // the child may be one of them, and never exit
	}
	<-p.exited
}

// awaitParent waits for the child itself.
func (p *process) awaitParent(grace time.Duration) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.reaped:
	case <-timer.C:
	case <-p.hurry:
	}
}

// awaitSettled waits for the whole family.
func (p *process) awaitSettled(grace time.Duration) {
	timer, tick := time.NewTimer(grace), time.NewTicker(lookEvery)
	defer timer.Stop()
	defer tick.Stop()
	for !p.family.settled() {
		select {
		case <-tick.C:
		case <-timer.C:
			return
		case <-p.hurry:
			return
		}
	}
}

// kill ends what is left of the family, in rounds, because what is being killed may be forking. It returns the pids that
// are left when ctx ends, nil if none is.
func (f *family) kill(ctx context.Context) []int {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !f.settled() {
		f.killOnce()
		select {
		case <-tick.C:
		case <-ctx.Done():
			return f.pids()
		}
	}
	return nil
}
