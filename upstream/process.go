package upstream

import (
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// Command is the upstream server's command. It is run as it stands: no shell, no added argument, no changed variable.
type Command struct {
	// Args is the program and its arguments. A program without a slash is looked up on the PATH of Env (on Windows:
	// on our own PATH), because that is the PATH its owner meant.
	Args []string
	Env  []string // "NAME=value"; nil means our environment, empty means none
	Dir  string   // working directory; "" means ours
}

// processOptions configures one child process.
type processOptions struct {
	Log zerolog.Logger
	// Stderr receives the child's stderr as raw bytes, from one goroutine at a time for this process; nil discards them.
	// A writer that blocks costs output, never progress of the child; one that never returns keeps one goroutine.
	Stderr     io.Writer
	CloseGrace time.Duration // from the closed stdin to SIGTERM; 0 means 1 s
	TermGrace  time.Duration // from SIGTERM to SIGKILL; 0 means 1 s
}

// lastWords is how long, after the child is gone, its outputs are still waited for when another process holds them open.
const lastWords = 250 * time.Millisecond

// process is a running or ended child. Whoever started it calls stop exactly when it has no more use for it, also after
// the child ended by itself: what the child left behind is removed then.
type process struct {
	stdin  io.WriteCloser  // safe to close more than once
	stdout io.Reader       // for one reader, who reads to the end; ends soon after the child even if others hold it open
	exited <-chan struct{} // closed when the child is gone, its stderr was read and exit may be called

	pid      int
	opts     processOptions
	stderr   *stderrLog
	out      *outputReader
	family   *family
	reaped   chan struct{} // closed as soon as the child was waited for, before exited
	hurry    chan struct{} // closed when a caller of stop ran out of patience
	hasten   func()        // closes hurry, once
	stopOnce sync.Once
	report   exitReport // written before exited is closed
}

// startProcess starts the command. The error is a *startError.
func startProcess(cmd Command, opts processOptions) (*process, error) {
	path, err := cmd.path()
	if err != nil {
		return nil, cmd.explain(path, err)
	}
	pipes, err := newChildPipes()
	if err != nil {
		return nil, cmd.explain(path, err)
	}
	p, exited := newProcess(pipes, opts), make(chan struct{})
	p.exited = exited
	started := make(chan error)
	go p.run(path, cmd, pipes, started, exited)
	if err := <-started; err != nil {
		return nil, cmd.explain(path, err)
	}
	return p, nil
}

func newProcess(pipes *childPipes, opts processOptions) *process {
	if opts.CloseGrace == 0 {
		opts.CloseGrace = time.Second
	}
	if opts.TermGrace == 0 {
		opts.TermGrace = time.Second
	}
	hurry := make(chan struct{})
	out := newOutputReader(pipes.stdout)
	return &process{
		stdin: pipes.stdin, stdout: out, out: out, opts: opts,
		stderr: newStderrLog(pipes.stderr, opts.Stderr),
		family: newFamily(pipes, opts.Log),
		reaped: make(chan struct{}), hurry: hurry, hasten: sync.OnceFunc(func() { close(hurry) }),
	}
}

// run forks and then waits for the child, both on one locked thread: the kernel sends the parent-death signal when the
// forking thread ends, not the process, so that thread has to live as long as the child. It is no extra cost, since
// waiting occupies a thread anyway. startProcess owns this goroutine until started is answered, stop afterwards.
func (p *process) run(path string, cmd Command, pipes *childPipes, started chan<- error, exited chan<- struct{}) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	child, err := p.fork(path, cmd, pipes)
	started <- err
	if err != nil {
		return
	}
	go p.stderr.drain()
	state, err := child.Wait()
	p.family.parentGone()
	close(p.reaped)
	p.finish(state, err)
	close(exited)
}

// fork starts the child and closes whichever ends of the pipes are not needed after it.
func (p *process) fork(path string, cmd Command, pipes *childPipes) (*os.Process, error) {
	child, err := os.StartProcess(path, cmd.Args, &os.ProcAttr{
		Dir: cmd.Dir, Env: cmd.Env, Files: pipes.theirs(), Sys: p.family.attributes(),
	})
	pipes.closeTheirs()
	if err == nil {
		p.pid = child.Pid
		if err = p.family.started(child); err != nil {
			_ = child.Kill()
			_, _ = child.Wait()
		}
	}
	if err != nil {
		p.family.forget()
		pipes.closeOurs()
	}
	return child, err
}

// finish lets both outputs come to their end and writes the report.
func (p *process) finish(state *os.ProcessState, err error) {
	_ = p.stdin.Close()
	p.out.expire()
	p.stderr.in.expire()
	<-p.stderr.done
	p.report = exitReport{Status: "unknown", Code: -1, Stderr: p.stderr.tail.lines(), StderrDropped: p.stderr.dropped()}
	if state != nil {
		p.report.Status, p.report.Code = state.String(), state.ExitCode()
	} else if err != nil {
		p.report.Status = err.Error()
	}
	p.opts.Log.Debug().Str("status", p.report.Status).Int64("stderr_dropped", p.report.StderrDropped).Msg("upstream process ended")
}

// exitReport says how a child ended.
type exitReport struct {
	Status        string   // "exit status 3", "signal: killed"
	Code          int      // the exit code, -1 if a signal ended it
	Stderr        []string // the last lines that are not blank, long ones cut
	StderrDropped int64    // bytes of stderr that the writer did not take in time
}

// exit returns the report. It may be called once exited is closed.
func (p *process) exit() exitReport {
	<-p.exited
	return p.report
}
