package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// besides are results that say something beside what is too large.
var besides = map[string]struct{ result, want, lacks string }{
	"_meta first, of the stateless era": {
		`{"_meta":{"v/x": 1.0,"io.modelcontextprotocol/serverInfo":{"name":"s"}},"resultType":"complete",` + tooLarge + `}`,
		`"_meta":{"v/x": 1.0,"io.modelcontextprotocol/serverInfo":{"name":"s"}},"resultType":"complete"}`, ""},
	"an error with _meta":    {`{` + tooLarge + `,"isError":true,"_meta":{"v/x":9007199254740993}}`, `"_meta":{"v/x":9007199254740993},"isError":true}`, ""},
	"no error":               {`{"isError":true,"isError":false,` + tooLarge + `}`, `"isError":false}`, ""},
	"isError is no boolean":  {`{` + tooLarge + `,"isError":"` + strings.Repeat("e", most) + `","_meta":{"a":1}}`, `"_meta":{"a":1}}`, ""},
	"what no revision knows": {`{"x-é":null,` + tooLarge + `,"_meta":{"a":1},"_meta":{"b":2}}`, `"x-é":null,"_meta":{"b":2}}`, ""},
	"_meta too large":        {`{` + tooLarge + `,"isError":true,"_meta":{"v":"` + strings.Repeat("m", most) + `"}}`, `"isError":true}`, "Left out beside the content: _meta."},
	"both too large": {
		`{` + tooLarge + `,"structuredContent":{"s":"` + strings.Repeat("s", most) + `"},"isError":false,"_meta":{"v":"` + strings.Repeat("m", most+1) + `"}}`,
		`"isError":true}`, "Left out beside the content: structuredContent, _meta."},
	"too large together": {
		`{"_meta":{"v":"` + strings.Repeat("m", most/3) + `"},"structuredContent":{"s":"` + strings.Repeat("s", most/4) + `"},` + tooLarge + `}`,
		`"structuredContent":{"s":"` + strings.Repeat("s", most/4) + `"}}`, "Left out beside the content: _meta."},
	"too large together, the other way about": {
		`{"structuredContent":{"s":"` + strings.Repeat("s", most/3) + `"},"x":{},"_meta":{"v":"` + strings.Repeat("m", most/4) + `"},` + tooLarge + `}`,
		`"structuredContent":{"s":"` + strings.Repeat("s", most/3) + `"},"x":{}}`, "Left out beside the content: _meta."},
	"an error behind many members": {
		`{` + manyNames(64) + tooLarge + `,"isError":true}`, manyNames(64) + `"isError":true}`, ""},
	"structured behind many members": {
		`{` + manyNames(64) + tooLarge + `,"structuredContent":{"n":1}}`, manyNames(64) + `"structuredContent":{"n":1}}`, ""},
	"a thousand members": {
		`{` + strings.Repeat(`"x":1,`, 9) + manyNames(1000) + `"_meta":{"a":1},` + tooLarge + `}`, `"x":1,` + manyNames(62) + `"n62":62}`, "Left out beside the content: more than 64 members."},
}

var tooLarge = `"content":[{"type":"text","text":"` + strings.Repeat("x", most) + `"}]`

func manyNames(n int) (text string) {
	for i := range n {
		text += fmt.Sprintf(`"n%d":%d,`, i, i)
	}
	return text
}

func TestWhatStandsBesideALargeContentStays(t *testing.T) {
	for _, large := range []LargeResults{Truncate, Spill} {
		for name, test := range besides {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Stateless, Policy{Task: Always})
				got := r.endsWith(test.result, large)
				text := string(wire.Get(got.Outcome, "content"))
				switch {
				case !strings.HasSuffix(string(got.Outcome), "],"+test.want):
					t.Errorf("%s %s: %s", large, name, got.Outcome)
				case !strings.Contains(text, test.lacks) || (test.lacks == "") == strings.Contains(text, "Left out"):
					t.Errorf("%s %s: it says %.2000s", large, name, text)
				case got.IsError != strings.Contains(test.want, `"isError":true`):
					t.Errorf("%s %s: isError is %v", large, name, got.IsError)
				case large == Truncate && len(got.Outcome) > most:
					t.Errorf("%s: %d bytes", name, len(got.Outcome))
				}
			})
		}
	}
}

// A name of control characters takes six times its length in the note.
func TestATruncatedResultNeverExceedsTheSmallestLimit(t *testing.T) {
	const least = 1 << 10
	for name, result := range map[string]string{
		"names of escapes":   `"_meta":{"v":"` + strings.Repeat("m", 490) + `"},"` + strings.Repeat(`\u0001`, 300) + `":"` + strings.Repeat("x", least) + `"`,
		"just no room":       `"_meta":{"v":"` + strings.Repeat("m", 490) + `"},"isError":false`,
		"nothing but a name": `"` + strings.Repeat(`\"`, 2000) + `":1,"structuredContent":{"s":"` + strings.Repeat("s", least) + `"}`,
	} {
		o := truncated(taskstate.Outcome{Status: taskstate.Completed, Payload: []byte(`{` + tooLarge + `,` + result + `}`)}, least, whyLarge(least, least))
		if len(o.Payload) > least || !wire.Valid(o.Payload) {
			t.Errorf("%s: %d bytes: %s", name, len(o.Payload), o.Payload)
		}
	}
}
