// Echo answers every request with a small fixed result, as fast as it can. It
// is the upstream of the benchmarks.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
)

func main() {
	in, out := bufio.NewReaderSize(os.Stdin, 64<<10), bufio.NewWriterSize(os.Stdout, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		answer(out, line)
		if in.Buffered() == 0 {
			_ = out.Flush()
		}
	}
}

func answer(out *bufio.Writer, line []byte) {
	id := requestID(line)
	if id == nil {
		return
	}
	_, _ = out.WriteString(`{"jsonrpc":"2.0","id":`)
	_, _ = out.Write(id)
	switch {
	case bytes.Contains(line, []byte(`"server/discover"`)):
		_, _ = out.WriteString(`,"error":{"code":-32601,"message":"Method not found"}}` + "\n")
	case bytes.Contains(line, []byte(`"initialize"`)):
		_, _ = out.WriteString(`,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1.0.0"}}}` + "\n")
	default:
		_, _ = out.WriteString(`,"result":{"content":[{"type":"text","text":"ok"}]}}` + "\n")
	}
}

// requestID finds the id quickly where it usually stands, surely otherwise.
func requestID(line []byte) []byte {
	const head = `{"jsonrpc":"2.0","id":`
	if rest, ok := bytes.CutPrefix(line, []byte(head)); ok {
		if end := bytes.IndexByte(rest, ','); end > 0 {
			return rest[:end]
		}
	}
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal(line, &m)
	return m.ID
}
