// Durable answers each request on stdin with a handle, once the request is in a log:
// the least that takes a call and does not lose it. It reads and writes messages by
// package wire, as the proxy does, has no server behind it, and gives nothing back.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/bench/commitlog"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func main() {
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
	for n := 0; ; n++ {
		line, err := in.Next()
		if err != nil {
			break
		}
		m, err := wire.Parse(line)
		if err != nil {
			return err
		}
		work.Go(func() { _ = out.WriteMessage(answer(log, m, n)) })
	}
	work.Wait()
	return out.Close()
}

func answer(log *commitlog.Log, m wire.Message, n int) wire.Message {
	if err := log.Append(m.Params()); err != nil {
		return wire.Failure(m.ID(), wire.Errorf(wire.CodeInternal, "%v", err))
	}
	return wire.Result(m.ID(), []byte(`{"resultType":"task","taskId":"task-`+strconv.Itoa(n)+`","status":"working"}`))
}
