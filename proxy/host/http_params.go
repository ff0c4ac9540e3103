package host

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/mirror"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// toolbox knows which arguments of which tools hosts repeat in headers. It
// learns from every list of tools that passes. A nil one learns nothing.
type toolbox struct {
	mirror.Tools

	mu    sync.Mutex
	last  *look     // the newest listing
	ended time.Time // when it did; zero while it is under way
}

// look is one listing of the tools, shared by all who wait for it.
type look struct {
	done chan struct{} // closed when err is set
	err  *wire.Error
}

const (
	maxPages = 100
	// lookUpLimit is for a server that is still starting: a call that cannot
	// be checked is refused.
	lookUpLimit = 10 * time.Second
	// lookUpPause keeps made-up headers from having the tools listed all the
	// time.
	lookUpPause = 5 * time.Second
)

// learn passes over definitions that are invalid: no client offers them.
func (b *toolbox) learn(result []byte) {
	if b == nil {
		return
	}
	for _, tool := range wire.Elements(wire.Get(result, "tools")) {
		_ = b.Learn(tool)
	}
}

// checkParams compares the headers that repeat arguments of a tools/call with
// these (revision 2026-07-28, Streamable HTTP, Server Behavior for Custom
// Headers). What is known of the tool may be out of date: before a call is
// refused the tools are looked up. A call without such headers does not wait
// for that, because hardly a tool has any.
func (s *stateless) checkParams(ctx context.Context, m wire.Message, all, passed http.Header) *wire.Error {
	tool := toolOf(m)
	headers := paramHeaders(all)
	params, known := s.tools.Params(tool)
	switch {
	case known && compare(params, headers, m) == nil:
		return nil
	case !known && len(headers) == 0:
		_ = s.lookUp(m, passed) // the next call sees what comes of it
		return nil
	}
	if err := s.lookUp(m, passed).wait(ctx); err != nil {
		return err
	}
	params, _ = s.tools.Params(tool)
	return compare(params, headers, m)
}

// paramHeaders are those that repeat arguments, by their canonical name.
func paramHeaders(all http.Header) http.Header {
	var headers http.Header
	for name, values := range all {
		if strings.HasPrefix(name, mirror.HeaderPrefix) {
			if headers == nil {
				headers = http.Header{}
			}
			headers[name] = values
		}
	}
	return headers
}

// compare passes over headers that the tool's schema does not name.
func compare(params []mirror.Param, headers http.Header, m wire.Message) *wire.Error {
	arguments := wire.Get(m.Params(), "arguments")
	for _, p := range params {
		values := headers.Values(p.Header)
		want, present := p.Value(arguments)
		if len(values) == 0 && !present {
			continue
		}
		if len(values) != 1 || !present {
			return mismatch("%s is there %d times, and the body has a value for it: %v", p.Header, len(values), present)
		}
		if got, ok := mirror.Decode(values[0]); !ok || !p.Matches(got, arguments) {
			return mismatch("%s is %.100q and the body says %.100q", p.Header, values[0], want)
		}
	}
	return nil
}

// lookUp begins to list the tools in the name of the host, unless somebody does
// already or has a moment ago.
func (s *stateless) lookUp(m wire.Message, passed http.Header) *look {
	s.tools.mu.Lock()
	defer s.tools.mu.Unlock()
	if s.tools.last != nil && (s.tools.ended.IsZero() || time.Since(s.tools.ended) < lookUpPause) {
		return s.tools.last
	}
	l := &look{done: make(chan struct{})}
	if !s.spawn(func() { s.look(l, m, passed) }) {
		l.err = shuttingDown()
		close(l.done)
	}
	s.tools.last, s.tools.ended = l, time.Time{}
	return l
}

func (s *stateless) look(l *look, m wire.Message, passed http.Header) {
	ctx, cancel := context.WithTimeout(s.ctx, lookUpLimit)
	defer cancel()
	l.err = s.listAll(ctx, m, passed)
	s.tools.mu.Lock()
	defer s.tools.mu.Unlock()
	s.tools.ended = time.Now()
	close(l.done)
}

func (l *look) wait(ctx context.Context) *wire.Error {
	select {
	case <-l.done:
		return l.err
	case <-ctx.Done(): // nobody waits for this answer
		return shuttingDown()
	}
}

func (s *stateless) listAll(ctx context.Context, m wire.Message, passed http.Header) *wire.Error {
	params := wire.Set(nil, "_meta", wire.Delete(wire.Get(m.Params(), "_meta"), "progressToken"))
	for range maxPages {
		page, err := s.list(ctx, params, passed)
		switch {
		case err != nil:
			return err
		case page.Err() != nil:
			said, _ := wire.String(wire.Get(page.Err(), "message"))
			return uncheckable(fmt.Sprintf("refused to list its tools (%.200s)", said))
		}
		s.tools.learn(page.Result())
		cursor := wire.Get(page.Result(), "nextCursor")
		if cursor == nil || string(cursor) == "null" {
			return nil
		}
		params = wire.Set(params, "cursor", cursor)
	}
	return nil
}

func uncheckable(why string) *wire.Error {
	return &wire.Error{
		Code:    wire.CodeInternal,
		Message: "The headers of the call could not be compared with it, because the upstream server " + why + ". The call was not sent on: try again in a moment.",
		Data:    map[string]any{"reason": "headers_unchecked", "outcome": upstream.NotDispatched},
	}
}

// list asks for one page.
func (s *stateless) list(ctx context.Context, params []byte, passed http.Header) (wire.Message, *wire.Error) {
	m := wire.Request(0, "tools/list", params)
	from, err := readSender(m)
	if err != nil {
		return wire.Message{}, err
	}
	answer := make(chan wire.Message, 1)
	cancel := s.Proxy.Handle(&proxy.Request{
		Message: m, Caller: from.caller, Upstream: s.client, Owner: s.owner, Header: passed,
		Reply: func(m wire.Message) bool { answer <- m; return true },
	})
	select {
	case page := <-answer:
		return page, nil
	case <-ctx.Done():
		cancel(wire.Notification("notifications/cancelled", nil), nil)
		return wire.Message{}, uncheckable(fmt.Sprintf("did not list its tools within %v", lookUpLimit))
	}
}
