package host

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/mirror"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// toolbox knows which arguments of which tools hosts repeat in headers. It
// learns from every list of tools that passes. A nil one learns nothing.
type toolbox struct {
	mirror.Tools
	asked atomic.Bool // somebody lists the tools, or has
}

const (
	maxPages = 100
	// lookUpLimit is for a server that is still starting: a call that cannot
	// be checked is refused.
	lookUpLimit = 10 * time.Second
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
	tool, _ := wire.String(wire.Get(m.Params(), "name"))
	headers := paramHeaders(all)
	params, known := s.tools.Params(tool)
	switch {
	case known && compare(params, headers, m) == nil:
		return nil
	case !known && len(headers) == 0:
		if s.tools.asked.CompareAndSwap(false, true) {
			s.work.Go(func() { _ = s.lookUp(s.ctx, m, passed) }) // the next call sees what came of it
		}
		return nil
	}
	if err := s.lookUp(ctx, m, passed); err != nil {
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

// lookUp lists the tools of the upstream server in the name of the host.
func (s *stateless) lookUp(ctx context.Context, m wire.Message, passed http.Header) *wire.Error {
	ctx, cancel := context.WithTimeout(ctx, lookUpLimit)
	defer cancel()
	params := wire.Set(nil, "_meta", wire.Delete(wire.Get(m.Params(), "_meta"), "progressToken"))
	for range maxPages {
		page, err := s.list(ctx, params, passed)
		if err != nil {
			return err
		}
		s.tools.learn(page.Result())
		cursor := wire.Get(page.Result(), "nextCursor")
		if cursor == nil {
			return nil
		}
		params = wire.Set(params, "cursor", cursor)
	}
	return nil
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
		Reply: func(m wire.Message) { answer <- m },
	})
	select {
	case page := <-answer:
		return page, nil
	case <-ctx.Done():
		cancel(wire.Notification("notifications/cancelled", nil))
		return wire.Message{}, &wire.Error{
			Code:    wire.CodeInternal,
			Message: "The headers of the call could not be checked, because the upstream server did not list its tools within " + strconv.Itoa(int(lookUpLimit.Seconds())) + " s. The call was not sent on: try again in a moment.",
			Data:    map[string]any{"reason": "upstream_starting", "outcome": "not_dispatched"},
		}
	}
}
