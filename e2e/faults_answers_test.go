package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// fault is a server's way of not answering a call. It is the tool's name, too.
type fault struct {
	name            string
	do              act
	reason, outcome string
	says            []string // in the error's text
}

// A megabyte is the limit of message_bytes in these tests.
const aMegabyte = 1 << 20

var faults = []fault{
	{"status_500", saying(500, "text/plain", "it broke"), "upstream_http", "unknown", []string{"HTTP 500", "it broke"}},
	{"status_502_page", saying(502, "text/html", "<html><h1>502 Bad\nGateway</h1></html>"), "upstream_http", "unknown", []string{"HTTP 502", "Bad Gateway"}},
	{"status_503", saying(503, "text/plain", "no healthy upstream"), "upstream_http", "unknown", []string{"HTTP 503", "no healthy upstream"}},
	{"status_503_with_a_time", later, "upstream_http", "not_dispatched", []string{"HTTP 503", "later"}},
	{"status_429", saying(429, "text/plain", "slow down"), "upstream_http", "not_dispatched", []string{"HTTP 429", "slow down"}},
	{"status_401", saying(401, "text/plain", "who are you"), "upstream_unauthorized", "not_dispatched", []string{"HTTP 401", "who are you", "Authorization"}},
	{"status_403", saying(403, "text/html", "<p>no</p>"), "upstream_unauthorized", "not_dispatched", []string{"HTTP 403"}},
	{"page", saying(200, "text/html", "<html>Welcome to nginx!</html>"), "upstream_http", "unknown", []string{"text/html", "Welcome to nginx!", "MCP endpoint"}},
	{"nothing", saying(200, "application/json", ""), "upstream_http", "unknown", []string{"nothing"}},
	{"accepted", saying(202, "", ""), "upstream_http", "unknown", []string{"HTTP 202"}},
	{"no_json", saying(200, "application/json", `{"jsonrpc":"2.0","id":`), "upstream_invalid", "unknown", nil},
	{"other_id", saying(200, "application/json", `{"jsonrpc":"2.0","id":"nobody","result":{}}`), "upstream_invalid", "unknown", nil},
	{"endless", endless, "too_large", "done", []string{"limits.message_bytes", "1048576"}},
	{"over_limit", answering(`{"content":[{"type":"text","text":"` + strings.Repeat("x", aMegabyte) + `"}]}`), "too_large", "done", []string{"limits.message_bytes", "1048576"}},
	{"event_over_limit", streaming("data: ANSWER" + strings.Repeat(" ", aMegabyte) + "\n\n"), "too_large", "done", []string{"limits.message_bytes", "1048576"}},
	{"half_an_event", streaming(": hello\n\n", "data: ANSWER"), "upstream_stream_cut", "unknown", nil},
	{"stream_without_answer", streaming(": hello\n\n"), "upstream_stream_cut", "unknown", nil},
	{"cut_behind_the_effect", cutOff(""), "upstream_stream_cut", "unknown", nil},
	{"cut_in_the_head", cutOff("HTTP/1.1 200 OK\r\nContent-Type: appl"), "upstream_stream_cut", "unknown", nil},
	{"cut_in_the_body", cutOff("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"jsonrpc\""), "upstream_stream_cut", "unknown", nil},
}

// later is the word of who has not begun: others say 503 of a request that they
// had passed on.
func later(w http.ResponseWriter, v visit) {
	w.Header().Set("Retry-After", "5")
	saying(http.StatusServiceUnavailable, "text/plain", "later")(w, v)
}

// endless is valid JSON as far as it goes.
func endless(w http.ResponseWriter, v visit) {
	w.Header().Set("Content-Type", "application/json")
	_, err := fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, v.ID)
	for err == nil {
		_, err = io.WriteString(w, strings.Repeat("x", 64<<10))
	}
}

// streaming sends pieces of a stream of events and ends; ANSWER stands for the
// answer.
func streaming(pieces ...string) act {
	return func(w http.ResponseWriter, v visit) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, piece := range pieces {
			_, _ = io.WriteString(w, strings.ReplaceAll(piece, "ANSWER", v.answer(doneResult)))
			_ = http.NewResponseController(w).Flush()
		}
	}
}

// cutOff closes the connection behind some bytes.
func cutOff(bytes string) act {
	return func(w http.ResponseWriter, _ visit) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(err) // HTTP/1 connections can be taken over
		}
		_, _ = io.WriteString(conn, bytes)
		_ = conn.Close()
	}
}

// advice is what the last sentence of an error tells its reader to do.
var advice = map[string]string{
	"not_dispatched": "it can be repeated.", "unknown": "check before repeating it.", "done": "do not repeat it.",
}

// check holds an error of the proxy against what happened: it names the side,
// what became of the work, and what to do.
func (f fault) check(t testing.TB, object json.RawMessage) {
	t.Helper()
	var text string
	_ = json.Unmarshal(at(object, "message"), &text)
	if why, outcome := reason(object); why != f.reason || outcome != f.outcome || string(at(object, "code")) != "-32603" {
		t.Errorf("%s: reason %q, outcome %q; want %q, %q: %s", f.name, why, outcome, f.reason, f.outcome, cut(string(object)))
	}
	if !strings.HasPrefix(text, "The upstream server") || !strings.HasSuffix(text, advice[f.outcome]) {
		t.Errorf("%s: the text does not name the side and what to do: %s", f.name, text)
	}
	for _, fact := range f.says {
		if !strings.Contains(text, fact) {
			t.Errorf("%s: the text does not say %q: %s", f.name, fact, text)
		}
	}
}

// Whatever a server gives for an answer, the call fails alone, once, and says
// why; the next one is served.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	everyPair(t, ways, func(t *testing.T, start func(testing.TB, map[string]act) *scripted, y way) {
		s := start(t, actsOf(faults))
		h := y.start(t, proxyTo(t, s))
		for _, f := range faults {
			f.check(t, h.ask(y.call(h.freshID(), f.name, `{}`)).Error)
			s.want(t, "tools/call "+f.name, 1)
		}
		if m := h.ask(y.call(h.freshID(), "run", `{}`)); m.Error != nil {
			t.Errorf("the next call was not served: %s", m.Raw)
		}
	})
}

func actsOf(faults []fault) map[string]act {
	acts := map[string]act{}
	for _, f := range faults {
		acts["tools/call "+f.name] = f.do
	}
	return acts
}

// A task ends with the same error as the call would have, and for good.
func TestTasksWhoseAnswersAreNone(t *testing.T) {
	t.Parallel()
	everyPair(t, statelessWays, func(t *testing.T, start func(testing.TB, map[string]act) *scripted, y way) {
		s := start(t, actsOf(faults))
		p := proxyTo(t, s)
		h := y.start(t, p)
		ids := map[string]string{}
		for _, f := range faults {
			ids[f.name] = taskOf(t, h.ask(declared.toolCall(h.freshID(), taskPrefix+f.name, `{}`)))
		}
		for _, f := range faults {
			f.check(t, at(finishTask(h, ids[f.name], "failed").Result, "error"))
		}
		h.kill()
		h = y.start(t, p)
		for _, f := range faults {
			f.check(t, at(finishTask(h, ids[f.name], "failed").Result, "error"))
			s.want(t, "tools/call "+f.name, 1)
		}
	})
}
