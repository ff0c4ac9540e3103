package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
)

func neverNegotiates(s *scene) error {
	id := s.call("slow_compute", `{"seconds":30}`)
	s.task("tasks/get", id, "")
	s.task("tasks/update", id, `,"inputResponses":{}`)
	s.task("tasks/cancel", id, "")
	var errs []error
	for _, text := range []string{`"tasks/`, `"io.modelcontextprotocol/tasks"`} {
		if body := s.witness.saw(text); body != "" {
			errs = append(errs, fmt.Errorf("the server got %s", body))
		}
	}
	if s.witness.saw(`"slow_compute"`) == "" {
		errs = append(errs, errors.New("nothing went by the witness"))
	}
	return errors.Join(errs...)
}

// rejectsTaskOfPrompt has a server of its own, which answers everything with a task.
func rejectsTaskOfPrompt(s *scene) error {
	odd := httptest.NewServer(http.HandlerFunc(answerTask))
	defer odd.Close()
	before := &scene{rawHost: &rawHost{t: s.t, url: proxyBefore(s.t, "testdata/tasks.yaml", "--url", odd.URL).URL()}}
	for m, err := range before.stream(s.t.Context(), "prompts/get", `{"name":"p"}`, declared) {
		if m.Error == nil || err != nil {
			return fmt.Errorf("it got through: %s (%v)", m.Raw, err)
		}
	}
	return nil
}

func answerTask(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if err := json.NewDecoder(r.Body).Decode(&m); err != nil || m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := `{"resultType":"task","taskId":"t","status":"working","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":null}`
	if m.Method == "server/discover" {
		result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"prompts":{}},"ttlMs":0,"cacheScope":"private"}`
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func onlyCreationIsTask(s *scene) error {
	const complete = `"resultType":"complete"`
	id := s.call("slow_compute", `{"seconds":0.5}`)
	return errors.Join(
		want("tasks/get while it works", s.task("tasks/get", id, ""), complete),
		want("tasks/update", s.task("tasks/update", id, `,"inputResponses":{}`), complete),
		want("tasks/get at the end", s.poll(id, ended), `"status":"completed"`),
		want("tasks/get at the end", s.task("tasks/get", id, ""), complete),
		want("tasks/cancel", s.task("tasks/cancel", id, ""), complete),
		want("tools/list", s.ask("tools/list", `{}`, declared), complete),
		want("server/discover", s.ask("server/discover", `{}`, declared), complete),
	)
}

func failedIsForErrors(s *scene) error {
	crashed := s.poll(s.call("failing_job", `{}`), ended)
	failed := s.poll(s.call("protocol_error_job", `{}`), ended)
	errs := []error{
		want("a tool error", crashed, `"status":"completed"`), want("a tool error", crashed, `"isError":true`),
		want("a protocol error", failed, `"status":"failed"`), want("a protocol error", failed, `this tool has no result`),
	}
	if got := failed.state(); got.StatusMessage == "" || got.Error == nil {
		errs = append(errs, fmt.Errorf("no statusMessage or no error: %s", failed.Raw))
	}
	return errors.Join(errs...)
}

func cancelledIsTold(s *scene) error {
	id := s.call("slow_compute", `{"seconds":30}`)
	ack := s.task("tasks/cancel", id, "")
	return errors.Join(empty("the acknowledgement", ack), want("tasks/get", s.poll(id, ended), `"status":"cancelled"`))
}

func updateIsAcknowledged(s *scene) error {
	id := s.call("slow_compute", `{"seconds":30}`)
	defer s.task("tasks/cancel", id, "")
	ack := s.task("tasks/update", id, `,"inputResponses":{"nobody-asked":{"action":"accept"}}`)
	return errors.Join(empty("the acknowledgement", ack), want("tasks/get", s.task("tasks/get", id, ""), `"status":"working"`))
}

func unknownTaskIsRefused(s *scene) error {
	return errors.Join(
		wantCode("tasks/update", s.task("tasks/update", "no-such-task", `,"inputResponses":{}`), -32602),
		wantCode("tasks/cancel", s.task("tasks/cancel", "no-such-task", ""), -32602),
	)
}

// notificationCancelsNoTask names the call's id in every spelling that could mean it.
func notificationCancelsNoTask(s *scene) error {
	id := s.call("slow_compute", `{"seconds":30}`)
	defer s.task("tasks/cancel", id, "")
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":` + declared + `}`
	s.notify("notifications/cancelled", fmt.Sprintf(`{"requestId":%d,%s}`, s.ids, meta))
	s.notify("notifications/cancelled", fmt.Sprintf(`{"requestId":%q,"taskId":%q,%s}`, id, id, meta))
	return want("tasks/get", s.task("tasks/get", id, ""), `"status":"working"`)
}

func listenWantsDeclaration(s *scene) error {
	const missing = `"requiredCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	m := s.ask("subscriptions/listen", `{"notifications":{"taskIds":["some-task"]}}`, undeclared)
	return errors.Join(wantCode("the listen", m, -32021), want("its data", m, missing))
}

func legacyIsGone(s *scene) error {
	discovered := s.ask("server/discover", `{}`, declared)
	var d struct {
		Capabilities struct{ Extensions, Tasks json.RawMessage }
	}
	_ = json.Unmarshal(discovered.Result, &d)
	if d.Capabilities.Tasks != nil || !strings.Contains(string(d.Capabilities.Extensions), `"io.modelcontextprotocol/tasks":{}`) {
		return fmt.Errorf("capabilities: %s", discovered.Raw)
	}
	if tools := s.ask("tools/list", `{}`, declared); strings.Contains(string(tools.Raw), `"execution"`) {
		return fmt.Errorf("tools: %s", tools.Raw)
	}
	return nil
}

func legacyDeclaresNothing(s *scene) error {
	plain := s.ask("tools/call", `{"name":"slow_compute","arguments":{"seconds":0.1},"task":{"ttl":60000}}`, legacy)
	return errors.Join(
		want("a call", plain, `"resultType":"complete"`), want("a call", plain, "computed"),
		wantCode("tasks/get", s.ask("tasks/get", `{"taskId":"t"}`, legacy), -32021),
		wantCode("tasks/update", s.ask("tasks/update", `{"taskId":"t","inputResponses":{}}`, legacy), -32021),
		wantCode("tasks/cancel", s.ask("tasks/cancel", `{"taskId":"t"}`, legacy), -32021),
	)
}

// streamHasOnlyTasks listens until the task is over and a round trip longer.
func streamHasOnlyTasks(s *scene) error {
	id := s.call("slow_compute", `{"seconds":2,"label":"loud"}`)
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	heard := make(chan error, 1)
	listener := &rawHost{t: s.t, url: s.url}
	messages := listener.stream(ctx, "subscriptions/listen", fmt.Sprintf(`{"notifications":{"taskIds":[%q]}}`, id), declared)
	go func() { heard <- onlyTasks(ctx, messages) }()
	over := want("the task", s.poll(id, ended), `"status":"completed"`)
	s.task("tasks/get", id, "")
	cancel()
	return errors.Join(over, <-heard)
}

func onlyTasks(ctx context.Context, messages func(func(answer, error) bool)) error {
	n := 0
	for m, err := range messages {
		switch {
		case ctx.Err() != nil:
		case err != nil:
			return err
		case n == 0 && m.Method != "notifications/subscriptions/acknowledged":
			return fmt.Errorf("the first message is no acknowledgement: %s", m.Raw)
		case n > 0 && m.Method == "" && m.Error == nil: // the result with which a server may end the subscription
		case n > 0 && m.Method != "notifications/tasks":
			return fmt.Errorf("on the stream of a task: %s", m.Raw)
		}
		n++
	}
	if n == 0 {
		return errors.New("nothing came, not even the acknowledgement")
	}
	return nil
}

// keysAreUnique answers what a task asks, twice.
func keysAreUnique(s *scene) error {
	id := s.call("ask_twice", `{}`)
	seen := map[string]bool{}
	for _, field := range []string{"first", "second"} {
		asking := s.poll(id, func(st state) bool { return ended(st) || st.asks(field) != "" })
		key := asking.state().asks(field)
		if key == "" || seen[key] {
			return fmt.Errorf("key %q for the %s question: %s", key, field, asking.Raw)
		}
		seen[key] = true
		s.task("tasks/update", id, fmt.Sprintf(`,"inputResponses":{%q:{"action":"accept","content":{%q:"x"}}}`, key, field))
		if again := s.task("tasks/get", id, ""); again.state().asks(field) != "" {
			return fmt.Errorf("answered and asked again: %s", again.Raw)
		}
	}
	return want("the task", s.poll(id, ended), `"status":"completed"`)
}
