package proxy

import (
	"errors"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// spilledPrefix begins the names of the resources that are ours; the id of the task
// and the sum of the content follow, parted by a slash.
const spilledPrefix = "mcp-taskproxy://results/"

// spilled is what follows the prefix in a request for such a resource.
func spilled(m wire.Message) (name string, ours bool) {
	if m.Method() != "resources/read" {
		return "", false
	}
	uri, _ := wire.String(wire.Get(m.Params(), "uri"))
	return strings.CutPrefix(uri, spilledPrefix)
}

// readSpilled answers with a result that was kept in a file, to the owner of its task
// alone (revision 2026-07-28, Resources, Reading Resources).
func (p *Proxy) readSpilled(req *Request, name string) (cancel func(wire.Message)) {
	if !p.enter() {
		return refused(req, wireError(errShutdown, upstream.NotDispatched))
	}
	go func() { // the proxy waits for it
		defer p.work.Done()
		req.Reply(p.readInTurn(req.Owner, name))
	}()
	return func(wire.Message) {}
}

// readInTurn makes few answers at a time: each is large, several times over.
func (p *Proxy) readInTurn(owner, name string) wire.Message {
	p.reads <- struct{}{}
	defer func() { <-p.reads }()
	return p.spilledResource(owner, name)
}

const readsAtOnce = 2

func (p *Proxy) spilledResource(owner, name string) wire.Message {
	id, sum, _ := strings.Cut(name, "/")
	_, err := p.Task(owner, id)
	var data []byte
	if err == nil {
		data, err = p.opts.Tasks.store.Spilled(id, sum)
	}
	switch {
	case errors.Is(err, taskstate.ErrNotFound):
		return wire.Failure(noID, wire.Errorf(wire.CodeResourceNotFoundOldRevs,
			"Resource not found: %s%.200s is unknown, or its task has expired.", spilledPrefix, name))
	case err != nil:
		return wire.Failure(noID, errUnreadable(err))
	}
	contents := wire.Set(nil, "text", wire.Quote(string(data)))
	contents = wire.Prepend(contents, "mimeType", []byte(`"application/json"`))
	contents = wire.Prepend(contents, "uri", wire.Quote(spilledPrefix+name))
	return wire.Result(noID, wire.Set(nil, "contents", wire.Array([][]byte{contents})))
}
