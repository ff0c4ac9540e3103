// Copier starts the command behind "--" and copies bytes both ways, and those
// of stderr. No proxy can be faster; the benchmarks measure against it. It is
// also a host that can be killed: all pipes of the command end with it.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
)

func main() {
	dashes := slices.Index(os.Args, "--")
	if dashes < 0 { // it would start itself, without end
		fmt.Fprintln(os.Stderr, "copier: want -- COMMAND [ARG...]")
		os.Exit(2)
	}
	if err := run(os.Args[dashes+1:]); err != nil {
		fmt.Fprintln(os.Stderr, "copier:", err)
		os.Exit(1)
	}
}

// run uses pipes of its own: handing stdin and stdout to the child would copy nothing.
func run(command []string) error {
	child := exec.Command(command[0], command[1:]...)
	child.Stderr = struct{ io.Writer }{os.Stderr} // through a pipe
	stdin, err := child.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	go func() {
		_, _ = io.Copy(stdin, os.Stdin)
		_ = stdin.Close()
	}()
	if _, err := io.Copy(os.Stdout, stdout); err != nil {
		return err
	}
	return child.Wait()
}
