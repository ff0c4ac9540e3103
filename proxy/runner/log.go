package runner

import (
	"io"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/rs/zerolog/diode"
)

// keptLines is how many log lines may wait for a reader.
const keptLines = 1000

// NewLog writes to file: for people on a terminal, JSON lines elsewhere. It
// never waits: a host that does not read our standard error loses lines of the
// log, not answers. An unknown level means info. Flush gives what is left a
// moment to get out; call it last.
func NewLog(file *os.File, level string) (log zerolog.Logger, flush func()) {
	var out io.Writer = file
	if info, err := file.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		out = zerolog.ConsoleWriter{Out: file, TimeFormat: time.TimeOnly}
	}
	return NewLogOn(out, level)
}

// NewLogOn is NewLog for what is no terminal.
func NewLogOn(out io.Writer, level string) (log zerolog.Logger, flush func()) {
	least, err := zerolog.ParseLevel(level)
	if err != nil {
		least = zerolog.InfoLevel
	}
	lines := diode.NewWriter(struct{ io.Writer }{out}, keptLines, 0, nil) // which would close what can be closed
	return zerolog.New(lines).Level(least).With().Timestamp().Logger(), func() { closeSoon(lines) }
}

// closeSoon leaves the goroutine that writes to the end of the process if
// nobody reads.
func closeSoon(lines io.Closer) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = lines.Close() // it has nothing to report
	}()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
}
