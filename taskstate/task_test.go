package taskstate

import (
	"testing"
	"time"
)

func TestLifecycleHasNoWayOutOfATerminalState(t *testing.T) {
	all := []Status{Working, InputRequired, Completed, Failed, Cancelled}
	if len(lifecycle) != len(all) {
		t.Fatalf("the table has %d states, want %d", len(lifecycle), len(all))
	}
	for i, from := range all {
		if terminal := i >= 2; from.Terminal() != terminal {
			t.Errorf("%s.Terminal() = %v", from, from.Terminal())
		}
		for _, to := range all {
			if got, want := from.canBecome(to), i < 2 && from != to; got != want {
				t.Errorf("%s can become %s: %v, want %v", from, to, got, want)
			}
		}
	}
	if Status("paused").Terminal() || Status("").canBecome(Working) {
		t.Error("an unknown status is part of the lifecycle")
	}
}

func TestRetentionOfAWorkingTaskStaysAheadOfNow(t *testing.T) {
	const ttl = 10 * time.Second
	for _, c := range []struct{ age, want time.Duration }{
		{-time.Minute, ttl}, // the clock was set back
		{0, ttl},
		{ttl/2 - 1, ttl},
		{ttl / 2, ttl + ttl/2},
		{ttl, 2 * ttl},
		{ttl + 1, 2 * ttl},
		{27 * time.Second, 35 * time.Second},
	} {
		task := Task{Status: Working, TTL: ttl, CreatedAt: time.Unix(1000, 0)}
		got := task.Retention(task.CreatedAt.Add(c.age))
		if got != c.want || got <= c.age+ttl/2 {
			t.Errorf("age %v: %v, want %v", c.age, got, c.want)
		}
	}
}

func TestRetentionOfAFinishedTaskIsFixed(t *testing.T) {
	created := time.Unix(1000, 0)
	task := Task{Status: Failed, TTL: 10 * time.Second, CreatedAt: created, FinishedAt: created.Add(3 * time.Second)}
	for _, age := range []time.Duration{0, time.Second, time.Hour} {
		if got := task.Retention(created.Add(age)); got != 13*time.Second {
			t.Errorf("age %v: %v, want 13s", age, got)
		}
	}
}

func TestRetentionDoesNotOverflow(t *testing.T) {
	task := Task{Status: Working, TTL: maxTTL, CreatedAt: time.Unix(0, 0)}
	if got := task.Retention(task.CreatedAt.Add(50 * 365 * 24 * time.Hour)); got < maxTTL {
		t.Errorf("retention %v", got)
	}
}
