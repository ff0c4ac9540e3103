package mirror

import (
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// FuzzValue: what is encoded arrives as it was, in characters that a header may
// have; and what cannot be decoded does no harm.
func FuzzValue(f *testing.F) {
	for _, value := range []string{"", "us-west1", " padded ", "a\r\nX: y", "=?base64?literal?=", "=?base64?/w==?=", "\x7f", "日本", "\xff"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		written := Encode(value)
		if strings.ContainsFunc(written, unsafe) || strings.TrimSpace(written) != written {
			t.Errorf("%q is written %q", value, written)
		}
		if got, ok := Decode(written); utf8.ValidString(value) && (!ok || got != value) {
			t.Errorf("%q is written %q and read %q, %v", value, written, got, ok)
		}
		if got, ok := Decode(value); ok && !utf8.ValidString(got) {
			t.Errorf("%q is read as %q", value, got)
		}
	})
}

// FuzzParams: whatever a server says of its tools, the names of headers are
// names, and a header that the client side writes is one that the server side
// takes.
func FuzzParams(f *testing.F) {
	f.Add([]byte(annotated), []byte(`{"region":"ü","n":4.2e1,"deep":{"flag":true}}`))
	f.Add([]byte(`{"properties":{"a":{"type":"integer","x-mcp-header":"A"},"\u0061":{"type":"string","x-mcp\u002dheader":"a"}}}`), []byte(`{"a":1e99999999999}`))
	f.Add([]byte(`{"$defs":{"x":{"items":[{"x-mcp-header":"A\r\nB"}]}}}`), []byte(`[]`))
	f.Fuzz(func(t *testing.T, schema, arguments []byte) {
		if !wire.Valid(schema) || !wire.Valid(arguments) {
			return
		}
		params, err := Params(schema)
		if err != nil {
			return
		}
		if len(params) > maxParams {
			t.Errorf("%d headers", len(params))
		}
		for _, p := range params {
			checkParam(t, p, arguments)
		}
	})
}

func checkParam(t *testing.T, p Param, arguments []byte) {
	t.Helper()
	if name := strings.TrimPrefix(p.Header, HeaderPrefix); !IsToken(name) || http.CanonicalHeaderKey(p.Header) != p.Header {
		t.Errorf("header %q", p.Header)
	}
	value, ok := p.Value(arguments)
	if !ok || !utf8.ValidString(value) {
		return
	}
	got, decoded := Decode(Encode(value))
	if !decoded || !p.Matches(got, arguments) {
		t.Errorf("%s: %q arrives as %q (%v), and does not match", p.Header, value, got, decoded)
	}
}
