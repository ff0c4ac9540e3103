package conformance

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// scene is the proxy before servers/plain over HTTP, with a witness between.
type scene struct {
	*rawHost
	witness *witness
}

func newScene(t *testing.T) *scene {
	t.Helper()
	upstream := serve(t, false, program("plain"), "-http", "ADDR")
	w := witnessBefore(t, upstream.URL())
	proxy := proxyBefore(t, "testdata/tasks.yaml", "--url", w.url)
	return &scene{rawHost: &rawHost{t: t, url: proxy.URL()}, witness: w}
}

// in is the same scene, its failures those of the subtest.
func (s *scene) in(t *testing.T) *scene {
	return &scene{rawHost: &rawHost{t: t, url: s.url}, witness: s.witness}
}

// state is what the results of tasks methods and of tools/call show of a task.
type state struct {
	ResultType, TaskID, Status, StatusMessage string
	Error                                     json.RawMessage
	InputRequests                             map[string]json.RawMessage
}

func (m answer) state() state {
	var s state
	_ = json.Unmarshal(m.Result, &s)
	return s
}

// asks returns the key of a question that holds the text, "" if there is none.
func (s state) asks(text string) string {
	for key, question := range s.InputRequests {
		if strings.Contains(string(question), text) {
			return key
		}
	}
	return ""
}

// call makes a task of a call and returns its id.
func (s *scene) call(tool, arguments string) string {
	s.t.Helper()
	created := s.ask("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, arguments), declared)
	if got := created.state(); got.ResultType != "task" || got.TaskID == "" {
		s.t.Fatalf("%s made no task: %s", tool, created.Raw)
	}
	return created.state().TaskID
}

// task sends a tasks method for the task; further are more members of its params.
func (s *scene) task(method, id, further string) answer {
	s.t.Helper()
	return s.ask(method, fmt.Sprintf(`{"taskId":%q%s}`, id, further), declared)
}

// poll asks for the task until done says so.
func (s *scene) poll(id string, done func(state) bool) answer {
	s.t.Helper()
	late, again := time.NewTimer(patience), time.NewTicker(50*time.Millisecond)
	defer late.Stop()
	defer again.Stop()
	for {
		m := s.task("tasks/get", id, "")
		if m.Error != nil || done(m.state()) {
			return m
		}
		select {
		case <-again.C:
		case <-late.C:
			s.t.Fatalf("the task did not get there within %v: %s", patience, m.Raw)
		}
	}
}

func ended(s state) bool {
	return s.Status == "completed" || s.Status == "failed" || s.Status == "cancelled"
}

// want returns an error where a message lacks a text.
func want(what string, m answer, text string) error {
	if strings.Contains(string(m.Raw), text) {
		return nil
	}
	return fmt.Errorf("%s: want %s in %s", what, text, m.Raw)
}

func wantCode(what string, m answer, code int) error {
	if m.Error != nil && m.Error.Code == code {
		return nil
	}
	return fmt.Errorf("%s: want error %d, not %s", what, code, m.Raw)
}

// empty wants a result with no member but resultType "complete" and _meta.
func empty(what string, m answer) error {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(m.Result, &members)
	delete(members, "_meta")
	if kind := string(members["resultType"]); kind == `"complete"` && len(members) == 1 {
		return nil
	}
	return fmt.Errorf("%s is no empty result: %s", what, m.Raw)
}
