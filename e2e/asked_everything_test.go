package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// everythingAsks are the tools of the published server that ask, each with an
// answer and with what the tool makes of it.
var everythingAsks = []struct{ tool, arguments, kind, method, answer, want string }{
	{"trigger-elicitation-request", `{}`, "elicitation", "elicitation/create", `{"action":"accept","content":{"name":"é"}}`, "- Name: é"},
	{"trigger-sampling-request", `{"prompt":"p"}`, "sampling", "sampling/createMessage", `{"role":"assistant","content":{"type":"text","text":"sampled é"},"model":"m"}`, "sampled é"},
	{"get-roots-list", `{}`, "roots", "roots/list", `{"roots":[{"uri":"file:///tmp/é","name":"x"}]}`, "file:///tmp/é"},
}

// The server is of the initialize era; hosts are of either, on every pairing of
// transports.
func TestNPMEverythingAsksOnEveryPairing(t *testing.T) {
	for _, way := range transports {
		for host, asks := range map[string]func(*host, int){"task": askedInTask, "call": askedByCall, "initialize": askedDirectly} {
			if testing.Short() && !way.short {
				continue
			}
			t.Run(way.name+"/"+host, func(t *testing.T) {
				t.Parallel()
				h := startEverything(t, way)
				if host == "initialize" {
					opensAsking(h)
				}
				for i := range everythingAsks {
					asks(h, i)
				}
				h.stop()
			})
		}
	}
}

func startEverything(t *testing.T, way transport) *host {
	t.Helper()
	p := &proxied{Upstream: npmServer(t, "server-everything"), StateDir: t.TempDir(), Flags: []string{"--after", "1h"}}
	if way.server != nil {
		p.URL, p.Host.Apart = way.server(t, p.Upstream), true
	}
	if way.detached {
		p.detached(t)
	}
	if way.http {
		return p.startHTTP(t)
	}
	return p.start(t)
}

// askedInTask answers whatever the task asks: the server asks for the roots on its own
// some time after it was greeted, which then is a question of the call that runs. Whoever
// asks for the roots later has them at once.
func askedInTask(h *host, n int) {
	h.t.Helper()
	a := everythingAsks[n]
	m, asked := h.ask(both.toolCall(h.freshID(), a.tool, a.arguments)), ""
	if id := m.text("taskId"); id != "" {
		pollTask(h, id, func(m message) bool {
			if asked += strings.Join(m.asked(), " "); len(m.asked()) > 0 {
				h.update(id, answersByKind(h.t, m))
			}
			return false
		})
		m = finishTask(h, id, "completed")
	}
	wantAsked(h, asked, a.kind)
	wantSaid(h, m, a.want)
}

// askedByCall does likewise.
func askedByCall(h *host, n int) {
	h.t.Helper()
	a := everythingAsks[n]
	m, asked := h.ask(answers.toolCall(h.freshID(), a.tool, a.arguments)), ""
	for range everythingAsks { // more it cannot ask
		if m.text("resultType") == "input_required" {
			asked += strings.Join(m.asked(), " ")
			retry := fmt.Sprintf(`{"name":%q,"arguments":%s,"requestState":%s,"inputResponses":%s}`, a.tool, a.arguments, m.state(h.t), answersByKind(h.t, m))
			m = h.ask(answers.request(h.freshID(), "tools/call", retry))
		}
	}
	wantAsked(h, asked, a.kind)
	wantSaid(h, m, a.want)
}

// wantAsked minds nothing that was asked beside, and no roots that the server has.
func wantAsked(h *host, keys, kind string) {
	h.t.Helper()
	if kind != "roots" && !strings.Contains(keys, kind+"-") {
		h.t.Errorf("%q was asked, and nothing of %s", keys, kind)
	}
}

// answersByKind are inputResponses to all that m asks.
func answersByKind(t testing.TB, m message) string {
	t.Helper()
	var responses []string
	for _, key := range m.asked() {
		n := len(responses)
		for _, a := range everythingAsks {
			if strings.HasPrefix(key, a.kind+"-") {
				responses = append(responses, fmt.Sprintf("%q:%s", key, a.answer))
			}
		}
		if len(responses) == n {
			t.Fatalf("nobody knows an answer to %s: %s", key, cut(m.Raw))
		}
	}
	return "{" + strings.Join(responses, ",") + "}"
}

// askedDirectly leaves out what the server asks on its own: it has asked for the
// roots when it was greeted.
func askedDirectly(h *host, n int) {
	h.t.Helper()
	a, id := everythingAsks[n], h.freshID()
	h.send(toolCall(id, a.tool, a.arguments))
	if a.kind != "roots" {
		answerQuestion(h, a.method, a.answer)
	}
	wantSaid(h, h.response(id), a.want)
}

func opensAsking(h *host) {
	h.t.Helper()
	h.ask(request("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"sampling":{},"roots":{}},"clientInfo":{"name":"e2e","version":"1"}}`))
	h.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	answerQuestion(h, "roots/list", everythingAsks[2].answer)
}

func answerQuestion(h *host, method, answer string) {
	h.t.Helper()
	q := h.take("the question "+method, func(m message) bool { return m.Method == method })
	h.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, answer))
}

func wantSaid(h *host, m message, want string) {
	h.t.Helper()
	if !strings.Contains(m.Raw, want) {
		h.t.Errorf("the tool answered %s, without %q", cut(m.Raw), want)
	}
}
