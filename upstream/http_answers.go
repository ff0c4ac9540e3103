package upstream

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// answerQueue has the answers to the server's questions, in the order of their
// coming. A few are posted at a time; what the server has certainly not taken is
// posted again for a while, and holds up none of the others meanwhile. Under
// posts.mu.
type answerQueue struct {
	waiting []*delivery
	posting int        // goroutines
	held    int        // that wait, are on their way, or will be posted again
	bytes   int        // of those
	fewer   *sync.Cond // of posts.mu: held has become less
}

// delivery is one answer.
type delivery struct {
	question *question
	message  wire.Message
	since    time.Time     // of the first try
	pause    time.Duration // before the last one
}

const (
	maxPosting = idlePeers
	// maxHeld is how many answers there may be before nothing more is read
	// that wants one.
	maxHeld = maxQuestions
	// answerLimit is from the first try on: how long the server waits for its
	// answer is its own affair, but somebody waits for the request in which it
	// has asked.
	answerLimit      = time.Minute
	firstAnswerPause = 250 * time.Millisecond
	maxAnswerPause   = 10 * time.Second
)

// answer has m, the answer to q, posted in its turn. Should it not arrive,
// conn.undelivered is called.
func (p *posts) answer(q *question, m wire.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, size := &p.answers, len(m.Raw())
	switch {
	case p.closed:
		return io.ErrClosedPipe
	case a.bytes > 0 && a.bytes+size > maxUnsent:
		return wire.ErrFull
	}
	a.held++
	a.bytes += size
	p.enqueueLocked(&delivery{question: q, message: m})
	return nil
}

func (p *posts) enqueueLocked(d *delivery) {
	p.answers.waiting = append(p.answers.waiting, d)
	if p.answers.posting < maxPosting {
		p.answers.posting++
		p.work.Go(p.postAnswers)
	}
}

func (p *posts) postAnswers() {
	for d := p.nextAnswer(); d != nil; d = p.nextAnswer() {
		p.postAnswer(d)
	}
}

func (p *posts) nextAnswer() *delivery {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &p.answers
	if len(a.waiting) == 0 {
		a.posting--
		return nil
	}
	d := a.waiting[0]
	a.waiting[0] = nil // it may be large
	a.waiting = a.waiting[1:]
	return d
}

func (p *posts) postAnswer(d *delivery) {
	ctx, cancel := context.WithTimeoutCause(p.ctx, tellLimit, errSlow)
	defer cancel()
	if d.since.IsZero() {
		d.since = time.Now()
	}
	no := p.post(ctx, d.message)
	switch {
	case no != nil && d.again(no):
		p.work.Go(func() { p.postAgain(d) })
		return
	case no != nil && p.ctx.Err() == nil:
		p.conn.undelivered(d.question, d.failed(no))
	}
	p.release(d)
}

// again reports whether there is any use in another try, and sets the pause
// before it. The last one is when the limit is reached, even if the server
// wants to be left alone for longer.
func (d *delivery) again(no *rebuff) bool {
	left := answerLimit - time.Since(d.since)
	if !no.untaken || left <= 0 {
		return false
	}
	d.pause = min(max(2*d.pause, firstAnswerPause), maxAnswerPause)
	d.pause = min(max(d.pause, no.after), left)
	return true
}

func (d *delivery) failed(no *rebuff) *Error {
	e := *no.Error
	if d.pause > 0 {
		e.Text = fmt.Sprintf("The last try, after %v: %s", time.Since(d.since).Round(time.Second), e.Text)
	}
	return &e
}

func (p *posts) postAgain(d *delivery) {
	if !pause(p.ctx, d.pause) {
		p.release(d)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.enqueueLocked(d)
}

func (p *posts) release(d *delivery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers.held--
	p.answers.bytes -= len(d.message.Raw())
	p.answers.fewer.Broadcast()
}

// awaitRoom is for the goroutines that read. It ends, for every answer either
// arrives or is given up, at the latest with posts.ctx.
func (p *posts) awaitRoom() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.answers.held >= maxHeld || p.answers.bytes > maxUnsent/2 {
		p.answers.fewer.Wait()
	}
}
