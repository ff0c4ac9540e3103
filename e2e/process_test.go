//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// family is the proxy around a shell that leaves a child behind and becomes the server.
type family struct {
	*proxied
	seen      *records
	t         *testing.T
	pidFile   string // the server and the child it left, a pair for each start
	proxyFile string // their parent
}

func newFamily(t *testing.T, leave string, serverFlags ...string) *family {
	t.Helper()
	p, seen := proxyAround(t, "legacy", serverFlags...)
	dir := t.TempDir()
	f := &family{proxied: p, seen: seen, t: t, pidFile: filepath.Join(dir, "pids"), proxyFile: filepath.Join(dir, "proxy")}
	script := "echo $PPID >" + f.proxyFile + "; echo $$ >>" + f.pidFile + "; " + leave + " & echo $! >>" + f.pidFile + `; exec "$0" "$@"`
	p.Upstream = append([]string{"sh", "-c", script}, p.Upstream...)
	t.Cleanup(func() {
		for _, pid := range append(f.pids(), pidsIn(f.proxyFile)...) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return f
}

func (f *family) pids() []int { return pidsIn(f.pidFile) }

func pidsIn(file string) []int {
	data, _ := os.ReadFile(file)
	var pids []int
	for _, word := range strings.Fields(string(data)) {
		if pid, err := strconv.Atoi(word); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// open has the host talk to the server, so that all processes are there.
func (f *family) open(h *host) {
	f.t.Helper()
	if m := h.ask(plain.toolCall("1", "release", `{}`)); m.Error != nil || len(f.pids()) != 2 {
		f.t.Fatalf("the server does not run: %s", m.Raw)
	}
}

func (f *family) awaitCall(h *host, tool string) {
	f.t.Helper()
	h.await("the call of "+tool+" to reach the server", func() bool { return f.seen.count("call "+tool) == 1 })
}

// gone waits for the end of them all, the proxy included.
func (f *family) gone(h *host) {
	f.t.Helper()
	for _, pid := range append(f.pids(), pidsIn(f.proxyFile)...) {
		h.await("process "+strconv.Itoa(pid)+" to be gone", func() bool { return !alive(pid) })
	}
}

// alive does not count a zombie that a lazy init has not yet collected.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return runtime.GOOS != "linux"
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func TestNoDescendantSurvives(t *testing.T) {
	ends := map[string]func(h *host){
		"EOF":     func(h *host) { h.stop() },
		"SIGTERM": func(h *host) { h.signal(syscall.SIGTERM); h.wait() },
		"SIGINT":  func(h *host) { h.signal(syscall.SIGINT); h.wait() },
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t, "sleep 300")
			h := f.start(t)
			f.open(h)
			end(h)
			f.gone(h)
		})
	}
}

// The host is a process of its own here, and its death is all that the proxy hears.
func TestNoDescendantSurvivesKilledHost(t *testing.T) {
	t.Parallel()
	f := newFamily(t, "sleep 300")
	h := startHost(t, append([]string{fixture(t, "copier"), "--"}, f.argv(t)...)...)
	f.open(h)
	h.kill()
	f.gone(h)
}

func TestNoDescendantSurvivesStubbornServer(t *testing.T) {
	t.Parallel()
	f := newFamily(t, "sleep 300", "-ignore-eof", "-ignore-term")
	h := f.start(t)
	f.open(h)
	h.stop()
	f.gone(h)
}

func TestNoDescendantSurvivesInItsOwnSession(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has a subreaper, and setsid(1) everywhere")
	}
	f := newFamily(t, "setsid sleep 300")
	h := f.start(t)
	f.open(h)
	h.stop()
	f.gone(h)
}

// Nobody is left to clean up; the server itself must still end, however stubborn.
func TestServerEndsWithKilledProxy(t *testing.T) {
	flags := []string{}
	if runtime.GOOS == "linux" {
		flags = append(flags, "-ignore-eof", "-ignore-term")
	}
	f := newFamily(t, "true", flags...)
	h := f.start(t)
	f.open(h)
	h.kill()
	f.gone(h)
}

// Whatever keeps the store from being closed, a proxy must not stay for ever:
// it would hold the lock of the state directory.
func TestProxyEndsAlthoughItsStateDirectoryIsGone(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy")
	h := p.start(t)
	h.ask(plain.toolCall("1", "release", `{}`))
	if err := os.RemoveAll(p.StateDir); err != nil {
		t.Fatal(err)
	}
	h.stop()
}

func TestServerKilledInTheMiddleOfACall(t *testing.T) {
	f := newFamily(t, "true")
	h := f.start(t)
	f.open(h)
	h.send(plain.toolCall("2", "gate", `{"gate":"shut"}`))
	h.send(plain.toolCall("3", "release", `{"gate":"other"}`))
	h.response("3")
	_ = syscall.Kill(f.pids()[0], syscall.SIGKILL)
	m := h.response("2")
	if why, outcome := reason(m.Error); why != "upstream_exited" || outcome != "unknown" || !strings.Contains(m.Raw, "signal: killed") {
		t.Errorf("reason %q, outcome %q: %s", why, outcome, m.Raw)
	}
	if m := h.ask(plain.toolCall("4", "release", `{}`)); m.Error != nil {
		t.Errorf("the next call was not served: %s", m.Raw)
	}
}

func TestNoZombieAfterManyCrashes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	f := newFamily(t, "true")
	h := f.start(t)
	for i := range 3 {
		h.ask(plain.toolCall(raw(i), "crash", `{}`))
	}
	for _, pid := range f.pids() {
		h.await("process "+strconv.Itoa(pid)+" to be collected", func() bool { return syscall.Kill(pid, 0) != nil })
	}
}

func TestArgumentsDirectoryAndVariablesReachTheServer(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	words := []string{"a b", `"q"`, "it's", "$HOME", "", "*", `back\slash`, "é", "--after", "-x=1", "--"}
	p := &proxied{Upstream: append([]string{fixture(t, "legacy"), "plain"}, words...), StateDir: t.TempDir()}
	p.Host = hostOptions{Dir: dir, Env: []string{"E2E_ODD= a=b $c "}}
	m := p.start(t).ask(plain.toolCall("1", "whoami", `{"env":["E2E_ODD"]}`))
	var got struct {
		Args []string
		Dir  string
		Env  map[string]string
	}
	if err := json.Unmarshal(at(m.Result, "structuredContent"), &got); err != nil {
		t.Fatalf("%v: %s", err, m.Raw)
	}
	if diff := cmp.Diff(append([]string{"plain"}, words...), got.Args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if got.Dir != dir || got.Env["E2E_ODD"] != " a=b $c " {
		t.Errorf("directory %q, variable %q", got.Dir, got.Env["E2E_ODD"])
	}
}

func TestSecondProxyOnOneStateDirectoryNamesTheHolder(t *testing.T) {
	t.Parallel()
	p, _ := proxyAround(t, "legacy")
	first := p.start(t)
	first.ask(plain.toolCall("1", "release", `{}`))
	second := p.start(t)
	if status := second.wait(); status == 0 {
		t.Errorf("the second proxy ended with status 0")
	}
	holder := strconv.Itoa(first.cmd.Process.Pid)
	second.await("stderr to name process "+holder, func() bool { return strings.Contains(second.stderr(), holder) })
}
