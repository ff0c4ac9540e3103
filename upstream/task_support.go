package upstream

import (
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// taskSupport is what a server of revision 2025-11-25 that has tasks says of its
// tools (Tasks, Tool-Level Negotiation). They are listed when the session has been
// opened, and calls wait for that. Under conn.order.
type taskSupport struct {
	tools    map[string]support
	names    int  // bytes
	complete bool // of a list that is being made: there are no more
	known    bool // all tools have been listed once
	asking   bool // somebody is at it
	pausing  bool // before the list is asked for once more
	changed  bool // since it was asked for
	listed   time.Time
	pause    time.Duration
	resting  time.Time // until when a list that failed is not asked for again
	waiting  []waiter
}

// support is a tool's execution.taskSupport.
type support int

const (
	forbidden support = iota
	optional
	required
)

const (
	maxTaskTools = 10000
	maxTaskNames = 1 << 20
	maxTaskPages = 1000
	calmTools    = time.Minute // without a change
	longestTools = time.Minute // between two lists
)

// supported keeps r back until it is known whether its tool is called as a task:
// then it returns false, and r is written later. To a child process nothing
// overtakes it. conn.order is held.
func (k *conn) supported(r *Request, m wire.Message) bool {
	s := &k.support
	if k.makes() != olderTasks || r.own || !k.awaitsTools(r) {
		return true
	}
	if len(s.waiting) >= maxWaiting { // better early than never
		return true
	}
	if !s.asking {
		k.learnToolsOrdered()
	}
	if !s.asking { // the client is being closed: nobody would come back to r
		return true
	}
	s.waiting = append(s.waiting, waiter{r, m})
	return false
}

func (k *conn) awaitsTools(r *Request) bool {
	s := &k.support
	if len(s.waiting) > 0 && k.client.opts.URL == "" {
		return true
	}
	if r.Message.Method() != "tools/call" || r.NoTask || time.Now().Before(s.resting) {
		return false
	}
	_, listed := s.tools[toolOf(r)]
	return !s.known || !listed && s.asking && !s.pausing
}

func toolOf(r *Request) string {
	name, _ := wire.String(wire.Get(r.Message.Params(), "name"))
	return name
}

// asTask adds the wish for a task to a call whose tool takes it. conn.order is
// held.
func (k *conn) asTask(r *Request, m wire.Message) wire.Message {
	if k.makes() != olderTasks || r.NoTask || r.own || m.Method() != "tools/call" {
		return m
	}
	switch s := k.support.tools[toolOf(r)]; {
	case s == required, s == optional && r.Task != nil:
		k.wish(r)
		return m.With(wire.Changes{Params: wire.Set(m.Params(), "task", r.Task.param())})
	}
	return m
}

func (s *taskSupport) learn(m wire.Message) {
	for _, tool := range wire.Elements(wire.Get(m.Result(), "tools")) {
		name, _ := wire.String(wire.Get(tool, "name"))
		_, listed := s.tools[name]
		switch {
		case listed:
		case len(s.tools) >= maxTaskTools, s.names+len(name) > maxTaskNames:
			continue
		default:
			s.names += len(name)
		}
		s.tools[name] = supportOf(tool)
	}
}

func supportOf(tool []byte) support {
	switch said, _ := wire.String(wire.Lookup(tool, "execution", "taskSupport")); said {
	case "required":
		return required
	case "optional":
		return optional
	}
	return forbidden
}
