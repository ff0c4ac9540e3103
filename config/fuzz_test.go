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
	f.Add([]byte(everyServerKey))
	for _, m := range mistakes {
		f.Add([]byte(m.file[:min(len(m.file), 200)]))
	}
	for _, m := range append(serverMistakes, listenMistakes...) {
		f.Add([]byte(m.file))
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
	for key, n := range map[string]int64{"message_bytes": c.MessageBytes, "header_bytes": c.Listen.HeaderBytes} {
		if e := extents[key]; n < e.least || n > e.most {
			t.Errorf("%s %d", key, n)
		}
	}
	checkServerParts(t, c)
	checkListenParts(t, c.Listen)
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

func checkServerParts(t *testing.T, c Config) {
	if _, err := ParseURL(c.URL); c.URL != "" && (err != nil || len(c.Command) > 0) {
		t.Errorf("url %q, command %q: %v", c.URL, c.Command, err)
	}
	for _, h := range c.Headers {
		if name, err := headerName(h.Name); err != nil || name != h.Name {
			t.Errorf("header %q: %v", h.Name, err)
		}
		sources := slices.DeleteFunc([]string{h.value.text, h.value.env, h.value.file}, func(s string) bool { return s == "" })
		if len(sources) != 1 {
			t.Errorf("header %q has the sources %q", h.Name, sources)
		}
	}
	for _, name := range c.ForwardHeaders {
		if canonical, err := forwardName(name); err != nil || canonical != name {
			t.Errorf("forward_headers %q: %v", name, err)
		}
	}
}

func checkListenParts(t *testing.T, l Listen) {
	if _, err := ParseListen(l.Address); l.Address != "" && err != nil {
		t.Errorf("listen %q: %v", l.Address, err)
	}
	if _, err := ParseEndpoint(l.Endpoint); err != nil {
		t.Errorf("endpoint %q: %v", l.Endpoint, err)
	}
	if (l.TLS.Cert == "") != (l.TLS.Key == "") {
		t.Errorf("tls %q", l.TLS)
	}
	if a := l.Auth; a.Tokens != "" && a.Issuer != "" || (a.Issuer == "") != (a.Audience == "") {
		t.Errorf("auth %q", a)
	}
	for key, n := range map[string]int{"connections": l.Connections, "sessions": l.Sessions} {
		if n < 1 || n > counts[key].most {
			t.Errorf("%s %d", key, n)
		}
	}
}

func checkPolicy(t *testing.T, p Policy) {
	if !slices.Contains([]Mode{Never, After, Always, Required}, p.Task) {
		t.Errorf("task %q", p.Task)
	}
	if !slices.Contains([]Input{InTask, BeforeTask}, p.Input) {
		t.Errorf("input %q", p.Input)
	}
	if !slices.Contains([]Approve{ApproveNever, ApproveAlways, ApproveDestructive}, p.Approve) {
		t.Errorf("approve %q", p.Approve)
	}
	for key, d := range map[string]time.Duration{
		"after": p.After, "ttl": p.TTL, "poll_interval": p.PollInterval, "max_run": p.MaxRun, "stall": p.Stall,
		"input_timeout": p.InputTimeout,
	} {
		if s := spans[key]; d < s.least || d > s.most || d%time.Millisecond != 0 {
			t.Errorf("%s %v", key, d)
		}
	}
}
