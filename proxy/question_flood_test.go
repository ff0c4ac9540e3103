package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// While the run is busy, with its disk as a rule, what the server asks waits in its
// mail: no more of it than could be asked at all.
func TestQuestionsThatWaitForTheRunAreBounded(t *testing.T) {
	for name, test := range map[string]struct{ size, asked, wait int }{
		"short": {10, 10_000, maxInputs - 1}, // one is open already
		"long":  {maxInputBytes / 8, 100, 7},
	} {
		bubble(t, func(t *testing.T, store *disk) {
			r := newRig(t, store, upstream.Initialize, inTask)
			p, id := r.asksOne()
			run := r.proxy.opts.Tasks.runOf(id)
			goOn := busy(run)
			answers := make(chan wire.Message, test.asked)
			question := wire.Request(0, "elicitation/create", []byte(`{"message":"`+strings.Repeat("x", test.size)+`"}`))
			for range test.asked {
				run.ask(question, func(m wire.Message) { answers <- m })
			}
			if n := test.asked - len(answers); n < test.wait || n > test.wait+1 {
				t.Errorf("%s: %d questions wait, want %d or one more", name, n, test.wait)
			}
			if m := <-answers; !strings.Contains(string(m.Err()), "too many questions") {
				t.Errorf("%s: refused with %s", name, m.Raw())
			}
			if n := r.warnings.Load(); n != 1 {
				t.Errorf("%s: %d warnings while the run is busy", name, n)
			}
			goOn()
			settle()
			if n := test.asked - len(answers) - 1; n > test.wait {
				t.Errorf("%s: %d questions are open", name, n)
			}
			other := r.calls(`{"name":"other"}`, func(req *Request) { req.Tasks = false })
			r.next().ends(done)
			if got := string(other.result()); got != done {
				t.Errorf("%s: another call gets %s", name, got)
			}
			p.ends(done)
			r.wantEnd(id, "completed")
			time.Sleep(time.Second)
			if n := r.warnings.Load(); n != 1 {
				t.Errorf("%s: %d warnings in all", name, n)
			}
			if len(answers) != test.asked-1 {
				t.Errorf("%s: %d of %d questions got no answer", name, test.asked-1-len(answers), test.asked)
			}
		})
	}
}
