package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// invocation is one run of the binary that ends by itself. FILE in Args and
// Want stands for a file with the text File.
type invocation struct {
	name string
	Args []string
	Env  []string
	File string
	Want string // all of stderr, without the line break at its end
}

// invoke returns stderr and the exit status. Standard output belongs to the
// protocol: one byte on it is a fault, whatever else the run was about.
func invoke(t *testing.T, c invocation) (stderr string, status int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(file, []byte(c.File), 0o600); err != nil {
		t.Fatal(err)
	}
	args := slices.Clone(c.Args)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "FILE", file)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, proxyBinary(t), args...)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), c.Env...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	if out.Len() > 0 {
		t.Errorf("on stdout: %q", out.String())
	}
	text := strings.ReplaceAll(errs.String(), file, "FILE")
	return strings.TrimSuffix(text, "\n"), cmd.ProcessState.ExitCode()
}

const noServer = "mcp-taskproxy: no server to start or speak to; write its command after --, mcp-taskproxy -- COMMAND [ARG...], or its address, mcp-taskproxy --url URL"

var refused = []invocation{
	{name: "nothing at all", Want: noServer},
	{name: "nothing behind --", Args: []string{"--"}, Want: noServer},
	{name: "forgotten --", Args: []string{"npx", "-y", "x"},
		Want: `mcp-taskproxy: unknown command "npx"; the server's command goes after --: mcp-taskproxy -- COMMAND [ARG...]`},
	{name: "unknown flag", Args: []string{"--afterr", "5s", "--", "x"},
		Want: "mcp-taskproxy: unknown flag --afterr; see mcp-taskproxy --help; flags of the server go after its command, behind --"},
	{name: "flag without value", Args: []string{"--state-dir", "--", "x"},
		Want: "mcp-taskproxy: --state-dir needs a value; see mcp-taskproxy --help"},
	{name: "program missing from PATH", Args: []string{"--", "no-such-program"},
		Want: `mcp-taskproxy: command "no-such-program" is not in PATH; install it, or write its whole path`},
	{name: "program missing at a path", Args: []string{"--", "./no-such-program"},
		Want: `mcp-taskproxy: command "./no-such-program" does not exist; write the path of a program`},
	{name: "program that is called like a command of ours", Args: []string{"--", "config", "check", "FILE"},
		Want: `mcp-taskproxy: command "config" is not in PATH; install it, or write its whole path`},
	{name: "command line as one argument", Args: []string{"--", "npx -y server"},
		Want: `mcp-taskproxy: command "npx -y server" does not exist; write the program and each argument apart, not as one text`},
	{name: "program missing in a file", Args: []string{"--config", "FILE"}, File: "command: [no-such-program]",
		Want: `mcp-taskproxy: command "no-such-program" is not in PATH; install it, or write its whole path`},
	{name: "command line over file", Args: []string{"--config", "FILE", "--", "other-program"}, File: "command: [no-such-program]",
		Want: `mcp-taskproxy: command "other-program" is not in PATH; install it, or write its whole path`},

	{name: "bare threshold", Args: []string{"--after", "5", "--", "x"}, Want: "mcp-taskproxy: --after: 5 has no unit; write 5s"},
	{name: "zero threshold without unit", Args: []string{"--after=0"}, Want: "mcp-taskproxy: --after: 0 has no unit; write 0s"},
	{name: "negative threshold", Args: []string{"--after", "-1"},
		Want: `mcp-taskproxy: --after: "-1" is negative; write a duration such as 5s`},
	{name: "bare threshold in a variable", Env: []string{"MCP_TASKPROXY_AFTER=5"},
		Want: "mcp-taskproxy: MCP_TASKPROXY_AFTER: 5 has no unit; write 5s"},
	{name: "flag over variable", Args: []string{"--after", "500ms"}, Env: []string{"MCP_TASKPROXY_AFTER=5"}, Want: noServer},
	{name: "empty variable", Env: []string{"MCP_TASKPROXY_AFTER=", "MCP_TASKPROXY_CONFIG="}, Want: noServer},
	{name: "threshold at once", Args: []string{"--after", "0s"}, Want: noServer},
	{name: "unknown level", Args: []string{"--log-level", "warning"},
		Want: `mcp-taskproxy: --log-level: unknown level "warning"; did you mean warn?`},
	{name: "unknown level in a variable", Env: []string{"MCP_TASKPROXY_LOG_LEVEL=loud"},
		Want: `mcp-taskproxy: MCP_TASKPROXY_LOG_LEVEL: unknown level "loud"; write one of trace, debug, info, warn, error`},
	{name: "not a truth", Env: []string{"MCP_TASKPROXY_LOG_PAYLOADS=1"},
		Want: `mcp-taskproxy: MCP_TASKPROXY_LOG_PAYLOADS: "1" is neither true nor false; write true or false`},
	{name: "home of another", Args: []string{"--state-dir", "~bob/x"},
		Want: `mcp-taskproxy: --state-dir: "~bob/x": the home directory of another user is not looked up; write the whole path`},
	{name: "empty path", Args: []string{"--state-dir="}, Want: "mcp-taskproxy: --state-dir: the path is empty; write one"},

	{name: "mistakes in the file", Args: []string{"--config", "FILE", "--", "x"}, File: "after: 5\nttl: 0s\n",
		Want: "FILE:1:8: after: 5 has no unit; write 5s\nFILE:2:6: ttl: \"0s\" is too short; write 1ms or more, such as 24h"},
	{name: "mistakes everywhere", Args: []string{"--log-level", "x", "--config", "FILE"}, Env: []string{"MCP_TASKPROXY_AFTER=1"}, File: "tasks: never",
		Want: "mcp-taskproxy: MCP_TASKPROXY_AFTER: 1 has no unit; write 1s\n" +
			"FILE:1:1: unknown key \"tasks\"; did you mean task?\n" +
			"mcp-taskproxy: --log-level: unknown level \"x\"; write one of trace, debug, info, warn, error"},
	{name: "config check of mistakes", Args: []string{"config", "check", "FILE"}, File: "\n  afterr: 5s",
		Want: `FILE:2:3: unknown key "afterr"; did you mean after?`},
	{name: "config check of nothing", Args: []string{"config", "check"},
		Want: "mcp-taskproxy: config check takes one file; write mcp-taskproxy config check FILE"},
	{name: "config check of two", Args: []string{"config", "check", "FILE", "--", "x"},
		Want: "mcp-taskproxy: config check takes one file; write mcp-taskproxy config check FILE"},
	{name: "config of something else", Args: []string{"config", "chekc", "FILE"},
		Want: "mcp-taskproxy: config has one subcommand, check; write mcp-taskproxy config check FILE"},
}

func TestWrongInvocationsSayWhatToWrite(t *testing.T) {
	for _, c := range refused {
		t.Run(c.name, func(t *testing.T) { checkRefused(t, c) })
	}
}

func checkRefused(t *testing.T, c invocation) {
	t.Helper()
	stderr, status := invoke(t, c)
	if diff := cmp.Diff(c.Want, stderr); diff != "" {
		t.Error(diff)
	}
	if status != 2 {
		t.Errorf("exit status %d, want 2", status)
	}
}

func TestMissingFileNamesWhoAskedForIt(t *testing.T) {
	for _, c := range []invocation{
		{Args: []string{"--config", "none.yaml"}, Want: "mcp-taskproxy: --config: "},
		{Env: []string{"MCP_TASKPROXY_CONFIG=none.yaml"}, Want: "mcp-taskproxy: MCP_TASKPROXY_CONFIG: "},
		{Args: []string{"config", "check", "none.yaml"}, Want: "mcp-taskproxy: config check: "},
	} {
		stderr, status := invoke(t, c)
		if status != 2 || !strings.HasPrefix(stderr, c.Want) || !strings.Contains(stderr, "none.yaml") || strings.Contains(stderr, "\n") {
			t.Errorf("%v %v: status %d, %q", c.Args, c.Env, status, stderr)
		}
	}
}

func TestUnexecutableProgramIsNamed(t *testing.T) {
	dir := t.TempDir()
	stderr, status := invoke(t, invocation{Args: []string{"--", dir}})
	if status != 2 || !strings.Contains(stderr, dir) || !strings.Contains(stderr, "; write ") || strings.Contains(stderr, "\n") {
		t.Errorf("status %d, %q", status, stderr)
	}
}

func TestWhatPeopleAskForIsOnStderr(t *testing.T) {
	for _, c := range []invocation{
		{Args: []string{"--help"}, Want: "mcp-taskproxy [flags] -- COMMAND [ARG...]"},
		{Args: []string{"--help"}, Want: "mcp-taskproxy [flags] --listen HOST:PORT (-- COMMAND [ARG...] | --url URL)"},
		{Args: []string{"-h", "--", "x"}, Want: "MCP_TASKPROXY_STATE_DIR"},
		{Args: []string{"--version"}, Want: "mcp-taskproxy version "},
		{Args: []string{"config", "--help"}, Want: "check"},
		{Args: []string{"config", "check", "--help"}, Want: "FILE"},
		{Args: []string{"config", "check", "FILE"}, File: "after: 2s\ntools: {a: {task: never}}", Want: "FILE: ok: task after 2s, ttl 24h"},
	} {
		stderr, status := invoke(t, c)
		if status != 0 || !strings.Contains(stderr, c.Want) {
			t.Errorf("%v: status %d, %q, want %q", c.Args, status, stderr, c.Want)
		}
	}
}

// TestCommandReachesTheServerVerbatim has the server write its arguments into
// a named pipe, which the test reads as soon as the server runs.
func TestCommandReachesTheServerVerbatim(t *testing.T) {
	for _, program := range []string{"sh", "mkfifo"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("needs %s: %v", program, err)
		}
	}
	want := []string{"config", "check", "--", "-h", "--after", "5", "", "a b", "$HOME", `"q'`, "--"}
	fifo := filepath.Join(t.TempDir(), "args")
	if out, err := exec.Command("mkfifo", fifo).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v %s", err, out)
	}
	const script = `pipe=$1; shift; { for a; do printf '%s\n' "$a"; done; echo END; } >"$pipe"; exec cat >/dev/null`
	args := append([]string{"--state-dir", t.TempDir(), "--", "sh", "-c", script, "sh", fifo}, want...)
	cmd := exec.CommandContext(t.Context(), proxyBinary(t), args...)
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, _ = stdin.Write([]byte(firstRequest + "\n"))
	if diff := cmp.Diff(want, linesUntilEnd(t, fifo)); diff != "" {
		t.Error(diff)
	}
	_ = stdin.Close()
	_ = cmd.Wait()
}

const firstRequest = `{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"cli-test","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}`

// linesUntilEnd opens the pipe for writing, too, so that opening does not
// wait for the other side and the deadline counts.
func linesUntilEnd(t *testing.T, fifo string) []string {
	t.Helper()
	f, err := os.OpenFile(fifo, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	var lines []string
	in := bufio.NewScanner(f)
	for in.Scan() && in.Text() != "END" {
		lines = append(lines, in.Text())
	}
	if err := in.Err(); err != nil {
		t.Errorf("the server did not write its arguments: %v", err)
	}
	return lines
}

func TestHostSnippetsStartTheProxy(t *testing.T) {
	type entry struct {
		Command string
		Args    []string
	}
	for file, key := range map[string]string{"claude-code.mcp.json": "mcpServers", "vscode.mcp.json": "servers"} {
		data, err := os.ReadFile(filepath.Join("..", "examples", "hosts", file))
		if err != nil {
			t.Fatal(err)
		}
		var snippet map[string]map[string]entry
		if err := json.Unmarshal(data, &snippet); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for name, e := range snippet[key] {
			dashes := slices.Index(e.Args, "--")
			if e.Command != "mcp-taskproxy" || dashes < 0 {
				t.Fatalf("%s: %s: %v", file, name, e)
			}
			if stderr, _ := invoke(t, invocation{Args: e.Args[:dashes]}); stderr != noServer {
				t.Errorf("%s: %s: the flags are refused: %s", file, name, stderr)
			}
		}
		if len(snippet[key]) == 0 {
			t.Errorf("%s: nothing under %s", file, key)
		}
	}
}
