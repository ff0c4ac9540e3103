package wire

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

// Long parts of a message are written from where they are, short ones are copied
// together; a pipe takes some of a line at a time.
func TestMessagesAreWrittenAsTheirText(t *testing.T) {
	lw, r := pipeWriter(t)
	var want strings.Builder
	for i, size := range []int{0, 10, longPiece - 40, 3, longPiece + 1, 3 * longPiece, 0, 1 << 20, 1, maxSpare + 1, 5} {
		long := strings.Repeat(string(rune('a'+i)), size)
		for _, form := range []string{`{"jsonrpc":"2.0","id":1,"method":"m","params":{"x":%q}}`, `{"params":[%q],"id":"2","method":"m","jsonrpc":"2.0"}`, "{\n\"jsonrpc\":\"2.0\",\"id\":1,\"result\":[%q,\n1]}"} {
			m := mustParse(t, fmt.Sprintf(form, long))
			for _, m := range []Message{m, m.With(Changes{ID: []byte("77")}), m.With(Changes{ID: []byte("7")}).With(Changes{Params: fmt.Appendf(nil, "{%q:1}", long)})} {
				if err := lw.OfferMessage(m); err != nil {
					t.Fatal(err)
				}
				want.WriteString(strings.ReplaceAll(string(m.Raw()), "\n", " ") + "\n")
			}
		}
	}
	got := make([]byte, want.Len())
	if _, err := io.ReadFull(r, got); err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Error("what was written is not the text of the messages")
	}
}

func TestChangedMessageCanBeChangedAgain(t *testing.T) {
	m := mustParse(t, `{"jsonrpc":"2.0","method":"m","id":1}`).With(Changes{Params: []byte("{}")})
	_ = m.Raw()
	m = m.With(Changes{ID: []byte("2")}).With(Changes{ID: []byte(`"c"`), Result: []byte("{}")})
	want := parts{"request", `"c"`, "m", "{}", "", ""}
	if got := `{"jsonrpc":"2.0","method":"m","id":"c","params":{}}`; string(m.Raw()) != got || partsOf(m) != want {
		t.Errorf("got %s, %v", m.Raw(), partsOf(m))
	}
}
