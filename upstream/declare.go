package upstream

import (
	"bytes"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// declaration is what greetings declare where the host is known by its requests
// alone. It is under Client.mu.
type declaration struct {
	all   []byte // capabilities, without those that are not to be declared
	state int    // grows with all
	last  []byte // what Declare was given
}

// maxDeclared bounds what requests can add.
const maxDeclared = 16 << 10

// Declare adds to what greetings declare whatever the host's capabilities, raw
// JSON, have more. It is for a host that opens no session, where Hello.Params
// is nil: servers of the initialize era hear of capabilities only in
// initialize. One that was greeted with less is greeted anew at the next
// request, if nothing is asked of it; else it keeps what it has, until Declare
// finds it free. It is cheap enough for every request, and is to be called
// before the request's Keep and Send.
func (c *Client) Declare(capabilities []byte) {
	if c.opts.Hello.Params != nil {
		return
	}
	if len(capabilities) > maxDeclared {
		c.opts.Log.Warn().Int("bytes", len(capabilities)).Int("limit", maxDeclared).Msg("capabilities of a client are too long to be declared to the server")
		return
	}
	c.mu.Lock()
	c.declares.add(capabilities, c.allowed)
	k := c.conn
	outgrown := k != nil && k.era() == Initialize && k.declared != c.declares.state
	c.mu.Unlock()
	if outgrown {
		c.Rest()
	}
}

func (d *declaration) add(capabilities []byte, allowed func([]byte) []byte) {
	if bytes.Equal(capabilities, d.last) {
		return
	}
	d.last = bytes.Clone(capabilities)
	all := union(d.all, allowed(capabilities))
	if len(all) > maxDeclared || bytes.Equal(all, d.all) {
		return
	}
	d.all = all
	d.state++
}

// union adds to one object what another has more, and to the objects in it.
func union(obj, more []byte) []byte {
	wire.Each(more, func(key string, value []byte) {
		has := wire.Get(obj, key)
		switch {
		case isNothing(has) && !isNothing(value):
			obj = wire.Set(obj, key, value)
		case wire.IsObject(has) && wire.IsObject(value):
			obj = wire.Set(obj, key, union(has, value))
		}
	})
	return obj
}

func isNothing(value []byte) bool {
	return value == nil || string(value) == "null" || string(value) == "false"
}

// declared are the capabilities for a greeting, and the state that they are in.
func (c *Client) declared() (capabilities []byte, state int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.declares.all, c.declares.state
}
