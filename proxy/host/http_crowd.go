package host

import (
	"net/http"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
)

// crowd counts the requests of each owner that are being served. Each takes a
// connection or a stream, many for as long as their hosts like: no owner of several
// has more than half of what there may be.
type crowd struct {
	most int

	mu      sync.Mutex
	byOwner map[string]int
}

func newCrowd(connections int) *crowd {
	return &crowd{most: max(connections/2, 1), byOwner: map[string]int{}}
}

// enter is false for one more than an owner may have. The local user has no name,
// and no limit. Whoever was let in leaves.
func (c *crowd) enter(owner string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if owner != "" && c.byOwner[owner] >= c.most {
		return false
	}
	c.byOwner[owner]++
	return true
}

func (c *crowd) leave(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byOwner[owner]--; c.byOwner[owner] == 0 {
		delete(c.byOwner, owner)
	}
}

// tooCrowded: the body is not read.
func (h *HTTP) tooCrowded(w http.ResponseWriter) {
	h.refuse(w, &refusal{status: http.StatusServiceUnavailable, err: proxy.OverLimit("connections", h.opts.Connections,
		"connections may be open, half of them for one client, and as many requests of this client are not answered yet. Wait for some of them.")})
}
