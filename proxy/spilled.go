package proxy

import (
	"bytes"
	"errors"
	"fmt"
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
func (p *Proxy) readSpilled(req *Request, name string) Cancel {
	if !p.enter() {
		return refused(req, wireError(errShutdown, upstream.NotDispatched))
	}
	if p.reading.Add(1) > maxReads {
		p.reading.Add(-1)
		p.work.Done()
		return refused(req, OverLimit("large results that are read at a time", maxReads, "are being read already. Take their answers first."))
	}
	go func() { // the proxy waits for it
		defer p.work.Done()
		defer p.reading.Add(-1)
		p.readInTurn(req, name)
	}()
	return moot
}

// readInTurn makes few answers at a time: each is large, several times over. A host
// on stdio that does not read them keeps its places.
func (p *Proxy) readInTurn(req *Request, name string) {
	p.reads <- struct{}{}
	defer func() { <-p.reads }()
	req.Reply(p.spilledResource(req.Owner, name))
}

// maxReads may go on or wait at a time.
const maxReads = 1000

const readsAtOnce = 2

func (p *Proxy) spilledResource(owner, name string) wire.Message {
	id, sum, _ := strings.Cut(name, "/")
	task, err := p.Task(owner, id)
	var data []byte
	if err == nil {
		data, err = p.spilledData(task, name, sum)
	}
	var lost *lostError
	switch {
	case errors.As(err, &lost):
		return wire.Failure(noID, lost.wire())
	case errors.Is(err, taskstate.ErrNotFound):
		return wire.Failure(noID, wire.Errorf(wire.CodeResourceNotFoundOldRevs,
			"Resource not found: %s%.200s is unknown, or its task has expired.", spilledPrefix, name))
	case err != nil:
		p.opts.Log.Error().Err(err).Str("task", id).Msg("a task could not be read")
		return wire.Failure(noID, errUnreadable(err))
	}
	contents := wire.Set(nil, "text", wire.Quote(string(data)))
	contents = wire.Prepend(contents, "mimeType", []byte(`"application/json"`))
	contents = wire.Prepend(contents, "uri", wire.Quote(spilledPrefix+name))
	return wire.Result(noID, wire.Set(nil, "contents", wire.Array([][]byte{contents})))
}

// spilledData tells a file that was lost from one that never was: the result has the
// link to it. Where it lies is for the log alone.
func (p *Proxy) spilledData(task taskstate.Task, name, sum string) ([]byte, error) {
	data, err := p.opts.Tasks.store.Spilled(task.ID, sum)
	var damaged *taskstate.DamagedError
	how := "gone"
	switch {
	case errors.As(err, &damaged):
		how = "damaged"
	case !errors.Is(err, taskstate.ErrNotFound), !bytes.Contains(task.Outcome, wire.Quote(spilledPrefix+name)):
		return data, err
	default:
		if _, ended := p.Task(task.Owner, task.ID); ended != nil { // meanwhile, and its file with it
			return nil, ended
		}
	}
	p.opts.Log.Error().Err(err).Str("task", task.ID).Msg("the whole of a large result cannot be read any more: its file is " + how)
	return nil, &lostError{task: task.ID, how: how}
}

// lostError is for a result whose file is gone, or damaged.
type lostError struct{ task, how string }

func (e *lostError) Error() string { return "its file is " + e.how }

func (e *lostError) wire() *wire.Error {
	return &wire.Error{
		Code: wire.CodeInternal,
		Message: fmt.Sprintf("The proxy can no longer read the whole result of task %s: its file is %s. %s tasks/get still has the result's beginning. Whoever runs the proxy finds more in its log.",
			e.task, e.how, upstream.Done.Sentence()),
		Data: errorData{Reason: "storage", Outcome: upstream.Done},
	}
}
