//go:build unix

package runner

import (
	"encoding/json"
	"errors"
	"time"
)

// notes passes on what is for standard error, until the session is over.
func (f *front) notes() error {
	stderr, written := f.stderr()
	defer func() { close(stderr); awaitFor(written, lastWords) }()
	for lines := json.NewDecoder(f.fromSide); ; {
		var n note
		err := lines.Decode(&n)
		switch {
		case err != nil:
			return errSideLost
		case n.Error != "":
			return errors.New(n.Error)
		case n.End:
			return nil
		}
		select {
		case stderr <- n.Stderr:
		default: // the host does not read it
		}
	}
}

// keptNotes are how many writes to standard error may wait for the host.
const keptNotes = 256

// stderr takes what is for standard error, and never waits; the goroutine that
// writes it may stay until the process ends.
func (f *front) stderr() (texts chan []byte, written chan struct{}) {
	texts, written = make(chan []byte, keptNotes), make(chan struct{})
	go func() {
		defer close(written)
		for text := range texts {
			_, _ = f.opts.Stderr.Write(text)
		}
	}()
	return texts, written
}

// lastWords is how long a host may take to read the end of standard error.
const lastWords = 250 * time.Millisecond
