package proxy

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// beats tell a host that waits for its answer, by progress, that the call is still
// at work while the server says nothing: hosts whose time-out starts anew with
// progress go on waiting. They are under run.mu.
type beats struct {
	timer *time.Timer // nil where there are none
	every time.Duration
	since time.Time // the server was heard, or the call made
	heard bool      // the host has got a beat
	last  float64   // progress that it has got
}

// keepAlive starts the beats, if the policy has them and the host asked for
// progress.
func (r *run) keepAlive() {
	if r.policy.KeepAlive <= 0 || r.req.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.beats.since, r.beats.every = time.Now(), r.policy.KeepAlive
	r.beats.timer = time.AfterFunc(r.policy.KeepAlive, r.beat)
}

func (r *run) beat() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stage == ended || r.taskID != "" {
		return
	}
	if r.open && r.req.Progress != nil && r.beats.canGrow() {
		r.req.Progress(r.beats.next())
	}
	r.beats.timer.Reset(r.beats.every)
}

// next is a notification whose progress is more than any before (revision
// 2026-07-28, Progress: it increases with each), by next to nothing.
func (b *beats) next() wire.Message {
	if b.heard || b.last != 0 {
		b.last = slightlyMore(b.last)
	}
	b.heard = true
	text := fmt.Sprintf("still waited for (%v)", time.Since(b.since).Round(time.Second))
	return wire.Notification("notifications/progress", wire.Set(wire.Set(nil, "message", wire.Quote(text)), "progress", number(b.last)))
}

// passed is the server's own progress, which puts off the next beat. It stays as
// it is unless beats have come so far.
func (b *beats) passed(m wire.Message) wire.Message {
	var progress float64
	if b.timer == nil || json.Unmarshal(wire.Get(m.Params(), "progress"), &progress) != nil {
		return m
	}
	b.since = time.Now()
	b.timer.Reset(b.every)
	if b.heard && progress <= b.last && b.canGrow() {
		progress = slightlyMore(b.last)
		m = m.With(wire.Changes{Params: wire.Set(m.Params(), "progress", number(progress))})
	}
	b.last = progress
	return m
}

// slightlyMore is a round number where there is room for one.
func slightlyMore(x float64) float64 {
	next := math.Nextafter(x, math.Inf(1))
	if math.Abs(x) < 1e9 {
		return max(math.Round(x*1e6+1)/1e6, next)
	}
	return next
}

// canGrow is false at the end of all numbers.
func (b *beats) canGrow() bool { return b.last < math.MaxFloat64 }

func number(x float64) []byte {
	text, err := json.Marshal(x)
	if err != nil {
		panic(err) // it came from JSON, and is finite
	}
	return text
}
