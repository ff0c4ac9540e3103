package config

import (
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var mistakeLine = regexp.MustCompile(`^F:[1-9]\d*:[1-9]\d*: [^\n\r]+(; |\?$)`)

func FuzzParse(f *testing.F) {
	f.Add([]byte(everyKey))
	for _, m := range mistakes {
		f.Add([]byte(m.file[:min(len(m.file), 200)]))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("F", data, nil)
		if err == nil {
			checkValid(t, c)
			return
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			if !mistakeLine.MatchString(line) {
				t.Errorf("not FILE:LINE:COL: what; remedy: %q", line)
			}
		}
	})
}

func checkValid(t *testing.T, c Config) {
	if len(c.Command) > 0 && (c.Command[0] == "" || slices.ContainsFunc(c.Command, func(s string) bool { return strings.Contains(s, "\x00") })) {
		t.Errorf("command %q", c.Command)
	}
	if c.StateDir != "" && c.StateDir != filepath.Clean(c.StateDir) {
		t.Errorf("state_dir %q", c.StateDir)
	}
	if c.MessageBytes < leastMessage || c.MessageBytes > mostMessage {
		t.Errorf("message_bytes %d", c.MessageBytes)
	}
	if _, err := ParseLogLevel(c.LogLevel); err != nil {
		t.Error(err)
	}
	if !slices.Contains([]string{"auto", "initialize", "stateless"}, c.UpstreamEra) {
		t.Errorf("upstream_era %q", c.UpstreamEra)
	}
	checkPolicy(t, c.Policy)
	for _, tool := range c.Tools {
		if _, err := path.Match(tool.Pattern, "x"); err != nil || tool.Pattern == "" {
			t.Errorf("pattern %q", tool.Pattern)
		}
		checkPolicy(t, tool.Policy)
	}
}

func checkPolicy(t *testing.T, p Policy) {
	if !slices.Contains([]Mode{Never, After, Always, Required}, p.Task) {
		t.Errorf("task %q", p.Task)
	}
	for key, d := range map[string]time.Duration{
		"after": p.After, "ttl": p.TTL, "poll_interval": p.PollInterval, "max_run": p.MaxRun, "stall": p.Stall,
	} {
		if s := spans[key]; d < s.least || d > s.most || d%time.Millisecond != 0 {
			t.Errorf("%s %v", key, d)
		}
	}
}
