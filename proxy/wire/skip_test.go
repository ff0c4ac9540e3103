package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// Long strings are read in another way than short ones.
func TestNoByteHidesInALongString(t *testing.T) {
	const length = nearby + window + 2*farStep + 9
	for at := range length {
		for _, c := range []string{"\"", "\\", "\x00", "\n", "\x1f", " ", "\x7f", "\x80", "\xff", `\n`, `\"`, `\\`} {
			text := []byte(`"` + strings.Repeat("x", at) + c + strings.Repeat("\xff", length-at) + `"`)
			if got, want := Valid(text), json.Valid(text); got != want {
				t.Fatalf("with %q at %d: Valid = %t, want %t", c, at, got, want)
			}
		}
	}
}

// What is skipped ends where a scan ends that checks the grammar too.
func TestSkipEndsWhereScanEnds(t *testing.T) {
	for _, text := range grammar {
		for _, form := range []string{"%", `[%,"]"]`, `{"}":%}`, ` { "a" : % , "b\"" : [ ] } `, `["\\",%,"\\\""]`} {
			b := []byte(strings.Replace(form, "%", text, 1))
			if from := scanSpace(b, 0); Valid(b) {
				if got, want := skipValue(b, from), scanValue(b, from, 0); got != want {
					t.Errorf("%q is skipped up to %d, want %d", b, got, want)
				}
			}
		}
	}
}

// Whatever has not been checked must do no harm.
func TestSkipComesToAnEndInAnyText(t *testing.T) {
	for _, text := range grammar {
		for _, form := range []string{`{%`, `[%`, `{"a":%`, `{"a":1,%`, `{"a"%`, `[1,%`, `[[%`} {
			b := []byte(strings.Replace(form, "%", text, 1))
			for end := range len(b) + 1 {
				Get(b[:end], "a")
				for _, e := range Elements(b[:end]) {
					if !bytes.Contains(b, e) {
						t.Errorf("%q has no element %q", b[:end], e)
					}
				}
			}
		}
	}
}

func FuzzSkip(f *testing.F) {
	for _, text := range grammar {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		Get(text, "a")
		Elements(text)
		if from := scanSpace(text, 0); Valid(text) {
			if got, want := skipValue(text, from), scanValue(text, from, 0); got != want {
				t.Errorf("%q is skipped up to %d, want %d", text, got, want)
			}
		}
	})
}
