package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// The line, without its end, has exactly this many bytes.
func lineOf(t *testing.T, size int, build func(arguments string) string) string {
	t.Helper()
	bare := len(build(`{"x":""}`))
	line := build(`{"x":"` + strings.Repeat("é", 3) + strings.Repeat("x", size-bare-6) + `"}`)
	if len(line) != size {
		t.Fatalf("the line has %d bytes, not %d", len(line), size)
	}
	return line
}

func TestLongLinesBothWays(t *testing.T) {
	sizes := []int{1 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 5_000_000}
	if !raceEnabled { // a minute's work for the race detector, which has nothing new to see in it
		sizes = append(sizes, 32_000_000)
	}
	for _, size := range sizes {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
			h := p.start(t)
			h.initialize("2025-11-25")
			line := lineOf(t, size, func(arguments string) string { return request("1", "vendor/echo", arguments) })
			sent, _ := parseMessage(line)
			if got := string(at(h.ask(line).Result, "params")); got != string(sent.Params) {
				t.Errorf("what came back differs: %s", cut(got))
			}
		})
	}
}

func TestLongResultOfATask(t *testing.T) {
	p, _ := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	h := p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "flood", `{"bytes":5000000}`)))
	result := at(finishTask(h, id, "completed").Result, "result")
	if n := strings.Count(string(result), "x"); n < 5_000_000 {
		t.Errorf("only %d bytes came back", n)
	}
}

const smallLimit = "limits: {message_bytes: 1MiB}\n"

func TestMessageOfExactlyTheLimitPasses(t *testing.T) {
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = smallLimit
	h := p.start(t)
	h.initialize("2025-11-25")
	line := lineOf(t, 1<<20, func(arguments string) string { return request("1", "resources/read", arguments) })
	if m := h.ask(line); m.Error != nil {
		t.Errorf("refused: %s", cut(m.Raw))
	}
}

func TestRequestOverTheLimitFailsAloneAndTheStreamGoesOn(t *testing.T) {
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = smallLimit
	h := p.start(t)
	h.initialize("2025-11-25")
	m := h.ask(lineOf(t, 1<<20+1, func(arguments string) string { return toolCall("1", "echo", arguments) }))
	if why, outcome := reason(m.Error); why != "too_large" || outcome != "not_dispatched" {
		t.Errorf("reason %q, outcome %q: %s", why, outcome, cut(m.Raw))
	}
	if m := h.ask(toolCall("2", "release", `{}`)); m.Error != nil {
		t.Errorf("the stream did not go on: %s", m.Raw)
	}
	if n := seen.count("call echo"); n != 0 {
		t.Errorf("the server heard of the call %d times", n)
	}
}

func TestAnswerOverTheLimitFailsAloneAndTheStreamGoesOn(t *testing.T) {
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = smallLimit
	h := p.start(t)
	h.initialize("2025-11-25")
	m := h.ask(toolCall("1", "flood", `{"bytes":2000000}`))
	if why, outcome := reason(m.Error); why != "too_large" || outcome == "not_dispatched" {
		t.Errorf("reason %q, outcome %q: %s", why, outcome, cut(m.Raw))
	}
	if m := h.ask(toolCall("2", "release", `{}`)); m.Error != nil {
		t.Errorf("the stream did not go on: %s", m.Raw)
	}
	if n := seen.count("call flood"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// Every one of many calls in flight gets its own answer.
func TestManyCallsAtOnce(t *testing.T) {
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	h := p.start(t)
	h.initialize("2025-11-25")
	const calls = 200
	for i := range calls {
		h.send(toolCall(fmt.Sprint(i), "echo", fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i := range calls {
		m := h.response(fmt.Sprint(i))
		if got, want := string(at(m.Result, "structuredContent")), fmt.Sprintf(`{"n":%d}`, i); got != want {
			t.Errorf("call %d was answered %s", i, got)
		}
	}
}

func TestManyTasksAtOnce(t *testing.T) {
	p, seen := proxyAround(t, "legacy")
	p.Config = alwaysTasks
	h := p.start(t)
	const calls = 50
	for i := range calls {
		h.send(declared.toolCall(fmt.Sprint(i), "echo", fmt.Sprintf(`{"n":%d}`, i)))
	}
	for i := range calls {
		m := finishTask(h, taskOf(t, h.response(fmt.Sprint(i))), "completed")
		if got, want := string(at(m.Result, "result", "structuredContent")), fmt.Sprintf(`{"n":%d}`, i); got != want {
			t.Errorf("task %d holds %s", i, got)
		}
	}
	if n := seen.count("call echo"); n != calls {
		t.Errorf("the tool was called %d times", n)
	}
}
