package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// grammar holds texts on both sides of every rule of RFC 8259. Which side a
// text is on is for encoding/json to say.
var grammar = []string{
	"", " ", "\n", "\ufeff{}", "{", "}", "{}", " { } ", "{}{}", "{} x", "{},", "{\"a\"}", `{"a":}`, `{"a":1,}`, `{,"a":1}`, `{"a":1 "b":2}`, `{"a":1;"b":2}`,
	`{a:1}`, `{'a':1}`, `{1:1}`, `{"a":1}`, `{"a":1,"a":2}`, `{"a" : 1 , "b" : [ ] }`, `{"a":{"b":{}}}`, `{"a":{"b":{}}`, "{\"a\":\u00a01}", "{\"a\":\v1}", "{\"a\":1}\x00",
	"[", "]", "[]", "[ ]", "[,]", "[1,]", "[1 2]", "[1,2]", "[[],[[]]]", "[[]", "[1}", `{"a":1]`,
	"0", "-0", "-", "+1", "01", "-01", "1.", ".5", "1.5", "1.5.5", "1e", "1e+", "1e5", "1E-5", "1e5.5", "0e0", "00", "0x1", "1_000", "NaN", "Infinity", "-Infinity", strings.Repeat("9", 999),
	"true", "True", "tru", "truetrue", "false", "fals", "null", "nul", "nullx", "[null]", "[nulll]",
	`"`, `""`, `"a`, `"a""`, `"\"`, `"\""`, `"\\"`, `"\\\"`, `"\/\b\f\n\r\t"`, `"\a"`, `"\x41"`, `"\u"`, `"\u00e"`, `"\u00e9"`, `"\u00E9"`, `"\u00g9"`, `"\ud800"`, `"\udc00\ud800"`, `"\u00`, `"\`,
	"\"\t\"", "\"\n\"", "\"\x00\"", "\"\x1f\"", "\"\x20\x7f\"", "\"é\u2028\u2029\u0085\"", "\"\xff\xfe\"", "\"\xed\xa0\x80\"", "\"\x80",
}

func TestValidIsTheGrammarOfJSON(t *testing.T) {
	for _, text := range grammar {
		for _, text := range []string{text, "[" + text + "]", `{"a":` + text + `}`, `[0,` + text + `,""]`} {
			if got, want := Valid([]byte(text)), json.Valid([]byte(text)); got != want {
				t.Errorf("Valid(%q) = %t, want %t", text, got, want)
			}
		}
	}
}

func TestParseAcceptsNoOtherGrammar(t *testing.T) {
	message := `{"jsonrpc":"2.0","id":1,"method":"m"}`
	texts := []string{message + "x", message + message, message[:len(message)-1], message + "\r", message + "\x00", "\ufeff" + message, "> " + message}
	for _, text := range append(texts, grammar...) {
		_, err := Parse([]byte(text))
		if got, want := errors.Is(err, ErrNotJSON), !json.Valid([]byte(text)); got != want {
			t.Errorf("Parse(%q) = %v, but encoding/json's verdict is %t", text, err, !want)
		}
	}
}

// Every byte in every place of a string, since strings are read in steps of
// eight bytes.
func TestNoByteHidesInAString(t *testing.T) {
	for length := range 20 {
		for at := range length {
			for c := range 256 {
				text := []byte(`"` + strings.Repeat("\xff", length) + `"`)
				text[1+at] = byte(c)
				if got, want := Valid(text), json.Valid(text); got != want {
					t.Fatalf("Valid(%q) = %t, want %t", text, got, want)
				}
			}
		}
	}
}

func TestNestingStopsWhereEncodingJSONStops(t *testing.T) {
	for _, form := range []struct{ open, core, shut string }{{"[", "", "]"}, {"[", "0", "]"}, {`{"a":`, "{}", "}"}, {`{"a":[`, `""`, "]}"}} {
		for _, depth := range []int{4999, 5000, 5001, 9998, 9999, 10000, 10001} {
			value := strings.Repeat(form.open, depth) + form.core + strings.Repeat(form.shut, depth)
			message := []byte(`{"jsonrpc":"2.0","id":1,"result":` + value + `}`)
			if got, want := Valid([]byte(value)), json.Valid([]byte(value)); got != want {
				t.Errorf("Valid of %d × %s%s: %t, want %t", depth, form.open, form.core, got, want)
			}
			if _, err := Parse(message); (err == nil) != json.Valid(message) {
				t.Errorf("Parse of %d × %s%s: %v", depth, form.open, form.core, err)
			}
		}
	}
}

func TestHostileNestingDoesNotExhaustTheStack(t *testing.T) {
	for _, open := range []string{"[", `{"a":`, `{"a":[`} {
		if _, err := Parse([]byte(strings.Repeat(open, 4<<20/len(open)))); !errors.Is(err, ErrNotJSON) {
			t.Errorf("Parse(%s…) = %v", open, err)
		}
	}
}
