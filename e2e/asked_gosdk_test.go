package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A server of the Go SDK asks twice under one key, in a task and by the call. (In
// the initialize era it asks once, and puts the second question into its result.)
func TestGoSDKServerThatAsksTwice(t *testing.T) {
	t.Parallel()
	p := &proxied{Upstream: []string{fixture(t, "plain")}, StateDir: t.TempDir(), Flags: []string{"--after", "1h"}}
	t.Run("task", func(t *testing.T) {
		h := p.start(t)
		id := taskOf(t, h.ask(both.toolCall("1", "ask_twice", `{}`)))
		for n, field := range []string{"first", "second"} {
			key := fmt.Sprintf("%d.answer", n+1)
			pollTask(h, id, func(m message) bool { return slices.Contains(m.asked(), key) })
			h.update(id, fmt.Sprintf(`{%q:{"action":"accept","content":{%q:"é"}}}`, key, field))
		}
		checkAskedTwice(t, finishTask(h, id, "completed").Raw)
		h.stop()
	})
	t.Run("call", func(t *testing.T) {
		h := p.start(t)
		m := h.ask(answers.toolCall("1", "ask_twice", `{}`))
		for n, field := range []string{"first", "second"} {
			more := fmt.Sprintf(`"inputResponses":{"answer":{"action":"accept","content":{%q:"é"}}}`, field)
			if state := at(m.Result, "requestState"); state != nil {
				more += `,"requestState":` + string(state)
			}
			if diff := slices.Compare(m.asked(), []string{"answer"}); diff != 0 {
				t.Fatalf("asked is %s", m.Raw)
			}
			m = h.ask(answers.request(fmt.Sprint(n+2), "tools/call", `{"name":"ask_twice","arguments":{},`+more+`}`))
		}
		checkAskedTwice(t, m.Raw)
		h.stop()
	})
}

func checkAskedTwice(t *testing.T, line string) {
	t.Helper()
	if !strings.Contains(line, "the second answer is é") {
		t.Errorf("the tool answered %s", cut(line))
	}
}
