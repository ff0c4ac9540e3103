package upstream

import (
	"context"
	"fmt"
	"net/http"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/mirror"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// mirrorArguments sets the headers of a tools/call. A tool that is not known
// yet is looked up first: its schema may ask for headers without which the
// server refuses the call.
func (l *httpLink) mirrorArguments(all http.Header, x *exchange) {
	name, _ := wire.String(wire.Get(x.message.Params(), "name"))
	params, known := l.tools.params(name)
	if !known {
		l.lookUp(x)
		params, _ = l.tools.params(name)
	}
	arguments := wire.Get(x.message.Params(), "arguments")
	for _, p := range params {
		if value, ok := p.Value(arguments); ok {
			all.Set(p.Header, mirror.Encode(value))
		}
	}
}

// lookUp lists the tools, or waits until whoever does so is done. The listing
// does not end with the call that began it: others wait for it.
func (l *httpLink) lookUp(x *exchange) {
	l.tools.mu.Lock()
	done := l.tools.fetching
	if done == nil {
		done = make(chan struct{})
		l.tools.fetching = done
		l.work.Go(func() { l.fetch(x.request, done) }) // x is counted, so nobody has stopped waiting
	}
	l.tools.mu.Unlock()
	select {
	case <-done:
	case <-x.ctx.Done():
	}
}

func (l *httpLink) fetch(r *Request, done chan struct{}) {
	ctx, cancel := context.WithTimeout(l.ctx, fetchLimit)
	defer cancel()
	if err := l.fetchPages(ctx, r.Caller); err != nil {
		l.tools.rest()
		l.conn.log.Warn().Err(err).Msg("the upstream server's tools could not be listed before a call: headers that it may want are left out")
	}
	l.tools.mu.Lock()
	l.tools.fetching = nil
	l.tools.mu.Unlock()
	close(done)
}

func (l *httpLink) fetchPages(ctx context.Context, caller Caller) error {
	age, params := l.tools.now(), []byte(nil)
	for range maxPages {
		m, err := l.conn.call(ctx, "tools/list", l.conn.client.stamp(params, caller, false))
		switch {
		case err != nil:
			return err
		case m.Err() != nil:
			return fmt.Errorf("%.200s", m.Err())
		}
		next := nextCursor(m)
		if next == nil {
			l.tools.complete(age)
			return nil
		}
		params = wire.Set(nil, "cursor", next)
	}
	return fmt.Errorf("there are more than %d pages", maxPages)
}
