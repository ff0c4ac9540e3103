package e2e

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// actor plays a conversation.
type actor struct {
	t     *testing.T
	h     *host
	start func() *host
	kill  func() // ends the proxy; nil if its only process is the host's child
	seen  *records
	bound bindings
	ready *message // what poll got, which the next line looks at
}

// verbs are the lines a script may have. The text is what follows the verb.
var verbs = map[string]func(*actor, string){
	"->":      func(a *actor, text string) { a.h.send(a.bound.fill(text)) },
	"<-":      func(a *actor, text string) { a.expect(a.message(text), text) },
	"<?":      (*actor).among,
	"=>":      (*actor).exactly,
	"poll":    (*actor).poll,
	"asked":   (*actor).asked,
	"saw":     (*actor).saw,
	"unseen":  (*actor).unseen,
	"effects": (*actor).effects,
	"stderr":  (*actor).stderr,
	"close":   (*actor).close,
	"kill":    (*actor).killProxy,
	"restart": func(a *actor, _ string) { a.h = a.start() },
}

// play runs the whole script.
func (a *actor) play(script []step) {
	a.t.Helper()
	a.h = a.start()
	for _, s := range script {
		before := a.t.Failed()
		verbs[s.Verb](a, s.Text)
		if a.t.Failed() && !before {
			a.t.Fatalf("that was %v", s)
		}
	}
	a.close("")
}

// message is the answer that poll left behind, or the next one.
func (a *actor) message(pattern string) message {
	a.t.Helper()
	if m := a.ready; m != nil {
		a.ready = nil
		return *m
	}
	return a.h.nextLike(a.bound.fill(pattern))
}

func (a *actor) expect(m message, pattern string) {
	a.t.Helper()
	if diff := a.bound.match(pattern, m.Raw); diff != "" {
		a.t.Errorf("message differs (-want +got):\n%s\nit was %s", diff, cut(m.Raw))
	}
}

func (a *actor) among(text string) {
	a.t.Helper()
	want, err := parseMessage(a.bound.fill(text))
	if err != nil {
		a.t.Fatalf("pattern: %v", err)
	}
	a.expect(a.h.take(text, func(m message) bool { return m.like(want) }), text)
}

func (a *actor) exactly(text string) {
	a.t.Helper()
	if want, m := a.bound.fill(text), a.message(text); m.Raw != want {
		a.t.Errorf("line differs\nwant %q\ngot  %q", want, m.Raw)
	}
}

func (a *actor) poll(text string) {
	a.t.Helper()
	name, want, _ := strings.Cut(text, " ")
	m := pollTask(a.h, a.id(name), func(m message) bool { return a.bound.includes(want, m.Result) })
	if !a.bound.includes(want, m.Result) {
		a.t.Errorf("the task ended, or could not be asked for, without ever showing %s: %s", want, cut(m.Raw))
	}
	a.ready = &m
}

// asked polls until the task asks something: after a restart it does so in a moment.
func (a *actor) asked(name string) {
	a.t.Helper()
	m := pollTask(a.h, a.id(name), func(m message) bool { return len(m.asked()) > 0 })
	a.ready = &m
}

func (a *actor) id(name string) (id string) {
	a.t.Helper()
	if err := json.Unmarshal([]byte(a.bound.fill(strconv.Quote(name))), &id); err != nil {
		a.t.Fatalf("%s: %v", name, err)
	}
	return id
}

func (a *actor) saw(pattern string) {
	a.t.Helper()
	a.h.await("upstream to receive "+pattern, func() bool { return a.reached(pattern) })
}

func (a *actor) unseen(pattern string) {
	a.t.Helper()
	if a.reached(pattern) {
		a.t.Errorf("the upstream received %s", pattern)
	}
}

func (a *actor) reached(pattern string) bool {
	return slices.ContainsFunc(a.seen.received(), func(line string) bool {
		return a.bound.includes(pattern, json.RawMessage(line))
	})
}

func (a *actor) effects(text string) {
	a.t.Helper()
	number, tool, _ := strings.Cut(text, " ")
	want, err := strconv.Atoi(number)
	if err != nil {
		a.t.Fatalf("effects %s: %v", text, err)
	}
	called := func() int { return a.seen.count("call " + tool) }
	a.h.await("upstream to be called for "+tool, func() bool { return called() >= want })
	if got := called(); got != want {
		a.t.Errorf("%s was called %d times, want %d", tool, got, want)
	}
}

func (a *actor) stderr(text string) {
	a.t.Helper()
	a.h.await("stderr to hold "+text, func() bool { return strings.Contains(a.h.stderr(), text) })
}

func (a *actor) killProxy(string) {
	a.t.Helper()
	if a.kill != nil {
		a.kill()
		return
	}
	a.h.kill()
}

// close insists on a clean end and on silence besides what the script took. A
// process that the script killed has already ended, silent or not.
func (a *actor) close(string) {
	a.t.Helper()
	select {
	case <-a.h.exited:
		return
	default:
	}
	if status := a.h.stop(); status != 0 {
		a.t.Errorf("exit status %d after stdin was closed", status)
	}
	a.h.await("stdout to end", func() bool { _, more, _ := a.h.find(func(message) bool { return false }); return more == nil })
	for _, m := range a.h.left() {
		a.t.Errorf("nobody expected %s", cut(m.Raw))
	}
}
