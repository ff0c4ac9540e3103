package rawmcp

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// lineWriter writes whole lines; any goroutine may use it.
type lineWriter struct {
	mu   sync.Mutex
	w    io.Writer
	end  string
	junk bool
}

func newLineWriter(w io.Writer, opts Options) *lineWriter {
	lw := &lineWriter{w: w, end: "\n", junk: opts.Junk}
	if opts.CRLF {
		lw.end = "\r\n"
	}
	return lw
}

func (w *lineWriter) write(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.junk {
		_, _ = io.WriteString(w.w, "[debug] this line is not a message {\n")
	}
	_, _ = io.WriteString(w.w, line+w.end)
}

// banner is what careless servers print before the first message.
func (w *lineWriter) banner() {
	const esc = "\x1b"
	_, _ = io.WriteString(w.w, "\n"+esc+"[1;32mFixture server"+esc+"[0m v1\n   \n\r\n{not json}\n[]\n42\n")
}

// record appends lines to a file; an empty path records nothing.
type record struct {
	mu   sync.Mutex
	file *os.File
}

func openRecord(path string) *record {
	if path == "" {
		return &record{}
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, "rawmcp:", err)
		os.Exit(1)
	}
	return &record{file: file}
}

// add: the line has reached the kernel when add returns, so it survives a kill.
func (r *record) add(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file != nil {
		_, _ = r.file.WriteString(line + "\n")
	}
}
