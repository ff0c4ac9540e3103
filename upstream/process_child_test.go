//go:build unix

package upstream

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// childMode makes the test binary play an upstream's child. It is read in an init function, so that this file needs no
// part in TestMain.
const childMode = "UPSTREAM_TEST_CHILD"

func init() {
	if mode := os.Getenv(childMode); mode != "" {
		children[mode]()
		os.Exit(0)
	}
}

var children = map[string]func(){
	"report":   childReport,
	"echo":     childEcho,
	"complain": childComplain,
	"deaf":     childDeaf,
	"stubborn": childStubborn,
	"flood":    childFlood,
	// Servers that leave something behind; each prints the pid of what it left, then echoes.
	"with setsid child":            func() { leave("stubborn", nil); childEcho() },
	"with daemon":                  func() { leave("middle", nil); childEcho() },
	"with daemon holding pipes":    func() { leave("middle", os.Stderr); childEcho() },
	"middle":                       func() { leave("stubborn", nil) },
	"with daemon that ends itself": func() { leave("brief middle", nil); childEcho() },
	"brief middle":                 func() { leave("brief", nil) },
	"brief":                        func() {},
}

func addChild(mode string, play func()) bool {
	children[mode] = play
	return true
}

type childSelf struct {
	Args, Env []string
	Dir       string
}

func childReport() {
	dir, _ := os.Getwd()
	_ = json.NewEncoder(os.Stdout).Encode(childSelf{os.Args[1:], os.Environ(), dir})
}

func childEcho() { _, _ = io.Copy(os.Stdout, os.Stdin) }

func childComplain() {
	fmt.Fprint(os.Stderr, "starting\n\n\x1b[31mno licence\x1b[0m\r\nbye")
	os.Exit(3)
}

// childDeaf does not care for stdin, but ends on SIGTERM.
func childDeaf() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGTERM)
	fmt.Println("ready")
	select {
	case <-asked:
		os.Exit(7)
	case <-time.After(time.Minute): // in case the test died
	}
}

func childStubborn() {
	signal.Ignore(syscall.SIGTERM)
	fmt.Println("ready")
	<-time.After(time.Minute)
}

const floodBytes = 100 << 20

func childFlood() {
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range floodBytes / len(chunk) {
		_, _ = os.Stderr.Write(chunk)
	}
	fmt.Println("ready")
	childEcho()
}

// leave starts a child in a session of its own. A middle one prints the pid itself and is waited for; "middle" hands its
// own stderr on, which is how a daemon may keep the upstream's pipe.
func leave(mode string, stderr *os.File) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = childEnv(mode)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	middle := strings.Contains(mode, "middle")
	if middle {
		cmd.Stdout = os.Stdout
	}
	if stderr != nil {
		cmd.Stderr = stderr
	} else if os.Getenv(childMode) == "middle" {
		cmd.Stderr = os.Stderr
	}
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if middle {
		_ = cmd.Wait()
		return
	}
	fmt.Println(cmd.Process.Pid)
}

// childCommand is the test binary in a mode.
func childCommand(mode string, args ...string) Command {
	return Command{Args: append([]string{os.Args[0]}, args...), Env: childEnv(mode)}
}

// shell runs a script in which $SERVER is a server that echoes until the end of its stdin.
func shell(script string) Command {
	return Command{
		Args: []string{"sh", "-c", script},
		Env:  append(childEnv("echo"), "SERVER="+os.Args[0]),
	}
}

// childEnv also keeps the race detector from sleeping for a second at the end of each child. A child of a
// child must not find two modes: which one counts is decided differently by everyone.
func childEnv(mode string) []string {
	env := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, childMode+"=") })
	return append(env, childMode+"="+mode, "GORACE=atexit_sleep_ms=0")
}

func start(t *testing.T, cmd Command, opts processOptions) *process {
	t.Helper()
	opts.Log = zerolog.New(zerolog.NewTestWriter(t))
	p, err := startProcess(cmd, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.stop(t.Context()) }) // its context is over: no grace
	return p
}

// quick is for a grace that is meant to run out; ample is for one that is not.
const (
	quick = 50 * time.Millisecond
	ample = time.Minute
)

// stdoutOf is the way to read a process's stdout by lines; one for each process.
func stdoutOf(p *process) *bufio.Reader { return bufio.NewReader(p.stdout) }

func readLine(t *testing.T, r *bufio.Reader) string {
	t.Helper()
	var line string
	var err error
	doing(t, "a line on stdout", func() { line, err = r.ReadString('\n') })
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	return strings.TrimSuffix(line, "\n")
}
