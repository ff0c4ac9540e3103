package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// learnTools lists the tools in the background, once the session is open. While
// that is done it is noted that it has to be done again.
func (k *conn) learnTools() {
	if k.makes() != olderTasks || !k.opened.Load() {
		return
	}
	k.order.Lock()
	defer k.order.Unlock()
	k.learnToolsOrdered()
}

func (k *conn) learnToolsOrdered() {
	s := &k.support
	s.changed = s.asking
	if !s.asking {
		s.asking = k.client.spawn(k.listTools)
	}
}

// spawn runs f on a goroutine that Close waits for; false once that has begun.
func (c *Client) spawn(f func()) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.work.Go(f)
	}
	return !c.closed
}

func (k *conn) listTools() {
	for again := true; again; {
		tools, err := &taskSupport{}, context.Canceled
		if pause(k.client.ctx, k.untilTools()) {
			tools, err = k.fetchSupport()
		}
		var waiting []waiter
		waiting, again = k.toolsListed(tools, err)
		for _, w := range waiting {
			k.write(w.request, w.message)
		}
	}
}

// untilTools leaves a server alone for ever longer that changes its tools again
// and again; those that do so right after their greeting are not meant.
func (k *conn) untilTools() time.Duration {
	k.order.Lock()
	defer k.order.Unlock()
	s := &k.support
	switch {
	case s.listed.IsZero():
		return 0
	case time.Since(s.listed) > calmTools:
		s.pause = 0
		return 0
	case s.pause == 0:
		s.pause = time.Second
		return 0
	}
	s.pausing = true
	defer func() { s.pause = min(2*s.pause, longestTools) }()
	return s.pause
}

// toolsListed takes the list, and returns who has waited for it.
func (k *conn) toolsListed(listed *taskSupport, err error) (waiting []waiter, again bool) {
	k.order.Lock()
	defer k.order.Unlock()
	s := &k.support
	if listed.complete || len(listed.tools) > len(s.tools) { // some are better than none
		s.tools, s.names, s.known = listed.tools, listed.names, listed.complete
	}
	if err != nil && k.client.ctx.Err() == nil {
		s.resting = time.Now().Add(fetchRest)
		k.log.Warn().Err(err).Msg("the upstream server's tools could not be listed: what of them are to be called as tasks is not known")
	}
	again, s.changed = s.changed && err == nil, false
	s.asking, s.pausing, s.listed = again, false, time.Now()
	waiting, s.waiting = s.waiting, nil
	return waiting, again
}

var errManyPages = errors.New("there are too many pages")

// fetchSupport returns what it has got, also with an error.
func (k *conn) fetchSupport() (*taskSupport, error) {
	ctx, cancel := context.WithTimeout(k.client.ctx, fetchLimit)
	defer cancel()
	listed, params := &taskSupport{tools: map[string]support{}}, []byte(nil)
	for range maxTaskPages {
		m, err := k.call(ctx, "tools/list", params)
		switch {
		case err != nil:
			return listed, err
		case m.Err() != nil:
			return listed, refusal("tools/list", m.Err())
		}
		listed.learn(m)
		next := nextCursor(m)
		if next == nil {
			listed.complete = true
			return listed, nil
		}
		params = wire.Set(nil, "cursor", next)
	}
	return listed, errManyPages
}

// hearTools learns from a list that passes, too: what a host calls it knows from
// there.
func (k *conn) hearTools(r *Request, m wire.Message) {
	if r.own || r.Message.Method() != "tools/list" || k.makes() != olderTasks {
		return
	}
	k.order.Lock()
	defer k.order.Unlock()
	if k.support.tools != nil {
		k.support.learn(m)
	}
}
