package upstream

import (
	"bytes"
	"context"
	"errors"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// processLink carries messages as lines to and from a child process (revision
// 2026-07-28, stdio). Its one goroutine reads, and ends when the server's
// output does.
type processLink struct {
	conn *conn
	proc *process
	out  *wire.LineWriter
}

// startProcessConn makes one run of the server's command.
func (c *Client) startProcessConn() (*conn, error) {
	p, err := startProcess(c.opts.Command, processOptions{
		Log: c.opts.Log, Stderr: c.opts.Stderr, CloseGrace: c.opts.CloseGrace, TermGrace: c.opts.TermGrace,
	})
	if err != nil {
		c.noteEarlyEnd()
		return nil, errStart(err)
	}
	k := c.newConn()
	l := &processLink{conn: k, proc: p, out: wire.NewLineWriter(p.stdin)}
	k.link, k.pid = l, p.pid
	go l.read()
	return k, nil
}

// A server that does not read holds up nobody but those who want something of
// it: OfferMessage does not wait.
func (l *processLink) request(_ *Request, m wire.Message) error  { return l.out.OfferMessage(m) }
func (l *processLink) notify(m wire.Message) error               { return l.out.OfferMessage(m) }
func (l *processLink) respond(_ *question, m wire.Message) error { return l.out.OfferMessage(m) }
func (l *processLink) awaitRoom()                                {}

func (l *processLink) cancel(_ *Request, notice wire.Message) error {
	if notice.Raw() == nil {
		return nil
	}
	return l.out.OfferMessage(notice)
}

func (l *processLink) answered(_ *Request, m wire.Message) wire.Message { return m }

func (l *processLink) hold(more bool) { l.out.Hold(more) }

func (l *processLink) stop(ctx context.Context) {
	l.proc.stop(ctx)
	<-l.conn.done
}

// read takes the server's messages in turn until its output ends, and then
// answers whatever is still open.
func (l *processLink) read() {
	k := l.conn
	defer close(k.done)
	lines := wire.NewLineReader(l.proc.stdout, k.client.opts.MessageBytes)
	if more := k.client.opts.Handler.More; more != nil {
		lines.OnMore(more)
	}
	for {
		line, err := lines.Next()
		var tooLong *wire.TooLongError
		switch {
		case err == nil:
			k.text(nil, bytes.TrimPrefix(line, bom))
		case errors.As(err, &tooLong):
			k.tooLong(nil, tooLong)
		default:
			l.end()
			return
		}
	}
}

// bom is what the libraries of .NET write in front of the first line (RFC 8259,
// 8.1, lets a reader ignore it).
var bom = []byte("\xef\xbb\xbf")

// end runs when the server's output has ended. The process may still be there,
// deaf and dumb: it is stopped, and its descendants with it.
func (l *processLink) end() {
	k := l.conn
	k.client.dismiss(k)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		l.proc.stop(context.Background())
	}()
	report := l.proc.exit() // before what it left behind is gone too
	k.log.Info().Str("status", report.Status).Int64("skipped_lines", k.skipped.Load()).Msg("upstream server ended")
	k.over(k.client.endOf(report))
	<-stopped
	l.out.Close()
}

func (c *Client) endOf(report exitReport) *Error {
	if c.ctx.Err() != nil {
		return errClosed().with(Unknown)
	}
	return errExited(report).with(Unknown)
}
