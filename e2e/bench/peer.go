package main

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// peer is a process. As a host speaks to it, over its standard input and output,
// nothing in between costs time.
type peer struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr string // a file
	pids   []int  // whose processor time is measured
	serves bool   // over HTTP: the end of its input means nothing to it
	busy   bool   // with tasks that never end, for which it would wait
	buf    []byte
	exited chan struct{}
}

const (
	// peerLimit ends what hangs: whoever waits for it reads its end.
	peerLimit = 10 * time.Minute
	endGrace  = 5 * time.Second
)

func (l *lab) start(argv []string) *peer {
	p := &peer{cmd: exec.Command(argv[0], argv[1:]...), stderr: l.path("stderr"), exited: make(chan struct{})}
	stderr := must(os.Create(p.stderr))
	defer stderr.Close()
	p.cmd.Stderr = stderr
	p.in = must(p.cmd.StdinPipe())
	out, theirs, err := os.Pipe() // of our own: Wait closes those of exec
	check(err)
	defer theirs.Close()
	p.cmd.Stdout, p.out = theirs, bufio.NewReaderSize(out, 64<<10)
	check(p.cmd.Start())
	p.pids = []int{p.cmd.Process.Pid}
	limit := time.AfterFunc(cmp.Or(l.limit, peerLimit), p.kill)
	go func() { _ = p.cmd.Wait(); close(p.exited) }()
	l.ends = append(l.ends, func() { limit.Stop(); p.stop(); _ = out.Close() })
	return p
}

func (p *peer) pid() int { return p.cmd.Process.Pid }

func (p *peer) kill() {
	_ = p.cmd.Process.Kill()
	<-p.exited
}

// stop closes the input, and ends a process that does not mind.
func (p *peer) stop() {
	_ = p.in.Close()
	if p.busy {
		p.kill()
		return
	}
	if !p.serves && p.wait(endGrace) {
		return
	}
	_ = p.cmd.Process.Signal(os.Interrupt)
	if !p.wait(endGrace) {
		p.kill()
	}
}

func (p *peer) wait(limit time.Duration) bool {
	select {
	case <-p.exited:
		return true
	case <-time.After(limit):
		return false
	}
}

func (p *peer) send(line []byte) {
	if _, err := p.in.Write(line); err != nil {
		p.fail("does not take messages", err)
	}
}

// receive returns the next line, or of a long one its beginning. It is good
// until the next call.
func (p *peer) receive() []byte {
	line, err := p.out.ReadSlice('\n')
	if err == nil {
		return line
	}
	p.buf = append(p.buf[:0], line[:min(len(line), 4096)]...)
	for err == bufio.ErrBufferFull {
		_, err = p.out.ReadSlice('\n')
	}
	if err != nil {
		p.fail("says no more", err)
	}
	return p.buf
}

// result receives a line and checks that it is a result.
func (p *peer) result() []byte {
	line := p.receive()
	if !bytes.Contains(line, []byte(`"result":`)) {
		p.fail("answered "+string(line), nil)
	}
	return line
}

func (p *peer) ask(line []byte) []byte {
	p.send(line)
	return p.result()
}

func (p *peer) fail(what string, err error) {
	text, _ := os.ReadFile(p.stderr)
	check(fmt.Errorf("%q %s (%v); its stderr ends: %s", p.cmd.Args, what, err, text[max(0, len(text)-1000):]))
}
