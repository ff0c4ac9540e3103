package wire

import (
	"fmt"
	"strings"
	"testing"
)

// content is what most results consist of: text blocks with some escapes.
func content(size int) string {
	block := `{"type":"text","text":"proxy/run.go:41: \"task\" ended early\n\tgoroutine 7 [chan receive]: see the log for what came first"},`
	return `{"content":[` + strings.TrimSuffix(strings.Repeat(block, max(1, size/len(block))), ",") + `]}`
}

// blob is a result that is one long string without escapes.
func blob(size int) string {
	return `{"content":[{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("iVBORw0KGgoA", size/12) + `"}]}`
}

func benchmarkMessages(b *testing.B, run func(b *testing.B, text []byte)) {
	shapes := []struct {
		name, form string
		result     func(size int) string
	}{
		{"id-first", `{"jsonrpc":"2.0","id":1234,"result":%s}`, content},
		{"id-last", `{"result":%s,"jsonrpc":"2.0","id":1234}`, content},
		{"blob", `{"jsonrpc":"2.0","id":1234,"result":%s}`, blob},
	}
	for _, shape := range shapes {
		for _, size := range []int{200, 4 << 10, 1 << 20} {
			text := fmt.Appendf(nil, shape.form, shape.result(size))
			b.Run(fmt.Sprintf("%s/%d", shape.name, size), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				run(b, text)
			})
		}
	}
}

func BenchmarkParse(b *testing.B) {
	benchmarkMessages(b, func(b *testing.B, text []byte) {
		for b.Loop() {
			if _, err := Parse(text); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkRewriteID(b *testing.B) {
	benchmarkMessages(b, func(b *testing.B, text []byte) {
		m, err := Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		id := []byte("987654321")
		for b.Loop() {
			m.Rewrite(Changes{ID: id})
		}
	})
}

var benchMeta = []byte(`{"progressToken":17,"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"host","version":"1.4.0"},` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"traceparent":"00-4bf92f35-00f067aa-01"}`)

func benchmarkMeta(b *testing.B, edit func(key string)) {
	for _, key := range []string{"progressToken", "vendor/absent"} {
		b.Run(key, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				edit(key)
			}
		})
	}
}

func BenchmarkSetMeta(b *testing.B) {
	benchmarkMeta(b, func(key string) { Set(benchMeta, key, []byte("18")) })
}

func BenchmarkDeleteMeta(b *testing.B) {
	benchmarkMeta(b, func(key string) { Delete(benchMeta, key) })
}
