package upstream

import "github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"

// inward reports whether a question is most likely of a request that sees to its
// own, although the session has a handler for them. Roots are asked for by the
// server as a whole.
func (k *conn) inward(m wire.Message) bool {
	if m.Method() != "elicitation/create" && m.Method() != "sampling/createMessage" {
		return false
	}
	r, _ := k.asker(m)
	takes := k.client.opts.Handler.Takes
	return r != nil && r.Inward && (takes == nil || takes(r.Caller, m))
}

// likelihood is for comparing those that may be meant by a question. One that names
// a task which is not known can be ahead of the word that the server has made it.
func (r *Request) likelihood(takes, related bool) (n int) {
	if takes {
		n = 1
	}
	switch {
	case related && r.follow != nil:
		n -= 2
	case related && r.wished:
		n += 2
	}
	return n
}

// relatedTask is the task that a question of the server names (revision 2025-11-25,
// Tasks, Associating Task-Related Messages); "" for none.
func relatedTask(m wire.Message) string {
	id, _ := wire.String(wire.Lookup(m.Params(), "_meta", metaRelatedTask, "taskId"))
	return id
}

// concerned returns the request whose task the question names, else the one on
// whose stream it came. The server's id of the task goes no further.
func (k *conn) concerned(origin *Request, m wire.Message) (*Request, wire.Message) {
	id := relatedTask(m)
	if id == "" || k.makes() != olderTasks {
		return origin, m
	}
	f := k.client.followed(id)
	if f == nil {
		return origin, m
	}
	f.house()
	return f.request, m.With(wire.Changes{Params: wire.DeleteIn(m.Params(), "_meta", metaRelatedTask)})
}
