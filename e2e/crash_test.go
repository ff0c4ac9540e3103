package e2e

import (
	"fmt"
	"strings"
	"testing"
)

var (
	plain    = stateless{}
	declared = stateless{Tasks: true}
	both     = stateless{Tasks: true, Answers: true}
	answers  = stateless{Answers: true}
)

const alwaysTasks = "task: always\npoll_interval: 100ms\n"

func TestKilledProxyKeepsResultByteForByte(t *testing.T) {
	p, seen := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	h := p.start(t)
	const arguments = `{"z":9007199254740993,"a": [1.0,null],"s":"\u00e9é\/"}`
	id := taskOf(t, h.ask(declared.toolCall("1", "echo", arguments)))
	before := string(at(finishTask(h, id, "completed").Result, "result"))
	h.kill()
	after := string(at(finishTask(p.start(t), id, "completed").Result, "result"))
	if before != after {
		t.Errorf("the result changed over the restart\nbefore %s\nafter  %s", before, after)
	}
	for _, fragment := range []string{arguments, oddMembers} {
		if !strings.Contains(after, fragment) {
			t.Errorf("the result lost the bytes %s\nit is %s", fragment, after)
		}
	}
	if n := seen.count("call echo"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// oddMembers is what the fixture's echo adds to its results.
const oddMembers = `"x-odd": {"none":null, "one":1.0,"big":9007199254740993,"raw":"é 日本 ` + "\u2028" +
	`","escaped":"\u00e9\u65e5\/","exp":1E+2,"":[ ]}`

func TestPlainResultKeepsItsBytesInTheOtherEra(t *testing.T) {
	for _, server := range []string{"legacy", "modern"} {
		p, _ := proxyAround(t, server)
		answer := p.start(t).ask(plain.toolCall("1", "echo", `{"z": 1.0}`)).Raw
		if !strings.Contains(answer, `"structuredContent":{"z": 1.0},`+oddMembers) {
			t.Errorf("%s server: bytes were lost: %s", server, answer)
		}
	}
}

func TestProxyKilledInTheMiddleOfACall(t *testing.T) {
	p, seen := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	h := p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "gate", `{}`)))
	h.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
	h.kill()
	failed := finishTask(p.start(t), id, "failed")
	why, outcome := reason(at(failed.Result, "error"))
	if why != "proxy_restarted" || outcome != "unknown" {
		t.Errorf("reason %q, outcome %q: %s", why, outcome, failed.Raw)
	}
	if n := seen.count("call gate"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// Whatever the kill hits, the call is made at most once, and the task ends.
func TestProxyKilledRightAfterTheHandle(t *testing.T) {
	for round := range 5 {
		t.Run(fmt.Sprint(round), func(t *testing.T) {
			p, seen := proxyAround(t, "legacy")
			p.Config = alwaysTasks
			h := p.start(t)
			id := taskOf(t, h.ask(declared.toolCall("1", "release", `{}`)))
			h.kill()
			ended := pollTask(p.start(t), id, terminal)
			checkAtMostOnce(t, ended, seen.count("call release"))
		})
	}
}

func checkAtMostOnce(t *testing.T, ended message, calls int) {
	t.Helper()
	_, outcome := reason(at(ended.Result, "error"))
	switch {
	case calls > 1:
		t.Errorf("the tool was called %d times", calls)
	case ended.text("status") == "completed" && calls == 1:
	case ended.text("status") == "failed" && outcome == "unknown":
	default:
		t.Errorf("after %d calls the task is %s", calls, cut(ended.Raw))
	}
}

// In both eras: the caller learns how the server ended and what it said last,
// and the next call starts it again.
func TestServerThatCrashes(t *testing.T) {
	initialized := func(id, tool, arguments string) string { return toolCall(id, tool, arguments) }
	for name, call := range map[string]func(id, tool, arguments string) string{"initialize": initialized, "stateless": plain.toolCall} {
		t.Run(name, func(t *testing.T) {
			p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
			h := p.start(t)
			if name == "initialize" {
				h.initialize("2025-11-25")
			}
			checkCrash(t, h.ask(call("1", "crash", `{}`)).Error)
			if m := h.ask(call("2", "release", `{}`)); m.Error != nil {
				t.Errorf("the next call was not served: %s", m.Raw)
			}
			if n := seen.count("call crash"); n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}

func checkCrash(t *testing.T, err []byte) {
	t.Helper()
	if why, outcome := reason(err); why != "upstream_exited" || outcome != "unknown" {
		t.Errorf("reason %q, outcome %q", why, outcome)
	}
	for _, fact := range []string{"exit status 7", "last words 1", "last words 3"} {
		if !strings.Contains(string(err), fact) {
			t.Errorf("the error does not tell %q: %s", fact, err)
		}
	}
}

func TestServerThatCrashesUnderATask(t *testing.T) {
	p, seen := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	h := p.start(t)
	waiting := taskOf(t, h.ask(declared.toolCall("1", "gate", `{}`)))
	h.await("the server to have the call", func() bool { return seen.count("call gate") > 0 }) // tasks are sent in any order
	crashing := taskOf(t, h.ask(declared.toolCall("2", "crash", `{}`)))
	for _, id := range []string{crashing, waiting} {
		checkCrash(t, at(finishTask(h, id, "failed").Result, "error"))
	}
}

// A server that cannot start at all is an error of the call and of the log.
func TestServerThatCannotStart(t *testing.T) {
	p := &proxied{Upstream: []string{"sh", "-c", "echo no licence >&2; exit 9"}, StateDir: t.TempDir()}
	m := p.start(t).ask(plain.toolCall("1", "echo", `{}`))
	why, outcome := reason(m.Error)
	if (why != "upstream_start" && why != "upstream_exited") || outcome != "not_dispatched" {
		t.Errorf("reason %q, outcome %q: %s", why, outcome, m.Raw)
	}
	if !strings.Contains(m.Raw, "exit status 9") || !strings.Contains(m.Raw, "no licence") {
		t.Errorf("the error does not tell the exit status and stderr: %s", m.Raw)
	}
}
