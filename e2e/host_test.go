package e2e

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/schema"
)

// patience bounds every wait. It is long because nothing is measured with it.
const patience = 30 * time.Second

// host is a child process that is spoken to in lines. The test's goroutine uses it.
type host struct {
	t     testing.TB
	cmd   *exec.Cmd
	opts  hostOptions
	stdin io.WriteCloser
	ids   int // given out by freshID

	readers   sync.WaitGroup
	exited    chan struct{}  // closed when the child was waited for, and what it wrote was read
	pipes     []io.Closer    // our ends of stdout and stderr
	theirs    []*os.File     // its ends, for our last word behind its own
	lastHeard sync.WaitGroup // the last word, on each of theirs

	mu         sync.Mutex
	queue      []arrival     // not yet taken, in order
	changed    chan struct{} // closed and replaced when something arrived
	ended      bool          // stdout is at its end
	transcript []string
	errors     bytes.Buffer // stderr

	judge   schema.Judge // of what arrives
	breaker *breaker     // takes what breaks the schemas on purpose; nil if nothing may

	over *host // the process, where this host speaks to it over HTTP; else nil
}

// arrival is a message and the stream that it came on. On stdio there is one.
type arrival struct {
	message
	stream int
}

type hostOptions struct {
	Env  []string // added to ours
	Dir  string
	Junk bool // lines on stdout that are no messages are expected and passed over
	Deaf bool // stderr is never read
	// Apart says that news have no order with what else comes, as where the
	// proxy hears them from its server on a stream of their own.
	Apart bool
}

func startHost(t testing.TB, argv ...string) *host {
	t.Helper()
	return startHostWith(t, hostOptions{}, argv...)
}

// startHostWith starts the command. It is killed at the end of the test.
func startHostWith(t testing.TB, opts hostOptions, argv ...string) *host {
	t.Helper()
	h := &host{t: t, opts: opts, cmd: exec.Command(argv[0], argv[1:]...), exited: make(chan struct{}), changed: make(chan struct{}), breaker: excused(t)}
	h.cmd.Env, h.cmd.Dir = append(append(raceOptions(), os.Environ()...), opts.Env...), opts.Dir
	stdout, stderr := h.pipe(&h.cmd.Stdout), h.pipe(&h.cmd.Stderr)
	if err := h.fork(); err != nil {
		t.Fatalf("starting %q: %v", argv, err)
	}
	h.attend(stdout, stderr)
	return h
}

// raceOptions spare every process of the race detector the second that it
// waits at its end.
func raceOptions() []string {
	if raceEnabled {
		return []string{"GORACE=atexit_sleep_ms=20"}
	}
	return nil
}

// attend reads what the started child says, until the end of the test.
func (h *host) attend(stdout, stderr io.Reader) {
	h.readers.Go(func() { h.read(stdout) })
	if !h.opts.Deaf {
		h.readers.Go(func() { h.drain(stderr) })
	}
	h.readers.Go(func() { _ = h.cmd.Wait(); h.lastWords(); close(h.exited) })
	h.t.Cleanup(h.cleanup)
}

// lastWord is what no child says.
const lastWord = "\x00the child is gone\n"

// lastWords wait until all that the child wrote was read: its end is known
// earlier, and descendants may keep its pipes open.
func (h *host) lastWords() {
	for _, pipe := range h.theirs {
		if pipe == h.cmd.Stderr && h.opts.Deaf {
			h.lastHeard.Done() // nobody reads it
		} else if _, err := io.WriteString(pipe, lastWord); err != nil {
			h.t.Errorf("our own pipe: %v", err)
			h.lastHeard.Done()
		}
		_ = pipe.Close()
	}
	h.lastHeard.Wait()
}

// fork starts the child.
func (h *host) fork() (err error) {
	if h.stdin, err = h.cmd.StdinPipe(); err == nil {
		err = h.cmd.Start()
	}
	return err
}

// pipe is a pipe of our own: those of exec make Wait wait for every descendant that holds them.
func (h *host) pipe(theirs *io.Writer) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		h.t.Fatal(err)
	}
	*theirs = w
	h.pipes, h.theirs = append(h.pipes, r), append(h.theirs, w)
	h.lastHeard.Add(1)
	return r
}

func (h *host) read(stdout io.Reader) {
	in := bufio.NewReaderSize(stdout, 64<<10)
	for {
		line, err := in.ReadString('\n')
		said, last := strings.CutSuffix(line, lastWord)
		if said = strings.TrimSuffix(said, "\n"); said != "" {
			h.arrived(said)
		}
		if last {
			h.lastHeard.Done()
		}
		if err != nil {
			break
		}
	}
	h.end()
}

// end says that nothing arrives any more.
func (h *host) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = true
	close(h.changed)
}

func (h *host) arrived(line string) { h.arrivedOn(0, line) }

func (h *host) arrivedOn(stream int, line string) {
	m, err := parseMessage(line)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note("<- ", line)
	if err != nil {
		if !h.opts.Junk {
			h.t.Errorf("a line on stdout is no message (%v): %s", err, cut(line))
		}
		return
	}
	h.judgeLine(line)
	if h.opts.Apart && news[m.Method] {
		stream = -1
	}
	h.queue = append(h.queue, arrival{m, stream})
	close(h.changed)
	h.changed = make(chan struct{})
}

var news = map[string]bool{
	"notifications/tools/list_changed": true, "notifications/prompts/list_changed": true,
	"notifications/resources/list_changed": true, "notifications/resources/updated": true,
}

func (h *host) drain(stderr io.Reader) {
	in := bufio.NewReader(stderr)
	for {
		line, err := in.ReadString('\n')
		said, last := strings.CutSuffix(line, lastWord)
		h.mu.Lock()
		h.errors.WriteString(said)
		h.mu.Unlock()
		if last {
			h.lastHeard.Done()
		}
		if err != nil {
			return
		}
	}
}

// note keeps a line for the report of a test that failed; h.mu is held.
func (h *host) note(direction, line string) {
	h.transcript = append(h.transcript, direction+cut(line))
}

func (h *host) cleanup() {
	_ = h.cmd.Process.Kill()
	<-h.exited
	for _, pipe := range h.pipes {
		_ = pipe.Close()
	}
	_ = h.stdin.Close()
	h.readers.Wait()
	h.report()
}

func (h *host) report() {
	if h.t.Failed() {
		last := h.transcript[max(0, len(h.transcript)-60):]
		h.t.Logf("%s\n%s\nstderr:\n%s", strings.Join(h.cmd.Args, " "), strings.Join(last, "\n"), cut(h.errors.String()))
	}
}

// cut keeps reports readable.
func cut(s string) string {
	const most = 4000
	if len(s) <= most {
		return s
	}
	return s[:most/2] + " … " + s[len(s)-most/2:]
}
