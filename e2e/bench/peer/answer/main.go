// Answer is the server behind everything that is measured, over stdio or, with
// -listen, over HTTP (revision 2025-11-25). It answers as fast as it can, each
// request with a result that is as long as the request.
//
//   - A call whose arguments hold "hold":true is answered when one comes whose
//     arguments hold "release":true.
//   - "bytes":N has the result, or those that are released, be N bytes longer.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"os"
)

func main() {
	address := flag.String("listen", "", "serve HTTP on this `address` instead of stdio")
	flag.Parse()
	var err error
	if *address != "" {
		err = serveHTTP(*address)
	} else {
		err = serveStdio()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "answer:", err)
		os.Exit(1)
	}
}

// serveStdio writes what it has answered whenever it would have to wait.
func serveStdio() error {
	in, out := bufio.NewReaderSize(os.Stdin, 64<<10), bufio.NewWriterSize(os.Stdout, 64<<10)
	a := answerer{out: out}
	for {
		line, err := next(in)
		if err != nil {
			return out.Flush()
		}
		a.answer(line)
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// next returns a line, short ones in the reader's own memory.
func next(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		return line, err
	}
	head := append([]byte(nil), line...)
	rest, err := in.ReadBytes('\n')
	return append(head, rest...), err
}
