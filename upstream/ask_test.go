//go:build unix

package upstream

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func TestAQuestionGoesToTheRequestThatItIsAskedFor(t *testing.T) {
	for name, c := range map[string]struct {
		meta    string // $OLD, $NEW and $LIST stand for the ids of the requests
		only    bool   // the newer call takes no questions
		old     bool   // the older call gets it
		guessed bool
	}{
		"the older call's token":              {`"progressToken":$OLD`, false, true, false},
		"the newer call's token":              {`"progressToken":$NEW`, false, false, false},
		"no token":                            {``, false, false, true},
		"a token of nobody":                   {`"progressToken":77`, false, false, true},
		"a token of ours as a string":         {`"progressToken":"$OLD"`, false, false, true},
		"the token of one that takes none":    {`"progressToken":$LIST`, false, false, true},
		"a task of nobody":                    {`"io.modelcontextprotocol/related-task":{"taskId":"x"}`, false, false, true},
		"only one takes any":                  {``, true, true, false},
		"the token of another, only one does": {`"progressToken":$NEW`, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			p, older, newer := newPuppet(t, nil), newTaker(t), newTaker(t)
			first := send(t, p.Client, "tools/call", `{}`, older.takes)
			second := send(t, p.Client, "prompts/get", `{}`, func(r *Request) {
				if !c.only {
					newer.takes(r)
				}
			})
			list := send(t, p.Client, "tools/list", `{}`, nil)
			ask(t, p.Client, "x/heard", `{}`) // from here on they have ids
			p.says(elicitation(`"q1"`, strings.NewReplacer("$OLD", p.idOf(first), "$NEW", p.idOf(second), "$LIST", p.idOf(list)).Replace(c.meta)))
			want, other := newer, older
			if c.old {
				want, other = older, newer
			}
			q := want.next()
			if string(q.message.ID()) != `"q1"` || len(other.questions) > 0 {
				t.Errorf("the question came as %s, %d went astray", q.message.Raw(), len(other.questions))
			}
			q.accept()
			if got := string(p.answer().Raw()); got != `{"jsonrpc":"2.0","id":"q1","result":{"action":"accept"}}` {
				t.Errorf("the server got %s", got)
			}
			if warned := strings.Contains(p.log.String(), "elicitation/create"); warned != c.guessed {
				t.Errorf("the log says that it was guessed: %v, want %v\n%s", warned, c.guessed, p.log)
			}
		})
	}
}

func TestAQuestionWhileNothingCanBeAskedIsRefused(t *testing.T) {
	p, taker := newPuppet(t, nil), newTaker(t)
	send(t, p.Client, "tools/list", `{}`, nil) // it stays open, and takes none
	call := send(t, p.Client, "tools/call", `{}`, taker.takes)
	ask(t, p.Client, "x/heard", `{}`)
	p.ends(call)
	p.says(elicitation("1", ""))
	m := p.answer()
	code, text := string(wire.Get(m.Err(), "code")), string(wire.Get(m.Err(), "message"))
	if code != "-32603" || !strings.Contains(text, "elicitation/create") || !strings.Contains(text, "Ask while one runs") {
		t.Errorf("the server got %s", m.Raw())
	}
	if len(taker.questions) > 0 {
		t.Error("a call that was over got the question")
	}
}

func TestAPingIsAnsweredWhoeverRuns(t *testing.T) {
	p, taker := newPuppet(t, nil), newTaker(t)
	const ping = `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	for range 2 {
		p.says(ping)
		if got := string(p.answer().Raw()); got != `{"jsonrpc":"2.0","id":"p","result":{}}` {
			t.Errorf("the server got %s", got)
		}
		send(t, p.Client, "tools/call", `{}`, taker.takes)
	}
	if len(taker.questions) > 0 {
		t.Error("the call was asked")
	}
}

func TestAHandlerTakesTheQuestionsThatCameOnNoStream(t *testing.T) {
	taker := newTaker(t)
	p := newPuppet(t, func(o *Options) {
		o.Handler.Request = func(m wire.Message, answer func(wire.Message)) { taker.questions <- taken{m, answer} }
	})
	send(t, p.Client, "tools/call", `{}`, func(r *Request) {
		r.Ask = func(wire.Message, func(wire.Message)) func() {
			t.Error("the call was asked")
			return nil
		}
	})
	p.says(elicitation("1", ""), withdrawal("1"))
	if got := p.note(); got.Method() != "notifications/cancelled" {
		t.Errorf("the withdrawal came as %s", got.Raw())
	}
	taker.next().accept()
	if got := string(p.answer().Result()); got != `{"action":"accept"}` {
		t.Errorf("the server got %s", got)
	}
}

func TestAServerOfTheStatelessEraCannotAsk(t *testing.T) {
	p, taker := newPuppet(t, func(o *Options) { o.Hello.Era = Stateless }, "stateless"), newTaker(t)
	send(t, p.Client, "tools/call", `{}`, taker.takes)
	p.says(elicitation("1", ""))
	if m := p.answer(); string(wire.Get(m.Err(), "code")) != "-32601" {
		t.Errorf("the server got %s", m.Raw())
	}
	if len(taker.questions) > 0 {
		t.Error("the call was asked")
	}
}

func TestAWithdrawnQuestionIsTakenBack(t *testing.T) {
	p, taker := newPuppet(t, nil), newTaker(t)
	send(t, p.Client, "tools/call", `{}`, taker.takes)
	p.says(elicitation(`"q1"`, ""), elicitation(`"q2"`, ""), withdrawal(`"q3"`), withdrawal(`"q1"`), withdrawal(`"q1"`))
	first, second := taker.next(), taker.next()
	first.accept() // too late
	second.accept()
	second.accept() // once is enough
	p.says(withdrawal(`"q2"`))
	var got []string
	for len(got) < 4 {
		m := p.note()
		got = append(got, m.Method()+string(wire.Get(m.Params(), "requestId"))+string(wire.Get(m.Params(), "id")))
	}
	// What names no open question is not ours to keep.
	want := []string{`notifications/cancelled"q3"`, `notifications/cancelled"q1"`, `x/answer"q2"`, `notifications/cancelled"q2"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notifications (-want +got):\n%s", diff)
	}
	if id := <-taker.withdrawn; id != `"q1"` || len(taker.withdrawn) > 0 {
		t.Errorf("%s was withdrawn, and %d more", id, len(taker.withdrawn))
	}
}

func TestAWithdrawalThatNobodyTakesGoesOn(t *testing.T) {
	p, taker := newPuppet(t, nil), newTaker(t)
	taker.careless = true
	send(t, p.Client, "tools/call", `{}`, taker.takes)
	p.says(elicitation("1", ""), withdrawal("1"))
	if got := string(p.note().Raw()); got != withdrawal("1") {
		t.Errorf("it came as %s", got)
	}
}

func TestQuestionsThatNobodyAnswersAreBounded(t *testing.T) {
	p, taker := newPuppet(t, nil), newTaker(t)
	call := send(t, p.Client, "tools/call", `{}`, taker.takes)
	flood := make([]string, maxQuestions)
	for i := range flood {
		flood[i] = elicitation(`"same"`, "")
	}
	p.says(flood...)
	p.says(elicitation("2", ""))
	if m := p.answer(); string(m.ID()) != "2" || string(wire.Get(m.Err(), "code")) != "-32603" {
		t.Errorf("the server got %s, want a refusal of the last one", m.Raw())
	}
	late := taker.next()
	late.accept()
	if m := p.answer(); m.Result() == nil {
		t.Errorf("the server got %s", m.Raw())
	}
	late = taker.next()
	p.says(elicitation("3", ""), elicitation("4", ""))
	if m := p.answer(); string(m.ID()) != "4" {
		t.Errorf("%s was refused, want the one for which there was no room", m.ID())
	}
	p.ends(call) // and forgets its questions, though answers still go out
	send(t, p.Client, "tools/call", `{}`, newTaker(t).takes)
	p.says(elicitation("5", ""))
	if len(p.notes) > 0 {
		t.Errorf("a question after the flood was answered %s", p.answer().Raw())
	}
	late.accept()
	if m := p.answer(); m.Result() == nil {
		t.Errorf("the server got %s", m.Raw())
	}
}
