package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// A host that writes its requests and closes stdin at once, as a shell pipe
// does, still gets every answer.
func TestQuickRequestsBeforeTheEndOfInput(t *testing.T) {
	eras := map[string]func(id, tool, arguments string) string{"initialize": toolCall, "stateless": plain.toolCall}
	for era, call := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			for round := range 20 {
				t.Run(fmt.Sprint(round), func(t *testing.T) {
					h := startQuick(t, era == "initialize", round >= 10)
					quickRequests(h, call, round%2 == 0)
				})
			}
		})
	}
}

// startQuick starts the proxy, and with warm the server too, which a host that
// opens has running in any case.
func startQuick(t *testing.T, opens, warm bool) *host {
	t.Helper()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	h := p.start(t)
	switch {
	case opens:
		h.initialize("2025-11-25")
	case warm:
		h.ask(plain.toolCall(`"warm"`, "release", `{}`))
	}
	return h
}

func quickRequests(h *host, call func(id, tool, arguments string) string, oneWrite bool) {
	const requests = 25
	var lines []string
	for i := range requests {
		lines = append(lines, call(fmt.Sprint(i), "echo", fmt.Sprintf(`{"n":%d}`, i)))
	}
	if oneWrite {
		lines = []string{strings.Join(lines, "\n")}
	}
	for _, line := range lines {
		h.send(line)
	}
	if status := h.stop(); status != 0 {
		h.t.Errorf("exit status %d", status)
	}
	for i := range requests {
		if m := h.response(fmt.Sprint(i)); string(at(m.Result, "structuredContent")) != fmt.Sprintf(`{"n":%d}`, i) {
			h.t.Errorf("request %d was answered %s", i, m.Raw)
		}
	}
}
