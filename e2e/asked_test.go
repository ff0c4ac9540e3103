package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Tests of questions that a server asks in a call, where a conversation does not
// do: several hosts, races, bytes.

const yes = `{"action":"accept","content":{"ok":true}}`

// quiz is a call of the tool that asks; more are further members of its params.
func (s stateless) quiz(id, arguments, more string) string {
	return s.request(id, "tools/call", `{"name":"quiz","arguments":`+arguments+more+`}`)
}

// retry is the same with answers to the questions that a result asked.
func (s stateless) retry(id, arguments, state, responses string) string {
	return s.quiz(id, arguments, `,"requestState":`+state+`,"inputResponses":`+responses)
}

func (h *host) update(taskID, responses string) message {
	h.t.Helper()
	return h.ask(both.request(h.freshID(), "tasks/update", fmt.Sprintf(`{"taskId":%q,"inputResponses":%s}`, taskID, responses)))
}

// asked are the keys of the questions that a result or a task holds, sorted.
func (m message) asked() []string {
	var requests map[string]json.RawMessage
	_ = json.Unmarshal(at(m.Result, "inputRequests"), &requests)
	var keys []string
	for key := range requests {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// state is the raw requestState of a result that asks, and insists that it does.
func (m message) state(t testing.TB) string {
	t.Helper()
	if m.text("resultType") != "input_required" || m.text("requestState") == "" {
		t.Fatalf("nothing is asked: %s", cut(m.Raw))
	}
	return string(at(m.Result, "requestState"))
}

// checkStateRefused wants the error for a state that is not good for this call.
func checkStateRefused(t testing.TB, m message) {
	t.Helper()
	if why, _ := reason(m.Error); m.code() != -32602 || why != "request_state" {
		t.Errorf("a state that is no good for this call gives %s", cut(m.Raw))
	}
}

// The host that was asked goes away; another process of the same owner's finds
// the question under the same key, and answers it.
func TestQuestionIsThereForAHostThatComesBack(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Flags = []string{"--after", "1h"}
	l := p.listen(t)
	first := l.join()
	id := taskOf(t, first.ask(both.quiz("1", `{}`, "")))
	first.stdin.(*httpWire).stop()
	second := l.join()
	m := pollTask(second, id, func(m message) bool { return m.text("status") == "input_required" })
	if diff := cmp.Diff([]string{"elicitation-1"}, m.asked()); diff != "" {
		t.Errorf("what is asked (-want +got):\n%s", diff)
	}
	second.update(id, `{"elicitation-1":`+yes+`}`)
	finishTask(second, id, "completed")
	if n := seen.count("call quiz"); n != 1 {
		t.Errorf("the tool was called %d times", n)
	}
}

// A server that asks by its result is called again under a new id, with the same
// name, arguments and _meta, its own keys and its state in every byte; nothing
// else is sent to it.
func TestRoundsRepeatTheCallAndNothingElse(t *testing.T) {
	arguments := `{ "rounds":[["form"],["form"]], "big":9007199254740993, "one":1.0,"e":"\u00e9\/"}`
	t.Run("task", func(t *testing.T) {
		t.Parallel()
		p, seen := proxyAround(t, "modern")
		p.Flags = []string{"--after", "1h"}
		h := p.start(t)
		id := taskOf(t, h.ask(stateless{Tasks: true, Answers: true, Meta: `"progressToken":"p","traceparent":"00-1"`}.quiz("1", arguments, `,"x-odd":[ 1.0 ]`)))
		for round := range 2 {
			key := fmt.Sprintf("%d.form", round+1)
			pollTask(h, id, func(m message) bool { return slices.Contains(m.asked(), key) })
			h.update(id, `{"`+key+`":`+yes+`}`)
		}
		finishTask(h, id, "completed")
		checkRounds(t, seen, arguments, `[ 1.0 ]`)
	})
	t.Run("initialize host", func(t *testing.T) {
		t.Parallel()
		p, seen := proxyAround(t, "modern")
		h := p.start(t)
		h.initialize("2025-11-25")
		h.send(request("1", "tools/call", `{"name":"quiz","arguments":`+arguments+`,"_meta":{"progressToken":"p","traceparent":"00-1"},"x-odd":[ 1.0 ]}`))
		for range 2 {
			q := h.next()
			h.send(`{"jsonrpc":"2.0","id":` + string(q.ID) + `,"result":` + yes + `}`)
		}
		h.response("1")
		checkRounds(t, seen, arguments, `[ 1.0 ]`)
	})
}

// greets are what a session begins with.
var greets = map[string]bool{"server/discover": true, "initialize": true, "subscriptions/listen": true}

func checkRounds(t *testing.T, seen *records, arguments, odd string) {
	t.Helper()
	var ids, states []string
	for _, line := range seen.received() {
		m, err := parseMessage(line)
		if err != nil || m.Method != "tools/call" {
			if !greets[m.Method] {
				t.Errorf("the server was sent %s, %v", cut(line), err)
			}
			continue
		}
		ids, states = append(ids, string(m.ID)), append(states, string(at(m.Params, "requestState")))
		if string(at(m.Params, "arguments")) != arguments || string(at(m.Params, "x-odd")) != odd || string(at(m.Params, "_meta", "traceparent")) != `"00-1"` {
			t.Errorf("the call was repeated as %s", cut(line))
		}
	}
	want := []string{"", `"\u00e9\/[]"`, `"\u00e9\/[{\"form\":` + strings.ReplaceAll(yes, `"`, `\"`) + `}]"`}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if slices.Sort(ids); len(slices.Compact(ids)) != 3 {
		t.Errorf("the ids are %v", ids)
	}
}

// Two questions at once, in whatever order they arrive: the host answers what it
// is asked until it is asked no more, and there is one call at the server.
func TestHostThatAnswersWhatItIsAskedGetsTheResult(t *testing.T) {
	for _, y := range statelessWays {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
			h := y.start(t, p)
			const arguments = `{"rounds":[["form:a","form:b"],["form:c"]]}`
			m := h.ask(answers.quiz("1", arguments, ""))
			met := map[string]bool{}
			for m.text("resultType") == "input_required" {
				var all []string
				for _, key := range m.asked() {
					if met[key] {
						t.Errorf("%s is asked again: %s", key, m.Raw)
					}
					met[key] = true
					all = append(all, fmt.Sprintf("%q:%s", key, yes))
				}
				m = h.ask(answers.retry(h.freshID(), arguments, m.state(t), "{"+strings.Join(all, ",")+"}"))
			}
			want := `{"rounds":[{"a":{"result":` + yes + `},"b":{"result":` + yes + `}},{"c":{"result":` + yes + `}}]}`
			if got := string(at(m.Result, "structuredContent")); got != want {
				t.Errorf("the server heard %s, want %s", got, want)
			}
			if n := seen.count("call quiz"); n != 1 || len(met) != 3 {
				t.Errorf("the tool was called %d times, %d questions were asked", n, len(met))
			}
		})
	}
}
