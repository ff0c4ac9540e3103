package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// A state in which any one character differs is refused, and neither reaches the
// server nor uses up the true one.
func TestAlteredStateIsRefused(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	h := p.start(t)
	state := h.ask(answers.quiz("1", `{}`, "")).state(t)
	text := strings.Trim(state, `"`)
	for i := range text {
		other := "A"
		if text[i] == 'A' {
			other = "B"
		}
		m := h.ask(answers.retry(h.freshID(), `{}`, `"`+text[:i]+other+text[i+1:]+`"`, `{"elicitation-1":{"action":"decline"}}`))
		if checkStateRefused(t, m); t.Failed() {
			t.Fatalf("the character at %d of %s was altered to %s", i, state, other)
		}
	}
	for _, odd := range []string{`""`, `"` + text + `."`, `"` + text[:len(text)-1] + `"`, `"` + text + text + `"`, `" ` + text + `"`, `7`, `null`} {
		if m := h.ask(answers.retry(h.freshID(), `{}`, odd, `{"elicitation-1":{"action":"decline"}}`)); m.code() != -32602 {
			t.Errorf("the state %s gives %s", odd, cut(m.Raw))
		}
	}
	if m := h.ask(answers.retry(h.freshID(), `{}`, state, `{"elicitation-1":`+yes+`}`)); m.text("resultType") != "complete" {
		t.Errorf("the true state gives %s", m.Raw)
	}
	if n := seen.count("call quiz"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// A state is its owner's alone, with whichever token.
func TestForeignStateIsRefused(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	withTokens(t, p)
	l := p.listen(t)
	alice, bob, again := l.joinAs(bearer(aliceToken)), l.joinAs(bearer(bobToken)), l.joinAs(bearer(aliceSecond))
	state := alice.ask(answers.quiz("1", `{}`, "")).state(t)
	checkStateRefused(t, bob.ask(answers.retry("1", `{}`, state, `{"elicitation-1":`+yes+`}`)))
	if m := again.ask(answers.retry("1", `{}`, state, `{"elicitation-1":`+yes+`}`)); m.text("resultType") != "complete" {
		t.Errorf("the owner's state gives %s", m.Raw)
	}
	if n := seen.count("call quiz"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// Nobody answers a question of another's task.
func TestForeignQuestionIsNotAnswered(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	withTokens(t, p)
	p.Flags = append(p.Flags, "--after", "1h")
	l := p.listen(t)
	alice, bob := l.joinAs(bearer(aliceToken)), l.joinAs(bearer(bobToken))
	id := taskOf(t, alice.ask(both.quiz("1", `{}`, "")))
	if m := bob.update(id, `{"elicitation-1":`+yes+`}`); m.code() != -32602 {
		t.Errorf("another's update gives %s", m.Raw)
	}
	if m := pollTask(alice, id, func(message) bool { return true }); len(m.asked()) != 1 {
		t.Errorf("the question is gone: %s", m.Raw)
	}
	alice.update(id, `{"elicitation-1":{"action":"decline"}}`)
	m := finishTask(alice, id, "completed")
	if got := string(at(m.Result, "result", "structuredContent", "rounds")); got != `[{"form":{"result":{"action":"decline"}}}]` {
		t.Errorf("the server heard %s", got)
	}
}

// What one proxy has sealed, one with another state directory does not know.
func TestStateOfAnotherProxyIsRefused(t *testing.T) {
	t.Parallel()
	one, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	other, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	state := one.start(t).ask(answers.quiz("1", `{}`, "")).state(t)
	checkStateRefused(t, other.start(t).ask(answers.retry("1", `{}`, state, `{"elicitation-1":`+yes+`}`)))
	if n := seen.count("call quiz"); n != 0 {
		t.Errorf("the tool was called %d times", n)
	}
}

// Of many who come back with the same state at once, one gets the result.
func TestStateIsGoodOnceAlsoAtOnce(t *testing.T) {
	for _, y := range statelessWays {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
			h := y.start(t, p)
			state := h.ask(answers.quiz("0", `{}`, "")).state(t)
			const many = 20
			for i := range many {
				h.send(answers.retry(fmt.Sprint(i+1), `{}`, state, `{"elicitation-1":`+yes+`}`))
			}
			won := 0
			for i := range many {
				if m := h.response(fmt.Sprint(i + 1)); m.text("resultType") == "complete" {
					won++
				} else {
					checkStateRefused(t, m)
				}
			}
			if n := seen.count("call quiz"); won != 1 || n != 1 {
				t.Errorf("%d got the result, the tool was called %d times", won, n)
			}
		})
	}
}

// An approval that comes many times at once sends the call once.
func TestApprovalIsGoodOnceAlsoAtOnce(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = "approve: true\ntools: {look: {approve: false}}\n"
	h := p.start(t)
	state := h.ask(answers.toolCall("0", "erase", `{}`)).state(t)
	id := taskOf(t, h.ask(both.toolCall(`"task"`, "add", `{}`)))
	const many = 20
	for i := range many {
		h.send(answers.request(fmt.Sprint(i+1), "tools/call", `{"name":"erase","arguments":{},"requestState":`+state+`,"inputResponses":{"approval-1":`+yes+`}}`))
		h.send(both.request(fmt.Sprintf(`"u%d"`, i+1), "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":{"approval-1":%s}}`, id, yes)))
	}
	for i := range many {
		h.response(fmt.Sprint(i + 1))
		h.response(fmt.Sprintf(`"u%d"`, i+1))
	}
	finishTask(h, id, "completed")
	if erased, added := seen.count("call erase"), seen.count("call add"); erased != 1 || added != 1 {
		t.Errorf("the tools were called %d and %d times", erased, added)
	}
}

// After the proxy was killed the approval is asked for under another key, and
// what is approved then is called, once.
func TestApprovalIsAskedForAgainAfterAKill(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = "tools: {erase: {approve: true}}\n"
	h := p.start(t)
	id := taskOf(t, h.ask(both.toolCall("1", "erase", `{}`)))
	before := pollTask(h, id, func(m message) bool { return len(m.asked()) > 0 }).asked()
	h.kill()
	h = p.start(t)
	after := pollTask(h, id, func(m message) bool { return len(m.asked()) > 0 }).asked()
	if len(before) != 1 || len(after) != 1 || before[0] == after[0] {
		t.Fatalf("asked are %v, then %v", before, after)
	}
	h.update(id, `{"`+before[0]+`":`+yes+`}`)
	h.ask(both.toolCall("1", "look", `{}`))
	if n := seen.count("call erase"); n != 0 {
		t.Errorf("the tool was called %d times by an answer to what the former process had asked", n)
	}
	h.update(id, `{"`+after[0]+`":`+yes+`}`)
	finishTask(h, id, "completed")
	if n := seen.count("call erase"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}
