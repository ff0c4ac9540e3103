package config

import (
	"errors"
	"fmt"
	"time"
)

// Fallback is what hosts without tasks get instead: three tools beside the
// server's own, and how long the first of them waits.
type Fallback struct {
	Result, Status, Cancel string // names of tools
	Wait                   time.Duration
}

func (r *reader) fallback(f *Fallback) func(value) {
	keys := []string{"result", "status", "cancel", "wait"}
	return r.group("{result: NAME, status: NAME, cancel: NAME, wait: 50s}", keys, fields{
		"result": text(r, &f.Result, "the name of a tool", parseTool),
		"status": text(r, &f.Status, "the name of a tool", parseTool),
		"cancel": text(r, &f.Cancel, "the name of a tool", parseTool),
		"wait":   text(r, &f.Wait, "a duration such as 50s", func(s string) (time.Duration, error) { return ParseDuration("fallback_wait", s) }),
	})
}

// toolForm is what names of tools should be (revision 2025-11-25, Tools, Tool
// Names).
var toolForm = pattern(`^[A-Za-z0-9_.-]{1,64}$`)

func parseTool(s string) (string, error) {
	if !toolForm().MatchString(s) {
		return "", fmt.Errorf("%s is not a tool's name; write up to 64 of . _ - A-Z a-z 0-9", quoted(s))
	}
	return s, nil
}

func (r *reader) checkFallback(f Fallback) {
	if f.Result == f.Status || f.Status == f.Cancel || f.Cancel == f.Result {
		r.mistake(r.places["fallback"], "fallback: two of the tools have one name; write three names")
	}
}

// OlderTasks is how hosts that ask for tasks of revision 2025-11-25 see theirs.
type OlderTasks struct {
	ErrorStatus       string // of a result that says isError: failed, as that revision has it, or completed
	ImmediateResponse string // for the model, in the place of an answer, when a task is made; empty for none
}

func (r *reader) olderTasks(o *OlderTasks) func(value) {
	return r.group("{error_status: completed}", []string{"error_status", "immediate_response"}, fields{
		"error_status": text(r, &o.ErrorStatus, "failed or completed", oneOf("value", "failed", "completed")),
		"immediate_response": text(r, &o.ImmediateResponse, "a sentence", func(s string) (string, error) {
			if len(s) > 4<<10 {
				return "", errors.New("this is longer than 4 KiB; shorten it")
			}
			return s, nil
		}),
	})
}

// checkUpstreamTasks: whether the proxy makes tasks is the same for all tools.
func (r *reader) checkUpstreamTasks(doc *document) {
	passes := doc.top.over(doc.Policy).UpstreamTasks == TasksPassthrough
	for _, t := range doc.tools {
		path := "tools." + element(t.pattern) + ".upstream_tasks"
		switch {
		case t.upstreamTasks == nil:
		case *t.upstreamTasks == TasksPassthrough:
			r.mistake(r.places[path], "%s: passthrough is for all tools; write it at the top, or auto or off here", path)
		case passes:
			r.mistake(r.places[path], "%s: the top of the file says passthrough, which is for all tools; remove one", path)
		}
	}
}
