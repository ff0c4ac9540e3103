//go:build unix

package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// The host dies with the pipes of stdout and stderr: the proxy still records
// what became of its task, and leaves nothing running.
func TestTaskOfAKilledHost(t *testing.T) {
	for _, end := range []struct{ tool, arguments, status, reason string }{
		{"gate", `{"gate":"shut"}`, "failed", "shutdown"},
		{"slow", `{"seconds":0.5}`, "completed", ""},
	} {
		t.Run(end.status, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t, "sleep 300")
			f.Config = alwaysTasks
			h := startHost(t, append([]string{fixture(t, "copier"), "--"}, f.argv(t)...)...)
			f.open(h)
			id := taskOf(t, h.ask(declared.toolCall("2", end.tool, end.arguments)))
			f.awaitCall(h, end.tool)
			h.kill()
			f.gone(h)
			ended := finishTask(f.start(t), id, end.status)
			if why, _ := reason(at(ended.Result, "error")); why != end.reason {
				t.Errorf("reason %q: %s", why, ended.Raw)
			}
			if n := f.seen.count("call " + end.tool); n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}

// after puts a shell before the server that runs condition first, with $0 as
// the file that is returned.
func after(t *testing.T, p *proxied, condition string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "there")
	p.Upstream = append([]string{"sh", "-c", condition + `; exec "$@"`, file}, p.Upstream...)
	return file
}

// A stored call that was not sent is not lost, and not made twice.
func TestTaskThatWasNotSentRunsAfterTheRestart(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	ready := after(t, p, `until [ -e "$0" ]; do sleep 0.05; done`)
	h := p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "release", `{}`)))
	h.terminate()
	if err := os.WriteFile(ready, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	finishTask(p.start(t), id, "completed")
	if n := seen.count("call release"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// A first start that fails says nothing of the server's era.
func TestServerWhoseFirstStartFails(t *testing.T) {
	for _, server := range []string{"modern", "legacy"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			p, _ := proxyAround(t, server)
			after(t, p, `if ! [ -e "$0" ]; then >"$0"; exit 1; fi`)
			if m := p.start(t).ask(plain.toolCall("1", "release", `{}`)); m.Error != nil {
				t.Errorf("the second start did not serve the call: %s", m.Raw)
			}
		})
	}
}
