package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const relatedTask = "io.modelcontextprotocol/related-task"

// shared is one process behind all sessions of a front: what it keeps outlives
// them, until it ends, when there is another one. Each session has a part in it, a lineChild that is no process, and
// requests get numbers by which the process tells them apart.
type shared struct {
	start   func() *lineChild
	mu      sync.Mutex // never held while a part's is taken
	process *lineChild
	parts   []*lineChild
	asked   map[string]numberedRequest // by the number
	homes   map[string]*lineChild      // of tasks, by raw id: the session that made it
	tokens  map[string]*lineChild      // of progress, raw: the session that gave it last
	n       int
}

type numberedRequest struct {
	part *lineChild
	id   string // as the client wrote it
}

// startSharedFront has sessions, and one process for all of them.
func startSharedFront(t testing.TB, argv []string) string {
	p := &shared{asked: map[string]numberedRequest{}, homes: map[string]*lineChild{}, tokens: map[string]*lineChild{}}
	p.start = func() *lineChild { return startChild(t, argv, func(_ *lineChild, m message) { p.route(m) }) }
	p.process = p.start()
	f := &sessionFront{t: t, start: p.part, open: map[string]*lineChild{}}
	return startFront(t, f, func() []*lineChild { return append(f.children(), p.running()) }) + "/mcp"
}

// running is the process, or the next one, to which no request of a session was
// sent.
func (p *shared) running() *lineChild {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.process.dead() {
		p.process, p.asked = p.start(), map[string]numberedRequest{}
	}
	return p.process
}

// attend cuts the streams of a session whenever the process ends, until the
// session does.
func (p *shared) attend(part *lineChild) {
	for !part.dead() {
		select {
		case <-p.running().ended:
			part.cutAll()
		case <-part.ended:
		}
	}
}

func (c *lineChild) cutAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, s := range c.streams {
		s.close()
		delete(c.streams, id)
	}
}

func (p *shared) part() *lineChild {
	c := &lineChild{streams: map[string]*frontStream{}, ended: make(chan struct{}), news: newFrontStream(message{})}
	c.in = &sharedInput{p: p, part: c, end: sync.OnceFunc(func() { c.news.close(); close(c.ended) })}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.parts = append(p.parts, c)
	go p.attend(c)
	return c
}

// sharedInput is what a part writes to.
type sharedInput struct {
	p    *shared
	part *lineChild
	end  func()
}

func (in *sharedInput) Write(line []byte) (int, error) {
	m, err := parseMessage(strings.TrimSpace(string(line)))
	if err == nil {
		in.p.running().send(in.p.renumber(in.part, m))
	}
	return len(line), err
}

func (in *sharedInput) Close() error { in.end(); return nil }

// renumber returns the line under the process's own id.
func (p *shared) renumber(part *lineChild, m message) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if token := string(at(m.Params, "_meta", "progressToken")); token != "" {
		p.tokens[token] = part
	}
	switch {
	case m.Method == "notifications/cancelled":
		id := string(at(m.Params, "requestId"))
		for n, request := range p.asked {
			if request.part == part && request.id == id {
				return strings.Replace(m.Raw, `"requestId":`+id, `"requestId":`+n, 1)
			}
		}
	case m.Method != "" && m.ID != nil:
		p.n++
		p.asked[strconv.Itoa(p.n)] = numberedRequest{part, string(m.ID)}
		return withID(m, strconv.Itoa(p.n))
	}
	return m.Raw
}

// withID is the message with another id.
func withID(m message, id string) string {
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s`, id)
	if m.Method != "" {
		line += fmt.Sprintf(`,"method":%q`, m.Method)
	}
	for name, raw := range map[string]json.RawMessage{"params": m.Params, "result": m.Result, "error": m.Error} {
		if raw != nil {
			line += fmt.Sprintf(`,%q:%s`, name, raw)
		}
	}
	return line + "}"
}

// route takes what the process says to where it belongs, which is every session
// if nothing tells.
func (p *shared) route(m message) {
	if m.Method == "" {
		if request, known := p.answered(m); known {
			m, _ = parseMessage(withID(m, request.id))
			routeInSession(request.part, m)
		}
		return
	}
	home, all := p.sessions(m)
	task := string(at(m.Params, "_meta", relatedTask, "taskId"))
	reads := func(s *frontStream) bool { return s.task == task }
	for _, part := range all {
		if task != "" && part.find(reads) != part.news {
			home = part
		}
	}
	if home != nil {
		all = []*lineChild{home}
	}
	for _, part := range all {
		routeInSession(part, m)
	}
}

// answered is the request that this answers. The session whose call became a task
// is the task's home.
func (p *shared) answered(m message) (request numberedRequest, known bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	request, known = p.asked[string(m.ID)]
	delete(p.asked, string(m.ID))
	if made := string(at(m.Result, "task", "taskId")); made != "" {
		p.homes[made] = request.part
	}
	return request, known
}

// sessions are all, and the one that the message's task or token is at home in, if
// there is one.
func (p *shared) sessions(m message) (home *lineChild, all []*lineChild) {
	p.mu.Lock()
	defer p.mu.Unlock()
	task := at(m.Params, "_meta", relatedTask, "taskId")
	if task == nil {
		task = at(m.Params, "taskId")
	}
	if home = p.homes[string(task)]; home == nil {
		home = p.tokens[string(at(m.Params, "progressToken"))]
	}
	return home, slices.Clone(p.parts)
}
