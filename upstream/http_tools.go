package upstream

import (
	"bytes"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/mirror"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// toolbox knows which arguments of which tools are repeated in headers
// (revision 2026-07-28, Streamable HTTP, Custom Headers from Tool Parameters).
// It learns from every tools/list that passes.
type toolbox struct {
	log zerolog.Logger

	tools mirror.Tools

	mu       sync.Mutex
	all      bool      // every tool of the server is known
	age      int       // grows whenever what is known is dropped
	resting  time.Time // until when a lookup that failed is not tried again
	fetching chan struct{}
	warned   map[string]bool
}

const (
	maxWarned  = 1000
	maxPages   = 100
	fetchLimit = 30 * time.Second
	fetchRest  = time.Minute
)

func newToolbox(log zerolog.Logger) *toolbox {
	return &toolbox{log: log, warned: map[string]bool{}}
}

// answered learns from a response, and takes from a list of tools those that
// clients must not offer.
func (b *toolbox) answered(r *Request, m wire.Message) wire.Message {
	switch {
	case string(wire.Get(m.Err(), "code")) == "-32020":
		b.forget()
	case r.Message.Method() == "tools/list" && m.Result() != nil:
		return b.learn(m, wire.Get(r.Message.Params(), "cursor") == nil && nextCursor(m) == nil)
	}
	return m
}

func nextCursor(m wire.Message) []byte {
	if next := wire.Get(m.Result(), "nextCursor"); string(next) != "null" {
		return next
	}
	return nil
}

// learn reads one page; whole says that there is no other.
func (b *toolbox) learn(m wire.Message, whole bool) wire.Message {
	age := b.now()
	elements := wire.Elements(wire.Get(m.Result(), "tools"))
	var kept [][]byte
	for _, tool := range elements {
		if b.valid(tool, age) {
			kept = append(kept, tool)
		}
	}
	if whole {
		b.complete(age)
	}
	if len(kept) == len(elements) {
		return m
	}
	return m.With(wire.Changes{Result: wire.Set(m.Result(), "tools", wire.Array(kept))})
}

// valid notes a tool's headers, or warns of a definition that breaks the rules.
func (b *toolbox) valid(tool []byte, age int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := b.learnLocked(tool, age)
	if err == nil {
		return true
	}
	name, _ := wire.String(wire.Get(tool, "name"))
	if !b.warned[name] && len(b.warned) < maxWarned {
		b.warned[name] = true
		b.log.Warn().Err(err).Str("tool", name[:min(len(name), pieceBytes)]).Msg("left a tool of the upstream server out: its definition is invalid")
	}
	return false
}

// learnLocked does not take what was said before the tools changed for what
// they are now.
func (b *toolbox) learnLocked(tool []byte, age int) error {
	if b.age == age {
		return b.tools.Learn(tool)
	}
	_, err := mirror.Params(wire.Get(tool, "inputSchema"))
	return err
}

// now is the age of what is learned from here on.
func (b *toolbox) now() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.age
}

// complete notes that every tool is known, unless they have changed since age.
func (b *toolbox) complete(age int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = b.all || b.age == age
}

// heard watches for the server's word that its tools have changed.
func (b *toolbox) heard(text []byte) {
	if bytes.Contains(text, []byte("notifications/tools/list_changed")) {
		b.forget()
	}
}

func (b *toolbox) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.age++
	b.all, b.resting = false, time.Time{}
	b.tools.Forget()
}

// params returns the headers of a tool, none of one that the server does not
// list.
func (b *toolbox) params(name string) (params []mirror.Param, known bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	params, known = b.tools.Params(name)
	return params, known || b.all || time.Now().Before(b.resting)
}

// rest lets calls go out without headers for a while, rather than late.
func (b *toolbox) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.resting = time.Now().Add(fetchRest)
}
