package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// task is what the extension calls a DetailedTask: the answer to tasks/get.
// The answer to tools/call is its first half, with resultType "task", or the
// tool's own result.
type task struct {
	ResultType     string
	TaskID         string `json:"taskId"`
	Status         string
	StatusMessage  string
	PollIntervalMs int64
	Result         toolResult // if completed
	Error          *rpcError  // if failed
}

type toolResult struct {
	IsError bool
	Content []struct{ Text string }
}

// callBuild calls the slow tool and, if it becomes a task, sees it at work.
func callBuild(ctx context.Context, c *client, seconds float64) (id string, err error) {
	args := map[string]any{"target": "app", "seconds": seconds}
	say("calling build, which takes %gs", seconds)
	raw, err := c.request(ctx, "tools/call", map[string]any{"name": "build", "arguments": args})
	if err != nil {
		return "", err
	}
	var t task
	if err := json.Unmarshal(raw, &t); err != nil {
		return "", err
	}
	if t.ResultType != "task" {
		var direct toolResult
		err := json.Unmarshal(raw, &direct)
		say("answered directly: %s", direct)
		return "", err
	}
	say("it takes longer; the call is now task %s, %s", t.TaskID, t.Status)
	return t.TaskID, follow(ctx, c, t.TaskID, atWork)
}

func toTheEnd(task) bool { return false }
func atWork(t task) bool { return t.StatusMessage != "" }

// follow polls at the pace that the server asks for, until the task has ended or
// enough is seen of it.
func follow(ctx context.Context, c *client, id string, enough func(task) bool) error {
	shown := ""
	for {
		raw, err := c.request(ctx, "tasks/get", map[string]any{"taskId": id})
		if err != nil {
			return err
		}
		var t task
		if err := json.Unmarshal(raw, &t); err != nil {
			return err
		}
		if t.Status != "working" {
			return ended(t)
		}
		if line := t.StatusMessage; line != shown {
			say("  %s: %s", t.Status, line)
			shown = line
		}
		if enough(t) {
			return nil
		}
		if err := wait(ctx, time.Duration(t.PollIntervalMs)*time.Millisecond); err != nil {
			return err
		}
	}
}

func ended(t task) error {
	switch {
	case t.Status == "completed":
		say("completed: %s", t.Result)
		return nil
	case t.Status == "failed" && t.Error != nil:
		return fmt.Errorf("task %s failed: %w", t.TaskID, t.Error)
	}
	return fmt.Errorf("task %s is %s: %s", t.TaskID, t.Status, t.StatusMessage)
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return errors.New("interrupted")
	case <-time.After(max(d, 100*time.Millisecond)):
		return nil
	}
}

func (r toolResult) String() string {
	s := ""
	if r.IsError {
		s = "error: "
	}
	for _, block := range r.Content {
		s += block.Text
	}
	return s
}
