package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// linkIn is the resource that a result refers to, as raw JSON; empty for none.
func linkIn(result json.RawMessage) (uri string) {
	var r struct {
		Content []struct {
			Type string
			URI  json.RawMessage
		}
	}
	if json.Unmarshal(result, &r) == nil {
		for _, content := range r.Content {
			if content.Type == "resource_link" {
				uri = string(content.URI)
			}
		}
	}
	return uri
}

// readText is the text of the one content that was read.
func readText(m message) string {
	var r struct{ Contents []struct{ Text string } }
	if json.Unmarshal(m.Result, &r) != nil || len(r.Contents) != 1 {
		return "no content: " + cut(m.Raw)
	}
	return r.Contents[0].Text
}

const spillSmall = alwaysTasks + "limits: {result_bytes: 10KiB}\n"

// A result over result_bytes is read by its owner, whatever era and kind of tasks,
// and by a later process, too.
func TestLargeResultIsHandedOverAsAResource(t *testing.T) {
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = spillSmall
	h := p.start(t)
	id := taskOf(t, h.ask(declared.toolCall("1", "flood", `{"bytes":100000}`)))
	result := at(finishTask(h, id, "completed").Result, "result")
	uri := linkIn(result)
	if len(result) > 10<<10 || uri == "" {
		t.Fatalf("the result: %s", cut(string(result)))
	}
	h.stop()
	again := p.start(t)
	read := readText(again.ask(declared.request("2", "resources/read", `{"uri":`+uri+`}`)))
	if !json.Valid([]byte(read)) || strings.Count(read, "x") < 100_000 {
		t.Errorf("a later process reads %s", cut(read))
	}
	again.initialize("2025-11-25")
	if older := readText(again.ask(request("3", "resources/read", `{"uri":`+uri+`}`))); older != read {
		t.Errorf("an older host reads %s", cut(older))
	}
	for _, wrong := range []string{`"mcp-taskproxy://results/"`, strings.Replace(uri, "results/", "results/X", 1)} {
		if m := again.ask(declared.request(again.freshID(), "resources/read", `{"uri":`+wrong+`}`)); m.code() != -32602 {
			t.Errorf("%s: %s", wrong, cut(m.Raw))
		}
	}
}

func TestLargeResultBelongsToItsOwner(t *testing.T) {
	p, _ := proxyAround(t, "legacy")
	p.Config = spillSmall
	withTokens(t, p)
	l := p.listen(t)
	alice, bob := l.joinAs(bearer(aliceToken)), l.joinAs(bearer(bobToken))
	id := taskOf(t, alice.ask(declared.toolCall("1", "flood", `{"bytes":100000}`)))
	read := declared.request("2", "resources/read", `{"uri":`+linkIn(at(finishTask(alice, id, "completed").Result, "result"))+`}`)
	if text := readText(alice.ask(read)); len(text) < 100_000 {
		t.Errorf("its owner reads %s", cut(text))
	}
	if m := bob.ask(read); m.code() != -32602 {
		t.Errorf("another reads %s", cut(m.Raw))
	}
}

func TestListenersOverTheLimitAreRefused(t *testing.T) {
	p, _ := proxyAround(t, "modern")
	p.Config = "limits: {listeners: 5}\n"
	h := p.start(t)
	listen := func(id string, tasks ...string) string {
		ids, _ := json.Marshal(append([]string{}, tasks...))
		return declared.request(id, "subscriptions/listen", `{"notifications":{"taskIds":`+string(ids)+`}}`)
	}
	h.send(listen("1", "a", "b", "c")) // one, and three tasks
	h.acknowledged()
	if m := h.ask(listen("2", "d")); !strings.Contains(m.Raw, `"limit":"listeners: 5"`) {
		t.Errorf("six of five: %s", m.Raw)
	}
	h.send(listen("3"))
	h.acknowledged()
	h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	h.send(listen("4", "d"))
	h.acknowledged()
}

// One owner cannot have all the connections with streams that stay open.
func TestOneOwnerLeavesConnectionsToOthers(t *testing.T) {
	p, _ := proxyAround(t, "modern")
	p.Config = "limits: {connections: 8}\n"
	withTokens(t, p)
	l := p.listen(t)
	alice := l.joinAs(bearer(aliceToken))
	for i := range 4 {
		alice.send(declared.request(fmt.Sprint(i), "subscriptions/listen", `{"notifications":{"toolsListChanged":true}}`))
		alice.acknowledged()
	}
	call := rawRequest{Body: plain.toolCall("9", "echo", `{}`)}
	refused := l.do(t, call.as(bearer(aliceToken)))
	if refused.Status != http.StatusServiceUnavailable || !strings.Contains(refused.Body, `"limit":"connections: 8"`) {
		t.Errorf("the fifth: %d %s", refused.Status, cut(refused.Body))
	}
	if other := l.do(t, call.as(bearer(bobToken))); other.Status != http.StatusOK {
		t.Errorf("another owner: %d %s", other.Status, cut(other.Body))
	}
	alice.stop()
}

// A store that is full refuses whoever wants nothing but a task, and has others
// wait for their answers. It is not full any more when a task is over and gone.
func TestStoreIsFullOfTasks(t *testing.T) {
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = alwaysTasks + "limits: {stored: 3}\nttl: 2s\n"
	h := p.start(t)
	for i := range 3 {
		finishTask(h, taskOf(t, h.ask(declared.toolCall(fmt.Sprint(i), "echo", `{}`))), "completed")
	}
	if m := h.ask(declared.toolCall("4", "echo", `{}`)); m.text("resultType") != "complete" {
		t.Errorf("the fourth call was not waited for: %s", m.Raw)
	}
	h.initialize("2025-11-25")
	refused := h.ask(request("5", "tools/call", `{"name":"fail","arguments":{},"task":{}}`))
	if why, outcome := reason(refused.Error); why != "limit" || outcome != "not_dispatched" || !strings.Contains(refused.Raw, `"limit":"stored: 3"`) {
		t.Errorf("the fifth: %s", refused.Raw)
	}
	if n := seen.count("call fail"); n != 0 {
		t.Errorf("the refused call reached the server %d times", n)
	}
	h.await("the store to have room again", func() bool {
		return h.ask(declared.toolCall(h.freshID(), "echo", `{}`)).text("resultType") == "task"
	})
}
