package upstream

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"
)

// Not in an init function: the one that plays the child runs before.
var _ = addChild("proxy", childProxy)

// childProxy is a proxy to be killed: it prints the pid of its upstream and waits.
func childProxy() {
	p, err := startProcess(childCommand("stubborn"), processOptions{})
	if err != nil {
		os.Exit(1)
	}
	_, _ = stdoutOf(p).ReadString('\n') // or the child would die of writing to nobody
	fmt.Println(p.family.root.pid)
	childEcho()
}

// alone adopts orphans for the test, and fails it if afterwards a process or zombie is below us that was not before.
func alone(t *testing.T) {
	t.Helper()
	before := below(self)
	stop := AdoptOrphans(zerolog.New(zerolog.NewTestWriter(t)))
	t.Cleanup(func() {
		for pid, e := range below(self) {
			if before[pid].start != e.start {
				t.Errorf("left behind: %+v", e)
			}
		}
		stop()
	})
}

// below are the descendants of a process, dead ones included.
func below(pid int) map[int]procEntry {
	table, found := readProcTable(), map[int]procEntry{}
	for grew := true; grew; {
		grew = false
		for _, e := range table {
			_, known := found[e.pid]
			_, child := found[e.ppid]
			if !known && (child || e.ppid == pid) {
				found[e.pid], grew = e, true
			}
		}
	}
	return found
}

func entry(t *testing.T, pid string) procEntry {
	t.Helper()
	n, err := strconv.Atoi(pid)
	if err != nil {
		t.Fatalf("the child printed %q for a pid", pid)
	}
	e, ok := readProcEntry(n)
	if !ok {
		t.Fatalf("process %d is gone already", n)
	}
	return e
}

func (e procEntry) exists() bool {
	now, ok := readProcEntry(e.pid)
	return ok && now.start == e.start
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(patience)
	for !ok() {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("not within %v: %s", patience, what)
		}
	}
}

func TestEnvironmentIsNotRewritten(t *testing.T) {
	env := []string{"TWICE=1", "PATH=/usr/bin:/bin", "no equals sign", "TWICE=2"}
	p := start(t, Command{Args: []string{"cat", "/proc/self/environ"}, Env: env, Dir: "/"}, processOptions{})
	got, _ := io.ReadAll(p.stdout)
	if diff := cmp.Diff(env, strings.Split(strings.TrimSuffix(string(got), "\x00"), "\x00")); diff != "" {
		t.Error("environment (-want +got):\n" + diff)
	}
}

// Everything that a server may leave goes with it, whether the server was asked or died.
func TestNothingOfAnUpstreamSurvivesItsStop(t *testing.T) {
	exec := func(script string) Command { return shell(script + ` exec "$SERVER"`) }
	servers := map[string]Command{
		"background job":             exec(`sleep 300 & echo $!;`),
		"background job of a shell":  exec(`sh -c 'sleep 300 & echo $!; wait' &`),
		"job that ignores SIGTERM":   exec(`(trap "" TERM; sleep 300 & echo $!);`),
		"job with job control":       exec(`set -m; sleep 300 & echo $!;`),
		"stopped job":                exec(`sleep 300 & kill -STOP $!; echo $!;`),
		"child in its own session":   childCommand("with setsid child"),
		"daemon":                     childCommand("with daemon"),
		"daemon that keeps the pipe": childCommand("with daemon holding pipes"),
	}
	for name, cmd := range servers {
		for _, crash := range []bool{false, true} {
			t.Run(name+", crash "+strconv.FormatBool(crash), func(t *testing.T) {
				alone(t)
				p := start(t, cmd, processOptions{TermGrace: quick})
				left := entry(t, readLine(t, stdoutOf(p)))
				if crash {
					killServer(t, p)
				}
				doing(t, "stop", func() { p.stop(t.Context()) })
				if left.exists() {
					t.Errorf("%+v survived", left)
				}
			})
		}
	}
}

func killServer(t *testing.T, p *process) {
	t.Helper()
	server, err := os.FindProcess(p.family.root.pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	within(t, "the killed server exits", p.exited)
}

func TestManyStartsAndStopsLeaveNothing(t *testing.T) {
	alone(t)
	for range 20 {
		p := start(t, shell(`sleep 300 & (setsid sleep 300 &) ; exec "$SERVER"`), processOptions{})
		doing(t, "stop", func() { p.stop(t.Context()) })
	}
}

func TestStoppingOneUpstreamLeavesTheOtherAndItsChildrenAlive(t *testing.T) {
	tests := map[string]struct {
		cmd   Command
		crash bool // the server is dead before it is stopped
		vague bool // what it leaves could be the other's
	}{
		"child in its own session":   {cmd: childCommand("with setsid child")},
		"daemon that keeps the pipe": {cmd: childCommand("with daemon holding pipes")},
		"daemon":                     {cmd: childCommand("with daemon"), vague: true},
		"job of a crashed server":    {cmd: shell(`sleep 300 </dev/null >/dev/null 2>&1 & echo $!; exec "$SERVER"`), crash: true},
	}
	for name, test := range tests {
		for stopped, other := range []int{1, 0} {
			t.Run(name+", stop number "+strconv.Itoa(stopped), func(t *testing.T) {
				alone(t)
				pair := startPair(t, test.cmd)
				if test.crash {
					killServer(t, pair[stopped].process)
				}
				doing(t, "stop of one", func() { pair[stopped].stop(t.Context()) })
				if !pair[other].left.exists() || !answers(t, pair[other].process, pair[other].out) {
					t.Fatal("stopping one upstream ended the other or its child")
				}
				if !test.vague && pair[stopped].left.exists() {
					t.Error("the upstream's child survived its stop")
				}
				doing(t, "stop of the other", func() { pair[other].stop(t.Context()) })
				if pair[0].left.exists() || pair[1].left.exists() {
					t.Error("a child survived the stop of both")
				}
			})
		}
	}
}

// leaver is an upstream that has left something behind.
type leaver struct {
	*process
	out  *bufio.Reader
	left procEntry
}

// startPair starts both before it waits for what they leave, so that either could have left it.
func startPair(t *testing.T, cmd Command) (pair [2]leaver) {
	t.Helper()
	for i := range pair {
		p := start(t, cmd, processOptions{TermGrace: quick})
		pair[i] = leaver{process: p, out: stdoutOf(p)}
	}
	for i := range pair {
		pair[i].left = entry(t, readLine(t, pair[i].out))
	}
	return pair
}

func answers(t *testing.T, p *process, out *bufio.Reader) bool {
	t.Helper()
	if _, err := p.stdin.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	return readLine(t, out) == "hello"
}

func TestADaemonOfEitherDoesNotSurviveTwoStopsAtOnce(t *testing.T) {
	alone(t)
	pair := startPair(t, childCommand("with daemon"))
	stopped := make(chan struct{})
	go func() { defer close(stopped); pair[0].stop(t.Context()) }()
	doing(t, "stop of one", func() { pair[1].stop(t.Context()) })
	within(t, "stop of the other", stopped)
	for _, p := range pair {
		if p.left.exists() {
			t.Errorf("%+v survived", p.left)
		}
	}
}

func TestUpstreamOutlivesTheThreadThatStartedIt(t *testing.T) {
	var p *process
	doing(t, "the end of a thread", func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with the goroutine
		p = start(t, childCommand("echo"), processOptions{CloseGrace: ample})
	})
	out := stdoutOf(p)
	for range 100 { // give a death signal its time
		if !answers(t, p, out) {
			t.Fatal("the child died with the thread")
		}
	}
}

func TestUpstreamDiesWithAKilledProxy(t *testing.T) {
	proxy := exec.Command(os.Args[0])
	proxy.Env = childEnv("proxy")
	stdin, _ := proxy.StdinPipe() // held open: the proxy must not end by itself
	defer stdin.Close()
	stdout, err := proxy.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	child := entry(t, readLine(t, bufio.NewReader(stdout)))
	_ = proxy.Process.Kill()
	_ = proxy.Wait()
	eventually(t, "the upstream dies", func() bool {
		now, ok := readProcEntry(child.pid)
		return !ok || now.start != child.start || now.state == 'Z'
	})
}
