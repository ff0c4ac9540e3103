package upstream

import (
	"errors"
	"net/http"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// errDiedOfProbe: the server ended before it had seen anything but
// server/discover.
var errDiedOfProbe = errors.New("the upstream server ended when it was asked server/discover")

// slowStart is when the log says that the server takes its time.
const slowStart = 10 * time.Second

// greet finds the server's era and opens the session. Which era is tried first
// follows the host, so that a server that speaks both is used as the host
// would use it; after a first success the era is known.
func (c *Client) greet(k *conn) (Description, error) {
	slow := time.AfterFunc(slowStart, func() {
		c.opts.Log.Warn().Dur("after", slowStart).Msg("the upstream server has not answered its greeting yet")
	})
	defer slow.Stop()
	era, known := c.expectedEra()
	switch {
	case known && era == Initialize:
		return c.initialize(k)
	case known:
		return c.discover(k)
	case era == Initialize:
		return c.initializeOrDiscover(k)
	}
	return c.discoverOrInitialize(k)
}

// expectedEra: the server at a URL may be another one tomorrow, so what was
// found there decides only what is tried first.
func (c *Client) expectedEra() (era Era, known bool) {
	if desc, greeted := c.Describe(); greeted {
		return desc.Era, c.opts.URL == "" || c.opts.Hello.Only
	}
	return c.opts.Hello.Era, c.opts.Hello.Only
}

// initializeOrDiscover spares a server of the initialize era a request that it
// does not know: only one that refuses initialize is asked for the other era.
func (c *Client) initializeOrDiscover(k *conn) (Description, error) {
	desc, err := c.initialize(k)
	if !isRefusal(err) {
		return desc, err
	}
	if desc, discoverErr := c.discover(k); discoverErr == nil {
		return desc, nil
	}
	return Description{}, err
}

// discoverOrInitialize is the probe of a client that speaks both eras
// (revision 2026-07-28, stdio, Backward Compatibility): any error but a modern
// one, garbage, or silence means the initialize era. Once initialize is sent
// its answer decides; a late answer to the probe counts only if it is refused.
func (c *Client) discoverOrInitialize(k *conn) (Description, error) {
	probe := k.start("server/discover", c.stamp(nil, c.caller(), false))
	defer k.abandon(probe) // a server that never answers it leaves nothing open
	timer := time.NewTimer(c.opts.ProbeWait)
	defer timer.Stop()
	select {
	case a := <-probe.answer:
		if a.err != nil && a.err.hopeless() {
			return Description{}, a.err
		}
		if desc, modern, err := discovered(a); modern || err != nil {
			return desc, err
		}
		return c.initialize(k)
	case <-timer.C:
	case <-c.ctx.Done():
		return Description{}, c.ctx.Err()
	}
	desc, err := c.initialize(k)
	if err == nil {
		return desc, nil
	}
	return c.lateAnswer(probe, err)
}

// lateAnswer is for the server that refused initialize: if it has answered the
// probe meanwhile, that is its era. Over HTTP a server that was only slow to
// start may answer the later request first, so the answer is waited for.
func (c *Client) lateAnswer(probe ownCall, refused error) (Description, error) {
	if c.opts.URL != "" && isRefusal(refused) {
		probe.await(c.ctx, c.opts.ProbeWait)
	}
	select {
	case a := <-probe.answer:
		if desc, modern, err := discovered(a); modern && err == nil {
			return desc, nil
		}
	default:
	}
	return Description{}, refused
}

// refusedError is the server's own no to a greeting.
type refusedError struct{ reason *Error }

func (e *refusedError) Error() string { return e.reason.Text }
func (e *refusedError) Unwrap() error { return e.reason }

// isRefusal reports whether the server, or what stands in front of it, has said
// no to the greeting in any form.
func isRefusal(err error) bool {
	var refused *refusedError
	var failed *Error
	return errors.As(err, &refused) || errors.As(err, &failed) && failed.Status/100 == 4 && failed.Status != http.StatusUnauthorized
}

// hopeless is for failures that any other greeting would share.
func (e *Error) hopeless() bool {
	return e.Reason == "upstream_unreachable" || e.Reason == "upstream_redirected" || e.Status == http.StatusUnauthorized
}

// refusal keeps the server's words, cut short.
func refusal(method string, object []byte) *refusedError {
	text, _ := wire.String(wire.Get(object, "message"))
	return &refusedError{errHandshake(
		"The upstream server refused %s (%s: %.300s). It may speak the other era only: see upstream_era.", method, wire.Get(object, "code"), text)}
}
