package e2e

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

// A server may take as long as it likes before the first byte of its answer:
// the call becomes a task meanwhile.
func TestHeadersThatAreSlow(t *testing.T) {
	t.Parallel()
	everyPair(t, statelessWays, func(t *testing.T, start func(testing.TB, map[string]act) *scripted, y way) {
		open := make(chan struct{})
		s := start(t, map[string]act{"tools/call slow": func(w http.ResponseWriter, v visit) { <-open; answering(doneResult)(w, v) }})
		p := proxyTo(t, s)
		p.Config = strings.Replace(p.Config, "after: 1h", "after: 200ms", 1)
		h := y.start(t, p)
		id := taskOf(t, h.ask(declared.toolCall("1", "slow", `{}`)))
		close(open)
		finishTask(h, id, "completed")
		s.want(t, "tools/call slow", 1)
	})
}

// Where no head has come yet, a cancel of the host ends the request all the
// same.
func TestHeadersThatNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	everyPair(t, ways, func(t *testing.T, start func(testing.TB, map[string]act) *scripted, y way) {
		never := newNever()
		s := start(t, map[string]act{"tools/call never": never.answer})
		h := y.start(t, proxyTo(t, s))
		h.send(y.call("1", "never", `{}`))
		h.await("the call to reach the server", func() bool { return len(s.visits("tools/call never")) == 1 })
		h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1` + y.noticeMeta() + `}}`)
		never.wantGivenUp(t)
		s.want(t, "tools/call never", 1)
	})
}

// noticeMeta is what a notification of the stateless era carries.
func (y way) noticeMeta() string {
	if y.initialize {
		return ""
	}
	return `,"_meta":{` + metaPlain + `}`
}

// max_run ends the wait for a head that never comes, and the request with it.
func TestHeadersThatNeverCome(t *testing.T) {
	t.Parallel()
	everyPair(t, statelessWays, func(t *testing.T, start func(testing.TB, map[string]act) *scripted, y way) {
		never := newNever()
		s := start(t, map[string]act{"tools/call never": never.answer})
		p := proxyTo(t, s)
		p.Config += "max_run: 300ms\n"
		h := y.start(t, p)
		failed := finishTask(h, taskOf(t, h.ask(declared.toolCall("1", taskPrefix+"never", `{}`))), "failed")
		if why, outcome := reason(at(failed.Result, "error")); why != "max_run" || outcome != "unknown" {
			t.Errorf("reason %q, outcome %q: %s", why, outcome, failed.Raw)
		}
		never.wantGivenUp(t)
		s.want(t, "tools/call never", 1)
	})
}

// never is an answer that does not come.
type never struct{ givenUp chan struct{} }

func newNever() never { return never{make(chan struct{}, 8)} }

func (n never) answer(w http.ResponseWriter, v visit) {
	hanging(w, v)
	n.givenUp <- struct{}{}
}

// wantGivenUp waits until the server is left alone with it.
func (n never) wantGivenUp(t testing.TB) {
	t.Helper()
	select {
	case <-n.givenUp:
	case <-time.After(patience):
		t.Error("the server still has the request")
	}
}
