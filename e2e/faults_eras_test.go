package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"testing"
)

const doneResult = `{"content":[{"type":"text","text":"done"}]}`

// startModern is a scripted server of 2026-07-28; more replaces what it does.
func startModern(t testing.TB, more map[string]act) *scripted {
	t.Helper()
	return startModernAt(t, "", more)
}

func startModernAt(t testing.TB, address string, more map[string]act) *scripted {
	t.Helper()
	acts := map[string]act{
		"server/discover": answering(modernWelcome),
		"tools/list":      answering(`{"resultType":"complete","tools":[{"name":"run","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`),
		"tools/call":      answering(doneResult),
	}
	maps.Copy(acts, more)
	return startScripted(t, address, acts)
}

// startLegacy is a scripted server of 2025-11-25 with sessions, which it calls
// s1, s2 and so on.
func startLegacy(t testing.TB, more map[string]act) *scripted {
	t.Helper()
	return startLegacyAt(t, "", more)
}

func startLegacyAt(t testing.TB, address string, more map[string]act) *scripted {
	t.Helper()
	acts := map[string]act{
		"server/discover": refusing(http.StatusBadRequest, -32000, "Bad Request: Server not initialized"),
		"tools/list":      answering(`{"tools":[{"name":"run","inputSchema":{"type":"object"}}]}`),
		"tools/call":      answering(doneResult),
		"resources/list":  answering(`{"resources":[]}`),
		"DELETE":          func(w http.ResponseWriter, _ visit) { w.WriteHeader(http.StatusNoContent) },
	}
	maps.Copy(acts, more)
	s := startScripted(t, address, acts)
	s.forget()
	if more["initialize"] == nil {
		s.on("initialize", s.openSession)
	}
	return s
}

const modernWelcome = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private",` +
	`"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"scripted","version":"1"}}}`

const legacyWelcome = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{}},"serverInfo":{"name":"scripted","version":"1"}}`

func (s *scripted) openSession(w http.ResponseWriter, v visit) {
	s.mu.Lock()
	s.opened++
	id := fmt.Sprint("s", s.opened)
	s.sessions[id] = true
	s.mu.Unlock()
	w.Header().Set("Mcp-Session-Id", id)
	answering(legacyWelcome)(w, v)
}

// eras are the scripted servers by their era.
var eras = map[string]func(testing.TB, map[string]act) *scripted{"modern server": startModern, "legacy server": startLegacy}

// way is one of the four in which a host speaks to the proxy.
type way struct {
	name             string
	http, initialize bool
}

var ways = []way{
	{"stateless host on stdio", false, false}, {"initialize host on stdio", false, true},
	{"stateless host over HTTP", true, false}, {"initialize host over HTTP", true, true},
}

// statelessWays are those of hosts that can have tasks.
var statelessWays = []way{ways[0], ways[2]}

// start returns a host that has opened its conversation.
func (y way) start(t testing.TB, p *proxied) *host {
	t.Helper()
	h := y.plug(t, p)
	if y.initialize {
		h.initialize("2025-11-25")
	}
	return h
}

// plug returns a host that has said nothing yet.
func (y way) plug(t testing.TB, p *proxied) *host {
	t.Helper()
	if y.http {
		return p.startHTTP(t)
	}
	return p.start(t)
}

func (y way) call(id, tool, arguments string) string {
	if y.initialize {
		return toolCall(id, tool, arguments)
	}
	return plain.toolCall(id, tool, arguments)
}

// proxyTo prepares the proxy in front of a scripted server. Tools with
// taskPrefix are always tasks.
func proxyTo(t testing.TB, s *scripted) *proxied {
	t.Helper()
	return proxyAt(t, s.URL+"/mcp")
}

func proxyAt(t testing.TB, url string) *proxied {
	t.Helper()
	return &proxied{
		URL: url, StateDir: t.TempDir(),
		Config: "after: 1h\npoll_interval: 100ms\ntools: {\"" + taskPrefix + "*\": {task: always}}\nlimits: {message_bytes: 1MiB}\n",
	}
}

// everyPair runs a test for every pairing of a scripted server and one of these
// ways.
func everyPair(t *testing.T, ways []way, test func(t *testing.T, start func(testing.TB, map[string]act) *scripted, y way)) {
	for era, start := range eras {
		for _, y := range ways {
			t.Run(era+", "+y.name, func(t *testing.T) {
				t.Parallel()
				test(t, start, y)
			})
		}
	}
}
