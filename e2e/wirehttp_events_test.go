package e2e

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// event is one of a stream of server-sent events.
type event struct{ id, name, data string }

// eventReader is strict: what a server of ours never writes is an error.
type eventReader struct {
	in       *bufio.Reader
	comments int
	retry    string
}

func newEventReader(r io.Reader) *eventReader {
	return &eventReader{in: bufio.NewReaderSize(r, 64<<10)}
}

// next returns io.EOF at the end of the stream, between two events.
func (r *eventReader) next() (event, error) {
	var e event
	for began := false; ; began = true {
		line, err := r.in.ReadString('\n')
		line = strings.TrimRight(line, "\r\n")
		switch {
		case err == io.EOF && line == "" && !began:
			return e, io.EOF
		case err == io.EOF:
			return e, io.ErrUnexpectedEOF
		case err != nil:
			return e, err
		case line == "" && e == event{}:
			began = false // behind a comment
		case line == "":
			return e, nil
		default:
			if err := r.field(&e, line); err != nil {
				return e, err
			}
		}
	}
}

func (r *eventReader) field(e *event, line string) error {
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimPrefix(value, " ")
	switch name {
	case "":
		r.comments++
	case "id":
		e.id = value
	case "event":
		e.name = value
	case "retry":
		r.retry = value
	case "data":
		if e.data != "" {
			return fmt.Errorf("a message on two lines: %s", cut(line))
		}
		e.data = value
	default:
		return fmt.Errorf("no line of an event: %s", cut(line))
	}
	return nil
}

// end insists that nothing comes any more.
func (r *eventReader) end() error {
	e, err := r.next()
	if err != io.EOF {
		return fmt.Errorf("behind the answer came %+v, %v", e, err)
	}
	return nil
}
