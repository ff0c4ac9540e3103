package mirror

import "testing"

func TestValuesOfHeadersAreEncodedWhereTheyMustBe(t *testing.T) {
	for value, want := range map[string]string{
		"us-west1":            "us-west1",
		"us west 1":           "us west 1",
		"":                    "",
		"Hello, 世界":           "=?base64?SGVsbG8sIOS4lueVjA==?=",
		" padded ":            "=?base64?IHBhZGRlZCA=?=",
		"line1\nline2":        "=?base64?bGluZTEKbGluZTI=?=",
		"a\tb":                "=?base64?YQli?=",
		"\x7f":                "=?base64?fw==?=",
		"=?base64?literal?=":  "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
		"=?base64?unfinished": "=?base64?unfinished",
	} {
		if got := Encode(value); got != want {
			t.Errorf("%q is written %q, want %q", value, got, want)
		}
		if got, ok := Decode(" " + want + "\t"); !ok || got != value {
			t.Errorf("%q with white space around is read %q, %v", want, got, ok)
		}
	}
}

func TestValuesThatShouldHaveBeenEncodedAreRefused(t *testing.T) {
	for _, value := range []string{"Hello, 世界", "a\x01b", "=?base64?x?=", "=?base64?/w==?=", "\x7f"} {
		if got, ok := Decode(value); ok {
			t.Errorf("%q was read as %q", value, got)
		}
	}
}
