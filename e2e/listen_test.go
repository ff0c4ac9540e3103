package e2e

import (
	"slices"
	"strings"
	"testing"
)

// A subscription that its host cancels in the same breath hears of no change, and
// the server keeps nothing of it. Its acknowledgement may be on its way by then: the
// server can be quicker than whoever reads the next line.
func TestListenCancelledAtOnce(t *testing.T) {
	for name, warm := range map[string]bool{"server runs": true, "server starts": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, seen := proxyAround(t, "modern")
			h := p.start(t)
			if warm {
				h.ask(plain.toolCall("0", "release", `{}`))
			}
			for range 20 {
				h.send(cancelledListens(h))
				h.ask(plain.toolCall(h.freshID(), "changed", `{}`))
			}
			checkNoListenLeft(h, seen)
		})
	}
}

// cancelledListens are subscriptions, each with its cancellation right behind
// it. They grow, so that the cancellations meet them at different moments.
func cancelledListens(h *host) string {
	var lines []string
	for i := range 20 {
		id := h.freshID()
		uris := strings.TrimPrefix(strings.Repeat(`,"mem://one"`, 20*i), ",")
		filter := `{"notifications":{"toolsListChanged":true,"resourceSubscriptions":[` + uris + `]}}`
		lines = append(lines, plain.request(id, "subscriptions/listen", filter),
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+id+`}}`)
	}
	return strings.Join(lines, "\n")
}

func checkNoListenLeft(h *host, seen *records) {
	h.t.Helper()
	h.await("the server to hear that every subscription is cancelled", func() bool { return len(seen.listens()) == 0 })
	h.ask(plain.toolCall(h.freshID(), "changed", `{}`))
	if status := h.stop(); status != 0 {
		h.t.Errorf("exit status %d", status)
	}
	h.readers.Wait()
	for _, m := range h.left() {
		if m.Method == "notifications/subscriptions/acknowledged" {
			continue
		}
		h.t.Errorf("nobody listens, and yet there came %s", m.Raw)
	}
}

// listens are the raw ids of the subscriptions that reached the fixture and
// were not cancelled.
func (r *records) listens() []string {
	r.t.Helper()
	var open []string
	for line := range strings.Lines(r.read(r.log)) {
		m, err := parseMessage(strings.TrimSpace(line))
		switch {
		case err != nil: // half written yet
		case m.Method == "subscriptions/listen":
			open = append(open, string(m.ID))
		case m.Method == "notifications/cancelled":
			id := string(at(m.Params, "requestId"))
			open = slices.DeleteFunc(open, func(listen string) bool { return listen == id })
		}
	}
	return open
}
