package e2e

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Ids that are malformed, that nobody has, and that are another owner's are
// answered alike, to the byte but for the id itself, in every method and at any
// speed.
func TestGuessedTaskIDs(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = alwaysTasks
	withTokens(t, p)
	l := p.listen(t)
	alice, bob := l.joinAs(bearer(aliceToken)), l.joinAs(bearer(bobToken))
	theirs := taskOf(t, alice.ask(declared.toolCall("1", "release", `{}`)))
	finishTask(alice, theirs, "completed")
	flipped := "A" + theirs[1:]
	if theirs[0] == 'A' {
		flipped = "B" + theirs[1:]
	}
	guesses := []string{theirs, flipped, theirs[:25] + "7", theirs[:13], theirs + "A", strings.ToLower(theirs), "", "../../etc/passwd", "m/secret", "\u2028", strings.Repeat("A", 26), strings.Repeat("A", 100)}
	older := l.joinAs(bearer(bobToken))
	older.initialize("2025-11-25")
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		checkGuesses(t, bob, guesses, func(id, guess string) string {
			return declared.request(id, method, fmt.Sprintf(`{"inputResponses":{},"taskId":%q}`, guess))
		})
	}
	for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel"} {
		checkGuesses(t, older, guesses, func(id, guess string) string {
			return request(id, method, fmt.Sprintf(`{"taskId":%q}`, guess))
		})
	}
	if m := alice.ask(taskRequests(theirs)["tasks/get"]); m.text("status") != "completed" {
		t.Errorf("its owner sees %s", cut(m.Raw))
	}
}

func checkGuesses(t *testing.T, h *host, guesses []string, ask func(id, guess string) string) {
	t.Helper()
	for range 20 {
		for _, guess := range guesses {
			id := h.freshID()
			m := h.ask(ask(id, guess))
			want := fmt.Sprintf(`{"code":-32602,"message":"Task not found: %s is unknown or has expired."}`, strings.ReplaceAll(fmt.Sprintf("%.100q", guess), `"`, `\"`))
			if strings.ReplaceAll(string(m.Error), `\\u2028`, `\u2028`) != want {
				t.Fatalf("%q is answered\n%s, want\n%s", guess, m.Error, want)
			}
		}
	}
}

// What a host may want of how long its task is kept is a number of milliseconds,
// and the configured time at most.
func TestOddWishesForATimeToKeep(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	p.Config = "ttl: 1h\n"
	h := p.start(t)
	h.initialize("2025-11-25")
	for ttl, good := range map[string]bool{
		"-1": false, `"1"`: false, "true": false, "[]": false, "-1e308": false, "1e999": false,
		"0": true, "1e308": true, "9007199254740993": true, "1.5": true, "null": true, "99999999999999999999999999": true,
	} {
		m := h.ask(request(h.freshID(), "tools/call", `{"name":"release","arguments":{},"task":{"ttl":`+ttl+`}}`))
		if good != (m.Error == nil) || !good && m.code() != -32602 {
			t.Errorf("ttl %s: %s", ttl, cut(m.Raw))
		}
	}
}

// A host may use an id again before it has the answer: it gets as many answers
// as it has asked.
func TestIDsThatAreUsedAgainInFlight(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	h := p.start(t)
	h.initialize("2025-11-25")
	const calls = 100
	for range calls {
		h.send(toolCall("1", "gate", `{"gate":"g"}`))
	}
	h.ask(toolCall("2", "release", `{"gate":"g"}`))
	for range calls {
		if m := h.response("1"); m.Error != nil {
			t.Errorf("got %s", cut(m.Raw))
		}
	}
	h.ask(toolCall("3", "release", `{}`))
	if left := h.left(); len(left) > 0 {
		t.Errorf("%d more messages", len(left))
	}
}

// Cancels of everything that was, is, or never will be do no harm.
func TestFloodOfCancels(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	h := p.start(t)
	h.initialize("2025-11-25")
	h.send(toolCall("1", "gate", `{"gate":"shut"}`))
	h.await("the call to reach the server", func() bool { return seen.count("call gate") == 1 })
	for i := range 5000 {
		h.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i%100))
	}
	for _, id := range []string{"null", "{}", `""`, "-1", `"1"`, `[1]`} {
		h.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
	}
	if m := h.ask(toolCall(`"after"`, "release", `{}`)); m.Error != nil {
		t.Errorf("got %s", cut(m.Raw))
	}
	h.await("the cancel to reach the server", func() bool { return seen.count("cancelled gate") == 1 })
	for _, m := range h.left() {
		if string(m.ID) == "1" {
			t.Errorf("a cancelled call is answered: %s", cut(m.Raw))
		}
	}
}

// A host that goes in the middle of a message takes nothing with it, and a line
// of twice what is allowed costs itself alone.
func TestMessagesThatAreHalfOrTooMuch(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "legacy", "-version", "2025-11-25")
	h := p.start(t)
	h.initialize("2025-11-25")
	if _, err := io.WriteString(h.stdin, strings.Repeat("[", 64<<20)+"\n"); err != nil {
		t.Fatal(err)
	}
	refused := h.take("the refusal", func(m message) bool { return m.Error != nil })
	if why, _ := reason(refused.Error); why != "too_large" {
		t.Errorf("got %s", cut(refused.Raw))
	}
	deep := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":` + strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000) + "}"
	h.send(deep)
	if m := h.take("the refusal", func(m message) bool { return m.Error != nil }); m.code() != -32700 {
		t.Errorf("got %s", cut(m.Raw))
	}
	h.ask(toolCall("3", "release", `{}`))
	if _, err := io.WriteString(h.stdin, toolCall("4", "echo", `{}`)[:40]); err != nil {
		t.Fatal(err)
	}
	if status := h.stop(); status != 0 || seen.count("call echo") != 0 {
		t.Errorf("status %d, half a call was made %d times", status, seen.count("call echo"))
	}
}

// Requests that come one behind the other on a connection, before any answer,
// are answered in their order, the bad ones among them too.
func TestPipelinedRequests(t *testing.T) {
	t.Parallel()
	p, seen := proxyAround(t, "modern")
	l := p.listen(t)
	conn := l.dial(t)
	body := plain.toolCall("1", "release", `{}`)
	const pairs = 20
	one := l.head(body) + body + "GET /mcp HTTP/1.1\r\nHost: evil.example\r\n\r\n"
	if _, err := io.WriteString(conn, strings.Repeat(one, pairs)+"GET /none HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	in, statuses := bufio.NewReader(conn), ""
	for response, err := http.ReadResponse(in, nil); err == nil; response, err = http.ReadResponse(in, nil) {
		_, _ = io.Copy(io.Discard, response.Body)
		statuses += fmt.Sprint(response.StatusCode, " ")
	}
	want := strings.Repeat("200 403 ", pairs) + "404 "
	if statuses != want || seen.count("call release") != pairs {
		t.Errorf("statuses %s, want %s; %d calls were made", statuses, want, seen.count("call release"))
	}
}

// Whoever guesses sessions hears of none, whatever he guesses with.
func TestGuessedSessions(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy", "-version", "2025-11-25")
	l := p.listen(t)
	session := l.openSession(t)
	var first rawAnswer
	for i, guess := range []string{strings.Repeat("A", len(session)), session[:len(session)-1], session + "A", strings.ToLower(session), "/" + session, "x", "../" + session} {
		a := l.do(t, rawRequest{Body: toolCall("1", "release", `{}`), Header: inSession(guess)})
		if i == 0 {
			first = a
		}
		if a.Status != http.StatusNotFound || a.Body != first.Body {
			t.Errorf("%q: %d %s", guess, a.Status, a.Body)
		}
	}
	if a := l.do(t, rawRequest{Body: toolCall("1", "release", `{}`), Header: inSession(session)}); a.Status != http.StatusOK {
		t.Errorf("the session itself: %d %s", a.Status, a.Body)
	}
}
