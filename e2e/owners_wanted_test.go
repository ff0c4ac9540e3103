package e2e

import (
	"fmt"
	"net/http"
	"testing"
)

// wanting refuses whatever comes without Alice's credential.
func wanting(acts map[string]act) map[string]act {
	for name, do := range acts {
		acts[name] = func(w http.ResponseWriter, v visit) {
			if v.header("Authorization") != sender("alice").Get("Authorization") {
				http.Error(w, "Unauthorized", http.StatusUnauthorized)
				return
			}
			do(w, v)
		}
	}
	return acts
}

// openings are what a host may say first.
var openings = map[string]func(t *testing.T, h *host) message{
	"initialize": func(_ *testing.T, h *host) message { return h.initialize("2025-11-25") },
	"discover":   func(_ *testing.T, h *host) message { return h.ask(plain.request("1", "server/discover", `{}`)) },
	"call":       func(_ *testing.T, h *host) message { return h.ask(plain.toolCall("1", "run", `{}`)) },
	"task": func(t *testing.T, h *host) message {
		m := h.ask(declared.toolCall("1", taskPrefix+"run", `{}`))
		finishTask(h, taskOf(t, m), "completed")
		return m
	},
	"listen": func(_ *testing.T, h *host) message {
		h.send(plain.request("1", "subscriptions/listen", listenTools))
		return h.next()
	},
}

// acknowledging opens a subscription to lists of tools, on which nothing comes.
func acknowledging(w http.ResponseWriter, v visit) {
	writeEvent(w, "", fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true},`+
		`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, v.ID))
	_ = http.NewResponseController(w).Flush()
	hanging(w, v)
}

// A server that checks the host's credential checks it from the first request
// on: the greeting that the proxy makes for a host has the host's.
func TestGreetingHasTheCredentialOfTheHost(t *testing.T) {
	t.Parallel()
	for era, start := range eras {
		for name, open := range openings {
			t.Run(era+", "+name, func(t *testing.T) {
				t.Parallel()
				s := start(t, map[string]act{"subscriptions/listen": acknowledging})
				s.mu.Lock()
				s.acts = wanting(s.acts)
				s.mu.Unlock()
				l := forwarding(t, s).listen(t)
				if m := open(t, l.joinAs(sender("alice"))); m.Error != nil {
					t.Errorf("she is refused: %s", m.Raw)
				}
				if m := l.joinAs(sender("bob")).ask(plain.toolCall("1", "run", `{}`)); m.Error == nil {
					t.Errorf("Bob is not: %s", m.Raw)
				}
			})
		}
	}
}
