package mirror

import (
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Tools remembers which arguments of which tools are repeated in headers, in
// bounded memory. The zero value knows none. Its methods may be called from any
// goroutine.
type Tools struct {
	mu    sync.Mutex
	known map[string][]Param
	size  int // of what is known, roughly
}

const maxToolBytes = 8 << 20

// Learn reads the definition of a tool, an element of a tools/list result. The
// error says why the definition is invalid; it is not remembered then.
func (t *Tools) Learn(tool []byte) error {
	name, _ := wire.String(wire.Get(tool, "name"))
	params, err := Params(wire.Get(tool, "inputSchema"))
	if err != nil {
		return err
	}
	if params == nil {
		params = []Param{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.size -= sizeOf(name, t.known[name])
	delete(t.known, name)
	if size := t.size + sizeOf(name, params); size <= maxToolBytes {
		t.rememberLocked(name, params, size)
	}
	return nil
}

func (t *Tools) rememberLocked(name string, params []Param, size int) {
	if t.known == nil {
		t.known = map[string][]Param{}
	}
	t.known[name], t.size = params, size
}

// Params returns the parameters of a tool, none of most; known is false for one
// that was never learned.
func (t *Tools) Params(name string) (params []Param, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	params, known = t.known[name]
	return params, known
}

// Forget is for tools that have changed.
func (t *Tools) Forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known, t.size = nil, 0
}

// sizeOf is 0 for a tool that is not known.
func sizeOf(name string, params []Param) int {
	if params == nil {
		return 0
	}
	size := len(name) + 64
	for _, p := range params {
		size += len(p.Header) + 64
		for _, step := range p.path {
			size += len(step)
		}
	}
	return size
}
