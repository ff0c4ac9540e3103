package e2e

import (
	"strings"
	"testing"
)

// A published server of the initialize era, whose tools depend on what the
// client can be asked, asks for a form through a task.
func TestNPMEverythingAsksThroughATask(t *testing.T) {
	t.Parallel()
	p := &proxied{Upstream: npmServer(t, "server-everything"), StateDir: t.TempDir(), Flags: []string{"--after", "1h"}}
	h := p.start(t)
	id := taskOf(t, h.ask(both.toolCall("1", "trigger-elicitation-request", `{}`)))
	pollTask(h, id, func(m message) bool { return m.asked() != nil })
	h.update(id, `{"elicitation-1":{"action":"accept","content":{"name":"é"}}}`)
	if m := finishTask(h, id, "completed"); !strings.Contains(m.Raw, "- Name: é") {
		t.Errorf("the tool answered %s", cut(m.Raw))
	}
}

// The same server wants a URL visited first, by the error of its era, and then
// asks for another: the host is asked both by the results of its call.
func TestNPMEverythingWantsURLsVisited(t *testing.T) {
	t.Parallel()
	p := &proxied{Upstream: npmServer(t, "server-everything"), StateDir: t.TempDir()}
	h := p.start(t)
	const params = `{"name":"trigger-url-elicitation","arguments":{"url":"https://example.com/a","errorPath":true}`
	first := h.ask(answers.request("1", "tools/call", params+`}`))
	if len(first.asked()) != 1 || first.text("requestState") != "" || !strings.Contains(first.Raw, "satisfy the prerequisite") {
		t.Fatalf("the error became %s", cut(first.Raw))
	}
	second := h.ask(answers.request("2", "tools/call", params+`,"inputResponses":{"`+first.asked()[0]+`":{"action":"accept"}}}`))
	state := second.state(t)
	third := h.ask(answers.request("3", "tools/call", params+`,"inputResponses":{"`+second.asked()[0]+`":{"action":"accept"}},"requestState":`+state+`}`))
	if !strings.Contains(third.Raw, "User completed the URL elicitation flow") {
		t.Errorf("the tool answered %s", cut(third.Raw))
	}
}
