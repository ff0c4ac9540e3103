//go:build unix

package e2e

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
)

func (l *listening) awaitGone(pid string) {
	l.t.Helper()
	number, err := strconv.Atoi(pid)
	if err != nil {
		l.t.Fatalf("no process id: %q", pid)
	}
	l.await("process "+pid+" to be gone", func() bool { return !alive(number) })
}

// Ids are each host's own, in either era, however many use the same.
func TestHostsWithEqualIDs(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"legacy", "modern"} {
		p, _ := proxyAround(t, server)
		l := p.listen(t)
		var hosts []*host
		for n := range 6 {
			hosts = append(hosts, l.join())
			if n%2 == 0 {
				hosts[n].initialize("2025-11-25")
			}
		}
		for i := range 20 {
			for n, h := range hosts {
				h.send(numbered(n, i))
			}
		}
		for n, h := range hosts {
			checkOwnAnswers(t, h, n)
		}
	}
}

// numbered is call i of host n; every other host has a session.
func numbered(n, i int) string {
	arguments := fmt.Sprintf(`{"host":%d,"call":%d}`, n, i)
	if n%2 == 0 {
		return toolCall(fmt.Sprint(i), "echo", arguments)
	}
	return plain.toolCall(fmt.Sprint(i), "echo", arguments)
}

func checkOwnAnswers(t *testing.T, h *host, n int) {
	t.Helper()
	for i := range 20 {
		m := h.response(fmt.Sprint(i))
		if got, want := string(at(m.Result, "structuredContent")), fmt.Sprintf(`{"host":%d,"call":%d}`, n, i); got != want {
			t.Errorf("host %d, call %d was answered %s", n, i, cut(m.Raw))
		}
	}
	if left := h.left(); len(left) > 0 {
		t.Errorf("host %d got what is not its own: %s", n, cut(left[0].Raw))
	}
}

// A host's capabilities are its server's to know: hosts with others get another
// server, those with the same share one; tasks are the proxy's own business.
func TestServersByCapabilities(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	pids := map[string]string{}
	for name, capabilities := range map[string]string{
		"none":        `{}`,
		"tasks":       `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`,
		"elicitation": `{"elicitation":{}}`,
		"both":        `{ "elicitation": {}, "sampling":{}}`,
		"both again":  `{"sampling":{},"elicitation":{}}`,
	} {
		body := request("1", "tools/call", `{"name":"whoami","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
			`"io.modelcontextprotocol/clientCapabilities":`+capabilities+`}}`)
		a := l.do(t, rawRequest{Body: body})
		if a.Status != http.StatusOK {
			t.Fatalf("%s: status %d, %s", name, a.Status, a.Body)
		}
		pids[name] = string(at(a.Result, "structuredContent", "pid"))
	}
	if pids["both"] != pids["both again"] {
		t.Error("capabilities that differ in their spelling alone have two servers")
	}
	if pids["none"] != pids["tasks"] {
		t.Error("a host that declares tasks has another server")
	}
	if pids["elicitation"] == pids["both"] || pids["elicitation"] == pids["none"] {
		t.Errorf("hosts with different capabilities share a server: %v", pids)
	}
	if n := seen.opened(); n != 3 {
		t.Errorf("%d servers were opened, want 3", n)
	}
}

// opened is how often a server of the initialize era was.
func (r *records) opened() (n int) {
	for _, line := range r.received() {
		if m, err := parseMessage(line); err == nil && m.Method == "initialize" {
			n++
		}
	}
	return n
}
