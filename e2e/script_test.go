package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// conversation is one file of testdata. Its format:
//
//	What is shown, and why; free text.
//	-- run --
//	server: legacy -version 2025-11-25     a fixture and its flags
//	flags: --after 1s                      flags of the proxy, optional
//	direct                                 also holds without a proxy: run it both ways
//	stdio: REASON                          no host over HTTP can say this, optional
//	process: REASON                        no server over HTTP can do this, optional
//	alone: REASON                          with a runner behind the front it is otherwise, optional
//	pairs                                  run it with every pair of transports
//	-- config.yaml --                      optional, given to --config
//	-- script --
//	# a comment
//	-> {…}         send this line
//	<- {…}         the very next message is this; over HTTP, the next of its stream
//	<? {…}         this is among the messages to come, by its id or method; others may come before it
//	=> text        the very next message is this, byte for byte
//	poll $task {…} ask for the task until its members include these, or it is over; the answer is then the next message
//	saw {…}        the upstream received, or soon receives, a message like this
//	unseen {…}     the upstream received no message like this so far
//	effects N TOOL the upstream was called, or soon is, N times for this tool, and not more
//	stderr TEXT    the proxy's stderr holds, or soon holds, this text
//	close          close stdin, or over HTTP send SIGTERM; the process ends with status 0
//	kill           end the process with SIGKILL, or the runner, if there is one, and so its front
//	restart        start it again: same flags, same state directory
//
// In what is sent, $META and $TASKS stand for the members of _meta that the
// stateless era demands, without and with the Tasks extension declared;
// $ANSWERS and $BOTH are the same and declare that every kind of question is
// answered. In what is expected, "$any", "$int", "$string" and "$time" match such values, "$none"
// says that there is no such member, any other "$name" binds the value it meets first and equals it from then on, and a
// member or last element "..." admits more of them. Bound names may be sent.
//
// At the end stdin is closed, and a message that no line took is a failure.
type conversation struct {
	Name   string
	Server []string
	Flags  []string
	Direct bool
	Stdio  string // why no host over HTTP can say this; empty if one can
	Child  string // why no server over HTTP can do this; empty if one can
	Alone  string // why a runner behind the front changes it; empty if it does not
	Pairs  bool   // run it with all pairs of transports
	Config string
	Script []step
}

type step struct {
	Line       int
	Verb, Text string
}

func (s step) String() string { return fmt.Sprintf("line %d: %s %s", s.Line, s.Verb, s.Text) }

func readConversation(t *testing.T, path string) conversation {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c := conversation{Name: strings.TrimSuffix(filepath.ToSlash(path), ".txtar")}
	line := strings.Count(string(archive.Comment), "\n") + 1
	for _, file := range archive.Files {
		if err := c.section(file, line+1); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		line += 1 + strings.Count(string(file.Data), "\n")
	}
	if len(c.Server) == 0 || len(c.Script) == 0 {
		t.Fatalf("%s: no server or no script", path)
	}
	return c
}

func (c *conversation) section(file txtar.File, line int) error {
	text := strings.TrimSuffix(string(file.Data), "\n")
	switch file.Name {
	case "run":
		return c.run(text)
	case "config.yaml":
		c.Config = text + "\n"
		return nil
	case "script":
		return c.steps(text, line)
	}
	return fmt.Errorf("unknown section %q", file.Name)
}

func (c *conversation) run(text string) error {
	for _, line := range strings.Split(text, "\n") {
		key, value, _ := strings.Cut(line, ":")
		switch key {
		case "server":
			c.Server = strings.Fields(value)
		case "flags":
			c.Flags = strings.Fields(value)
		case "stdio":
			c.Stdio = strings.TrimSpace(value)
		case "process":
			c.Child = strings.TrimSpace(value)
		case "alone":
			c.Alone = strings.TrimSpace(value)
		case "pairs":
			c.Pairs = true
		case "direct":
			c.Direct = true
		default:
			return fmt.Errorf("unknown key %q", key)
		}
	}
	return nil
}

func (c *conversation) steps(text string, line int) error {
	for i, entry := range strings.Split(text, "\n") {
		if entry == "" || strings.HasPrefix(entry, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(entry, " ")
		if verbs[verb] == nil {
			return fmt.Errorf("line %d: unknown verb %q", line+i, verb)
		}
		c.Script = append(c.Script, step{Line: line + i, Verb: verb, Text: rest})
	}
	return nil
}
