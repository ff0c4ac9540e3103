package e2e

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
)

// cutStream answers with an event to go on from, and cuts; ids are the tool's.
func cutStream(w http.ResponseWriter, v visit) {
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = fmt.Fprintf(w, "id: %s\nretry: 10\ndata:\n\n", v.tool())
}

// resumedWith serves GET: news are not to be had, the rest of a cut stream is.
func resumedWith(rest func(w http.ResponseWriter, last string)) act {
	return func(w http.ResponseWriter, v visit) {
		last := v.header("Last-Event-ID")
		if last == "" {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		rest(w, last)
	}
}

// The answer to a call whose stream was cut comes on the next one: once for the
// host, whether it is there once or twice, and the call is not made again
// (2025-11-25, Transports, Resumability and Redelivery).
func TestCutStreamOfACallIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	for _, y := range ways {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			s := startLegacy(t, map[string]act{"tools/call cut": cutStream})
			s.on("GET", resumedWith(s.completeAt(3)))
			h := y.start(t, proxyTo(t, s))
			if m := h.ask(y.call("1", "cut", `{}`)); m.Error != nil {
				t.Errorf("the call failed: %s", m.Raw)
			}
			h.ask(y.call("2", "run", `{}`))
			if left := h.left(); len(left) > 0 {
				t.Errorf("more came than two answers: %v", left)
			}
			s.want(t, "tools/call cut", 1)
		})
	}
}

// completeAt has the rest of a cut stream on the try of this number, with the
// answer twice, and cuts all tries before it.
func (s *scripted) completeAt(try int) func(w http.ResponseWriter, last string) {
	tries := 0
	return func(w http.ResponseWriter, last string) {
		s.mu.Lock()
		tries++
		complete := tries >= try
		s.mu.Unlock()
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "id: %s again\ndata:\n\n", last)
		if complete {
			answer := visit{message: message{ID: s.lastID()}}.answer(doneResult)
			_, _ = io.WriteString(w, "data: "+answer+"\n\ndata: "+answer+"\n\n")
		}
	}
}

// A server that refuses to go on is not asked for ever, and the error says what
// it answered: the reader must know that credentials are the matter.
func TestCredentialsExpireInTheMiddleOfATask(t *testing.T) {
	t.Parallel()
	for _, y := range statelessWays {
		t.Run(y.name, func(t *testing.T) {
			t.Parallel()
			s := startLegacy(t, map[string]act{"tools/call cut": cutStream})
			s.on("GET", resumedWith(func(w http.ResponseWriter, _ string) { http.Error(w, "expired", http.StatusUnauthorized) }))
			h := y.start(t, proxyTo(t, s))
			id := taskOf(t, h.ask(declared.toolCall("1", taskPrefix+"cut", `{}`)))
			failed := finishTask(h, id, "failed")
			f := fault{"cut", nil, "upstream_unauthorized", "unknown", []string{"HTTP 401"}}
			f.check(t, at(failed.Result, "error"))
			s.want(t, "tools/call cut", 1)
			if n := s.resumed(); n != 1 {
				t.Errorf("the server was asked %d times to go on", n)
			}
		})
	}
}

// resumed is how often the server was asked to go on.
func (s *scripted) resumed() (n int) {
	for _, v := range s.visits("GET") {
		if v.header("Last-Event-ID") != "" {
			n++
		}
	}
	return n
}

// lastID is the id under which the server knows its newest tools/call.
func (s *scripted) lastID() json.RawMessage {
	calls := s.visits("tools/call")
	return calls[len(calls)-1].ID
}

// In the stateless era streams are not resumable: no id makes them so.
func TestCutStreamOfAModernServerIsNotTakenUp(t *testing.T) {
	t.Parallel()
	s := startModern(t, map[string]act{"tools/call cut": cutStream})
	h := proxyTo(t, s).start(t)
	f := fault{"cut", nil, "upstream_stream_cut", "unknown", nil}
	f.check(t, h.ask(plain.toolCall("1", "cut", `{}`)).Error)
	s.want(t, "tools/call cut", 1)
	s.want(t, "GET", 0)
}
