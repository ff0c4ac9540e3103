package e2e

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// A server that never answers server/discover gets initialize when the probe
// has waited its 2 s, and is not kept waiting with the probe.
func TestDiscoverIsNeverAnswered(t *testing.T) {
	t.Parallel()
	for _, y := range statelessWays {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			probed, given := make(chan time.Time, 8), make(chan time.Time, 8)
			s := startLegacy(t, map[string]act{"server/discover": func(w http.ResponseWriter, v visit) {
				probed <- time.Now()
				hanging(w, v)
				given <- time.Now()
			}})
			opened := make(chan time.Time, 8)
			s.on("initialize", func(w http.ResponseWriter, v visit) { opened <- time.Now(); s.openSession(w, v) })
			h := y.start(t, proxyTo(t, s))
			if m := h.ask(y.call("1", "run", `{}`)); m.Error != nil {
				t.Errorf("the call failed: %s", m.Raw)
			}
			if waited := (<-opened).Sub(<-probed); waited < time.Second || waited > 6*time.Second {
				t.Errorf("initialize came %v behind the probe", waited)
			}
			h.await("the probe to be given up", func() bool { return len(given) > 0 })
			s.want(t, "initialize", 1)
		})
	}
}

// A server that refuses our revision and offers it in the same breath is asked
// once more, but a call is not.
func TestServerRefusesTheRevisionThatItOffers(t *testing.T) {
	t.Parallel()
	const refusal = `{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"Unsupported protocol version",` +
		`"data":{"requested":"2026-07-28","supported":["2026-07-28"]}}}`
	refuse := func(w http.ResponseWriter, v visit) {
		writeObject(w, http.StatusBadRequest, strings.Replace(refusal, "ID", string(v.ID), 1))
	}
	for _, y := range ways {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			s := startModern(t, map[string]act{"server/discover": once(refuse, answering(modernWelcome)), "tools/call picky": refuse})
			h := y.start(t, proxyTo(t, s))
			if m := h.ask(y.call("1", "run", `{}`)); m.Error != nil {
				t.Errorf("a call failed: %s", m.Raw)
			}
			if m := h.ask(y.call("2", "picky", `{}`)); m.Error == nil {
				t.Errorf("the server's refusal became %s", m.Raw)
			}
			s.want(t, "server/discover", 2)
			s.want(t, "tools/call picky", 1)
		})
	}
}

// once does something the first time, and something else then.
func once(first, then act) act {
	var done sync.Once
	return func(w http.ResponseWriter, v visit) {
		do := then
		done.Do(func() { do = first })
		do(w, v)
	}
}

// The name of a server is optional in 2026-07-28 and required in 2025-11-25.
func TestServerWithoutANameWelcomesAnOlderHost(t *testing.T) {
	t.Parallel()
	s := startModern(t, map[string]act{"server/discover": answering(
		`{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}`)})
	h := proxyTo(t, s).start(t)
	if m := h.initialize("2025-11-25"); at(m.Result, "serverInfo", "name") == nil {
		t.Errorf("no serverInfo: %s", m.Raw)
	}
}
