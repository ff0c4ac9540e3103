//go:build unix

package upstream

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Questions of which nobody knows whose they are would each stay in memory whole,
// for the case that the call that was taken for theirs ends.
func TestLongQuestionsThatAreKeptForOthersAreBounded(t *testing.T) {
	p, older, newer := newPuppet(t, nil), newTaker(t), newTaker(t)
	send(t, p.Client, "tools/call", `{}`, older.takes)
	newer.careless = true
	second := send(t, p.Client, "tools/call", `{}`, newer.takes)
	ask(t, p.Client, "x/heard", `{}`)
	const long, all = 900 << 10, 40
	var asked []taken
	for i := range all {
		p.says(elicitation(fmt.Sprint(i), `"x":"`+strings.Repeat("x", long)+`"`))
		asked = append(asked, newer.next())
	}
	const kept = maxGuessedBytes / long
	if n := p.keptQuestions(); n < kept-1 || n > kept {
		t.Errorf("%d of %d questions are kept, want %d or one less", n, all, kept)
	}
	p.ends(second)
	older.next() // what is kept has moved
	for _, q := range asked {
		q.accept()
	}
	if m := p.answer(); string(wire.Get(m.Result(), "action")) != `"accept"` {
		t.Errorf("the server got %s", m.Raw())
	}
}

func (p puppet) keptQuestions() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for q := range p.conn.questions {
		if q.guessed.Raw() != nil {
			n++
		}
	}
	return n
}
