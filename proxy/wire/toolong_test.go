package wire

import (
	"errors"
	"strings"
	"testing"
)

// readTooLong sends the text through a reader whose limit it exceeds.
func readTooLong(t *testing.T, text string) *TooLongError {
	t.Helper()
	_, err := NewLineReader(strings.NewReader(text), 16<<10).Next()
	var tooLong *TooLongError
	if !errors.As(err, &tooLong) {
		t.Fatalf("Next() of %.60s…: %v", text, err)
	}
	return tooLong
}

func TestTooLongNamesTheRightRequest(t *testing.T) {
	big := strings.Repeat("x", 100<<10)
	nested := `{"id":7,"a":[{"id":8},"` + big + `",{"id":9}],"id":10}`
	tests := []struct{ name, text, id, method string }{
		{"id first", `{"jsonrpc":"2.0","id":5,"result":"` + big + `"}`, "5", ""},
		{"string id first", `{"jsonrpc":"2.0","id":"a\"b","result":"` + big + `"}`, `"a\"b"`, ""},
		{"request", `{"jsonrpc":"2.0","id":5,"method":"tools\/call","params":{"a":"` + big + `"}}`, "5", "tools/call"},
		{"notification", `{"jsonrpc":"2.0","method":"n","params":{"id":1,"a":"` + big + `"}}`, "", "n"},
		{"id last", `{"jsonrpc":"2.0","result":"` + big + `","id":5}`, "5", ""},
		{"id last, white space", `{"jsonrpc":"2.0","result":"` + big + "\" ,\t\"id\" : 5 } ", "5", ""},
		{"id before a short rest", `{"result":"` + big + `","id":"a","jsonrpc":"2.0","x":{"id":9}}`, `"a"`, ""},
		{"id in the middle", `{"a":"` + big + `","id":5,"b":"` + big + `"}`, "", ""},
		{"id escaped, first", `{"\u0069d":5,"result":"` + big + `"}`, "5", ""},
		{"nested ids, id first", `{"id":5,"result":` + nested + `}`, "5", ""},
		{"nested ids, id last", `{"result":` + nested + `,"id":5}`, "5", ""},
		{"nested ids alone", `{"result":` + nested + `}`, "", ""},
		{"nested id in front", `{"x":{"id":7},"result":"` + big + `"}`, "", ""},
		{"nested id at the end", `{"result":"` + big + `","x":{"id":7}}`, "", ""},
		{"nested id in an array at the end", `{"result":["` + big + `",{"id":7}]}`, "", ""},
		{"id in a string", `{"result":"` + big + `{\"id\":7}"}`, "", ""},
		{"a name that ends like id", `{"result":"` + big + `","\"id":7}`, "", ""},
		{"id as a value", `{"result":"` + big + `","x":"id"}`, "", ""},
		{"null id", `{"id":null,"result":"` + big + `"}`, "", ""},
		{"null id last", `{"result":"` + big + `","id":null}`, "", ""},
		{"an object as id", `{"id":{"id":5},"result":"` + big + `"}`, "", ""},
		{"a batch", `[{"id":5,"result":"` + big + `"}]`, "", ""},
		{"a batch, id last", `[{"result":"` + big + `","id":5}]`, "", ""},
		{"a line of a log", `sent {"result":"` + big + `","id":5}`, "", ""},
		{"no JSON", big, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := readTooLong(t, tt.text+"\r\n")
			if got := e.ID(); string(got) != tt.id || (got == nil) != (tt.id == "") {
				t.Errorf("ID() = %q, want %q", got, tt.id)
			}
			if e.Method() != tt.method || e.Size != int64(len(tt.text)) {
				t.Errorf("Method() = %q, Size = %d of %d", e.Method(), e.Size, len(tt.text))
			}
		})
	}
}

// Wherever the ends are cut off, a part of an id is not taken for the whole.
func TestTooLongTakesNoPartOfAnID(t *testing.T) {
	big := strings.Repeat("x", 20<<10)
	for _, id := range []string{"1234567890", `"abcdefghi"`, "12345.678e9"} {
		named := map[bool]int{}
		for pad := keptOfLong - 60; pad < keptOfLong+10; pad++ {
			filler := big[:pad]
			for _, text := range []string{
				`{"x":"` + filler + `","id":` + id + `,"y":{"id":1},"result":"` + big + `"}`,
				`{"result":"` + big + `","id":` + id + `,"y":{"id":1},"x":"` + filler + `"}`,
			} {
				got := string(readTooLong(t, text+"\n").ID())
				named[got == id]++
				if got != id && got != "" {
					t.Fatalf("with %d bytes beside it, %s became %s", pad, id, got)
				}
			}
		}
		if named[true] == 0 || named[false] == 0 {
			t.Errorf("%s: the cut fell on one side only: %v", id, named)
		}
	}
}

// The input ended amid the message, behind an object of which it is only
// luck that it reads like the end of the whole.
func TestTooLongIgnoresTheEndOfACutMessage(t *testing.T) {
	for _, size := range []int{20 << 10, 200 << 10} {
		text := `{"result":["` + strings.Repeat("x", size) + `",{"id":7}`
		if got := readTooLong(t, text).ID(); got != nil {
			t.Errorf("ID() = %s", got)
		}
	}
	head := `{"id":5,"result":["` + strings.Repeat("x", 200<<10)
	if got := readTooLong(t, head).ID(); string(got) != "5" {
		t.Errorf("ID() = %s, want 5", got)
	}
}

func TestTooLongSaysBothSizes(t *testing.T) {
	got := readTooLong(t, strings.Repeat("x", 20000)).Error()
	if want := "a message of 20000 bytes is over the limit of 16384 bytes"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
