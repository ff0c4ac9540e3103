package config

import (
	"strings"
	"testing"
	"time"
)

func TestDurationsOfEveryUnit(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "5s": 5 * time.Second, "2m": 2 * time.Minute, "2h": 2 * time.Hour,
		"1d": 24 * time.Hour, "1.5h": 90 * time.Minute, "1h30m": 90 * time.Minute, "0.5d": 12 * time.Hour,
		"0s": 0, "0d": 0, "365d": 365 * 24 * time.Hour,
	} {
		if got, err := ParseDuration("max_run", text); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
}

func TestBoundsOfDurations(t *testing.T) {
	for _, c := range []struct {
		key, text string
		ok        bool
	}{
		{"after", "0s", true}, {"after", "24h", true}, {"after", "24h1ms", false},
		{"ttl", "1ms", true}, {"ttl", "0ms", false}, {"ttl", "3650d", true}, {"ttl", "3650d1ms", false},
		{"poll_interval", "1ms", true}, {"poll_interval", "1h", true}, {"poll_interval", "61m", false},
		{"input_timeout", "0s", false}, {"input_timeout", "1ms", true}, {"input_timeout", "365d", true}, {"input_timeout", "366d", false},
		{"stall", "0s", true}, {"stall", "366d", false}, {"max_run", "0s", true}, {"max_run", "366d", false},
		{"after", "", false}, {"after", "s", false}, {"after", " 5s", false}, {"after", "+5s", false}, {"after", ".5s", false}, {"after", "1e3s", false},
	} {
		if d, err := ParseDuration(c.key, c.text); (err == nil) != c.ok {
			t.Errorf("%s %q: %v, %v", c.key, c.text, d, err)
		}
	}
}

func TestSizesOfEveryUnit(t *testing.T) {
	for text, want := range map[string]int64{"1024B": 1024, "1KiB": 1024, "32MiB": 32 << 20, "1GiB": 1 << 30} {
		if got, err := ParseSize("message_bytes", text); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "1023B", "2GiB", "MiB", "1 MiB", "1mib", "9223372036854775808B", "9223372036854775807GiB"} {
		if got, err := ParseSize("message_bytes", text); err == nil {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// A remedy that is refused in its turn sends people in a circle.
func TestRemediesAreAccepted(t *testing.T) {
	for _, text := range []string{"5", "1.5", "-5", "5 sec", "5S", "1.0005s", "90 Minutes", "soon", "2w", "0.1ms"} {
		_, err := ParseDuration("after", text)
		_, remedy, _ := strings.Cut(err.Error(), "; write ")
		for _, word := range strings.FieldsFunc(remedy, func(c rune) bool { return c == ' ' || c == ',' }) {
			if word[0] < '0' || word[0] > '9' {
				continue
			}
			if _, err := ParseDuration("after", word); err != nil {
				t.Errorf("%s: remedy %q: %v", text, remedy, err)
			}
		}
	}
}

func TestPolicyReadsAsInTheFile(t *testing.T) {
	rest := ", ttl 24h, poll_interval 1s, max_run 24h, stall off, input_timeout 1h, "
	more := ", fallback_after off, keep_alive off, upstream_tasks auto"
	for text, want := range map[string]string{
		"":                                   "task after 5s" + rest + "input in-task, approve false" + more,
		"task: always\napprove: true":        "task always" + rest + "input in-task, approve true" + more,
		"task: required\ninput: before-task": "task required, after 5s" + rest + "input before-task, approve false" + more,
		"task: never\ninput: before-task\napprove: destructive": "task never" + rest + "input before-task, approve destructive" + more,
	} {
		if got, err := Parse("F", []byte(text), nil); err != nil || got.Policy.String() != want {
			t.Errorf("%q: %v, %v; want %s", text, got.Policy, err, want)
		}
	}
	for d, want := range map[time.Duration]string{0: "0s", 90 * time.Minute: "1h30m", 48 * time.Hour: "2d", 25 * time.Hour: "25h", 1500 * time.Millisecond: "1.5s", 3610 * time.Second: "1h0m10s", 10 * time.Minute: "10m"} {
		if got := short(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}
