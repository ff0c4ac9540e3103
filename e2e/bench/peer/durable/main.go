// Durable answers each request on stdin with a handle, once the request is in a plain
// append log: little else takes a call and does not lose it. It reads and writes messages
// by package wire, as the proxy does, has no server behind it, and gives nothing back.
// Its argument is the file.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/bench/commitlog"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: durable FILE")
		os.Exit(2)
	}
	log, err := commitlog.Create(os.Args[1])
	if err == nil {
		err = serve(log)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "durable:", err)
		os.Exit(1)
	}
}

func serve(log *commitlog.Log) error {
	in, out := wire.NewLineReader(os.Stdin, 32<<20), wire.NewLineWriter(os.Stdout)
	in.OnMore(out.Hold)
	var work sync.WaitGroup
	var err error
	for n := 0; err == nil; n++ {
		var line []byte
		var m wire.Message
		if line, err = in.Next(); err == nil {
			m, err = wire.Parse(line)
		}
		if err == nil {
			work.Go(func() { _ = out.WriteMessage(answer(log, m, n)) })
		}
	}
	work.Wait()
	if err == io.EOF {
		return out.Close()
	}
	return errors.Join(err, out.Close())
}

func answer(log *commitlog.Log, m wire.Message, n int) wire.Message {
	if err := log.Append(m.Params()); err != nil {
		return wire.Failure(m.ID(), wire.Errorf(wire.CodeInternal, "%v", err))
	}
	return wire.Result(m.ID(), []byte(`{"resultType":"task","taskId":"task-`+strconv.Itoa(n)+`","status":"working"}`))
}
