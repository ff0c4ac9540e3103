package host

import (
	"runtime"
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// A server may ask much, and the host may never answer: what is kept of an open
// question is its id.
func TestOpenQuestionsKeepNoMessages(t *testing.T) {
	const each = 1 << 20
	q, nowhere := newQuestions(func(wire.Message) {}), func(wire.Message) {}
	before := heap()
	for range 200 {
		text := `{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"_meta":{"` + metaRelatedTask + `":{"taskId":"t"}},"x":"` + strings.Repeat("x", each) + `"}}`
		m, err := wire.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		q.ask(m, nowhere, nowhere)
	}
	if more := int64(heap()) - int64(before); more > 20*each {
		t.Errorf("%d questions keep %d bytes", len(q.open), more)
	}
	runtime.KeepAlive(q)
}

func heap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}
