package upstream

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// slow holds the answers that a server gets until gate is closed.
type slow struct {
	gate     chan struct{}
	now, all atomic.Int64 // that it has in hand, and that it had
	tooMany  atomic.Bool  // at a time
}

func (a *asker) slows() *slow {
	s := &slow{gate: make(chan struct{})}
	a.fails(0, s.take)
	return s
}

func (s *slow) take(w http.ResponseWriter, v visit) {
	if s.now.Add(1) > maxPosting {
		s.tooMany.Store(true)
	}
	defer s.now.Add(-1)
	defer s.all.Add(1)
	select {
	case <-s.gate:
		w.WriteHeader(http.StatusAccepted)
	case <-v.request.Context().Done():
	}
}

// floods has the server send n questions on the stream of a call, made by ask
// from a number. The call stays open.
func (a *asker) floods(n int, ask func(int) string) {
	if a.outbox == nil {
		a.on("tools/call", func(w http.ResponseWriter, v visit) {
			out := openStream(w)
			for i := range n {
				out.send("data: " + ask(i) + "\n\n")
			}
			<-v.request.Context().Done()
		})
		return
	}
	a.on("tools/call", func(w http.ResponseWriter, v visit) {
		w.WriteHeader(http.StatusAccepted)
		w.(http.Flusher).Flush()
		for i := range n {
			m, _ := wire.Parse([]byte(ask(i)))
			select {
			case a.outbox <- m:
			case <-a.over:
				return
			}
		}
	})
}

func numbered(i int) string { return elicitation(fmt.Sprint(i), "") }

// expectEach checks that the server got one answer to each of n questions.
func (a *asker) expectEach(n int, s *slow) {
	a.t.Helper()
	close(s.gate)
	doing(a.t, "all answers", func() {
		for s.all.Load() < int64(n) {
			yieldABit()
		}
	})
	got := map[string]int{}
	for _, v := range a.expect("answer", n) {
		got[string(v.message.ID())]++
	}
	for i := range n {
		if got[fmt.Sprint(i)] != 1 {
			a.t.Errorf("question %d was answered %d times", i, got[fmt.Sprint(i)])
		}
	}
}

func TestAThousandAnswersAtOnceAllArrive(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.floods(maxQuestions, numbered)
		slow := a.slows()
		taker, client := newTaker(t), dial(t, a.url, older)
		send(t, client, "tools/call", `{"name":"run"}`, taker.takes)
		var questions []taken
		for range maxQuestions {
			questions = append(questions, taker.next())
		}
		for _, q := range questions {
			q.accept()
		}
		a.await("answer", maxPosting)
		a.expectEach(maxQuestions, slow)
		if slow.tooMany.Load() {
			t.Errorf("more than %d answers were posted at a time", maxPosting)
		}
	})
}

func TestAServerThatAsksWithoutTakingAnswersIsNotReadUntilItDoes(t *testing.T) {
	const flood = maxHeld + 500
	eachAsker(t, func(t *testing.T, a *asker) {
		a.floods(flood, func(i int) string { return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`, i) })
		slow := a.slows()
		client := dial(t, a.url, older)
		ask(t, client, "tools/list", "{}")
		send(t, client, "tools/call", `{"name":"run"}`, nil)
		p := a.post(client)
		doing(t, "the queue is full", func() {
			for p.heldAnswers() < maxHeld {
				yieldABit()
			}
		})
		for range 20 {
			if n := p.heldAnswers(); n > maxHeld {
				t.Fatalf("%d answers wait, want at most %d", n, maxHeld)
			}
			yieldABit()
		}
		a.expectEach(flood, slow)
	})
}

func (p *posts) heldAnswers() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.answers.held
}

func TestAnAnswerForWhichThereIsNoRoomEndsItsRequest(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		taker, client := newTaker(t), dial(t, a.url, older)
		call := send(t, client, "tools/call", `{"name":"run"}`, taker.takes)
		question, p := taker.next(), a.post(client)
		p.mu.Lock()
		p.answers.bytes += maxUnsent
		p.mu.Unlock()
		question.accept()
		call.wantError("answer_undelivered", Unknown)
		a.await("notifications/cancelled", 1)
		a.expect("answer", 0)
		p.mu.Lock()
		p.answers.bytes -= maxUnsent
		p.mu.Unlock()
		ask(t, client, "tools/list", "{}")
	})
}

func TestCloseDoesNotWaitForAnAnswerThatIsToBePostedAgain(t *testing.T) {
	eachAsker(t, func(t *testing.T, a *asker) {
		a.fails(0, laterAfter("3600"))
		taker, client := newTaker(t), dial(t, a.url, older)
		call := send(t, client, "tools/call", `{"name":"run"}`, taker.takes)
		taker.next().accept()
		a.await("answer", 1)
		doing(t, "Close", func() { client.Close(t.Context()) })
		call.wantError("shutdown", Unknown)
	})
}

// logged are the lines of a log.
type logged chan string

func (l logged) Write(b []byte) (int, error) {
	select {
	case l <- string(b):
	default:
	}
	return len(b), nil
}

func TestAnAnswerThatBelongsToNoRequestIsMissedInTheLogAlone(t *testing.T) {
	say, log, asked := make(chan string), make(logged, 1000), make(chan taken, 1)
	server := askingServer(t, say)
	server.on("answer", plain(500, "text/plain", "boom"))
	client := dial(t, server.URL, func(o *Options) {
		older(o)
		o.Log = zerolog.New(log)
		o.Handler.Request = func(m wire.Message, answer func(wire.Message)) { asked <- taken{m, answer} }
	})
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	server.await("tools/call", 1)
	say <- elicitation("7", "")
	doing(t, "the question", func() { (<-asked).accept() })
	doing(t, "the line of the log", func() {
		for line := range log {
			if strings.Contains(line, "elicitation/create") && strings.Contains(line, "answer") && strings.Contains(line, "HTTP 500") {
				return
			}
		}
	})
	ask(t, client, "x/own", "{}")
	if len(call.answer) > 0 {
		t.Error("a call ended for the answer to a question that is not its own")
	}
}

// A minute in which the server takes nothing is spent in a bubble.
func TestAnAnswerThatIsNotTakenForAMinuteEndsItsRequest(t *testing.T) {
	for name, c := range map[string]struct {
		refuses     handler
		least, most int // tries
	}{
		"429":             {plain(429, "text/plain", "slow down"), 8, 15},
		"503 with a time": {laterAfter("20"), 4, 4},
		"503 for an hour": {laterAfter("3600"), 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, "", func(t *testing.T, p *polled) {
				p.on("tools/call", func(w http.ResponseWriter, v visit) {
					openStream(w).send("data: " + elicitation("7", "") + "\n\n")
					<-v.request.Context().Done()
				})
				p.on("answer", c.refuses)
				taker := newTaker(t)
				call := send(t, p.client, "tools/call", `{"name":"run"}`, taker.takes)
				question, began := <-taker.questions, time.Now()
				question.accept()
				got := <-call.answer
				if took := time.Since(began).Round(time.Second); took != answerLimit {
					t.Errorf("it took %v", took)
				}
				if got.err == nil || got.err.Reason != "answer_undelivered" || got.err.Outcome != Unknown || !strings.Contains(got.err.Text, "after 1m0s") {
					t.Errorf("the call came to %s, %v", got.message.Raw(), got.err)
				}
				if n := len(p.visits("answer")); n < c.least || n > c.most {
					t.Errorf("the answer was posted %d times, want %d to %d", n, c.least, c.most)
				}
			})
		})
	}
}
