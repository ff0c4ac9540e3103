package e2e

import (
	"encoding/json"
	"strings"
	"testing"
)

// Where other machines can connect and nobody is asked who they are, the proxy
// does not begin, unless it was told so by name; then it warns.
func TestNoAuthenticationBeyondThisMachine(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy")
	p.Flags = []string{"--listen", "0.0.0.0:0"}
	refused := startHost(t, p.argv(t)...)
	if status := refused.wait(); status != 2 {
		t.Errorf("exit status %d", status)
	}
	refused.await("the flag to be named", func() bool { return strings.Contains(refused.stderr(), "--allow-unauthenticated") })
	p.Flags = append(p.Flags, "--allow-unauthenticated")
	l := p.listen(t)
	warned := false
	for line := range strings.Lines(l.stderr()) {
		var entry struct{ Level, Message string }
		_ = json.Unmarshal([]byte(line), &entry)
		warned = warned || entry.Level == "warn" && strings.Contains(entry.Message, "without authentication")
	}
	if !warned {
		t.Errorf("no warning in the log: %s", l.stderr())
	}
	l.url = strings.NewReplacer("0.0.0.0", "127.0.0.1", "[::]", "127.0.0.1").Replace(l.url)
	if m := l.join().ask(plain.toolCall("1", "release", `{}`)); m.Error != nil {
		t.Errorf("it does not serve: %s", m.Raw)
	}
}

// Two owners never meet in one session with the server, in which one could see
// what the other has left; an owner's tokens do, where requests stand alone.
func TestOwnersShareNoProcess(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	withTokens(t, p)
	l := p.listen(t)
	pids := map[string]bool{}
	who := func(y way, token string) string {
		h := l.joinAs(bearer(token))
		if y.initialize {
			h.initialize("2025-11-25")
		}
		pid := string(at(h.ask(y.call(h.freshID(), "whoami", `{}`)).Result, "structuredContent", "pid"))
		pids[pid] = true
		return pid
	}
	alice, second, bob := who(ways[2], aliceToken), who(ways[2], aliceSecond), who(ways[2], bobToken)
	if alice != second || alice == bob || alice == "" || bob == "" {
		t.Errorf("Alice has process %q, with her other token %q, Bob has %q", alice, second, bob)
	}
	who(ways[3], aliceToken)
	who(ways[3], bobToken)
	started := strings.Count(seen.read(seen.log), `"method":"initialize"`)
	if len(pids) != 4 || started != 4 { // one for each session, and one for each owner
		t.Errorf("%d processes were started, %d answered: %v", started, len(pids), pids)
	}
}

// The same over HTTP: the server sees an owner's requests on that owner's
// sessions alone.
func TestOwnersShareNoSession(t *testing.T) {
	t.Parallel()
	s := startLegacy(t, nil)
	p := proxyTo(t, s)
	withTokens(t, p)
	l := p.listen(t)
	owners := map[string]string{aliceToken: "alice", aliceSecond: "alice", bobToken: "bob"}
	for token, owner := range owners {
		for _, y := range ways[2:] {
			h := l.joinAs(bearer(token))
			if y.initialize {
				h.initialize("2025-11-25")
			}
			h.ask(y.call(h.freshID(), "run", `{"owner":"`+owner+`"}`))
			h.ask(y.call(h.freshID(), taskPrefix+"run", `{"owner":"`+owner+`"}`))
		}
	}
	of := map[string]string{}
	for _, v := range s.want(t, "tools/call", 4*len(owners)) {
		session, owner := v.header("Mcp-Session-Id"), string(at(v.Params, "arguments", "owner"))
		if before := of[session]; before != "" && before != owner {
			t.Errorf("session %s is shared by %s and %s", session, before, owner)
		}
		of[session] = owner
		if v.header("Authorization") != "" {
			t.Error("a token went on to the server")
		}
	}
	if len(of) != 5 { // one for each session of a host, and one for each owner
		t.Errorf("there are %d sessions: %v", len(of), of)
	}
}
