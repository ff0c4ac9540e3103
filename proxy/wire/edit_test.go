package wire

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestGetTakesTheRightMember(t *testing.T) {
	tests := []struct{ name, obj, key, want string }{
		{"first", `{"a":1,"b":2,"c":3}`, "a", "1"},
		{"middle", `{"a":1,"b":[2],"c":3}`, "b", "[2]"},
		{"last", `{"a":1,"b":2,"c":"}"}`, "c", `"}"`},
		{"only", `{"a":null}`, "a", "null"},
		{"absent", `{"a":1}`, "b", ""},
		{"other case", `{"A":1}`, "a", ""},
		{"a prefix", `{"ab":1}`, "a", ""},
		{"the same name further down", `{"x":{"a":1},"y":[{"a":2}],"a":3}`, "a", "3"},
		{"only further down", `{"x":{"a":1},"y":"\"a\":1"}`, "a", ""},
		{"twice", `{"a":1,"b":2,"a":3}`, "a", "3"},
		{"twice, once escaped", `{"a":1,"\u0061":2}`, "a", "2"},
		{"escaped", `{"\u0061\/b":1}`, "a/b", "1"},
		{"an escape is not what it looks like", `{"\u0061":1}`, `\u0061`, ""},
		{"nor is an escaped newline", `{"\n":1}`, `\n`, ""},
		{"a backslash", `{"\\n":1}`, `\n`, "1"},
		{"a quote", `{"\"":1}`, `"`, "1"},
		{"empty name", `{"":1}`, "", "1"},
		{"white space", " { \"a\" :\t1 , \"b\":\r\n2 } ", "b", "2"},
		{"empty object", `{}`, "a", ""},
		{"an array", `[{"a":1}]`, "a", ""},
		{"a string", `"{\"a\":1}"`, "a", ""},
		{"nil", ``, "a", ""},
	}
	for _, tt := range tests {
		if got := Get([]byte(tt.obj), tt.key); string(got) != tt.want || (got == nil) != (tt.want == "") {
			t.Errorf("%s: Get(%s, %s) = %q, want %q", tt.name, tt.obj, tt.key, got, tt.want)
		}
		var got [2][]byte
		if GetEach([]byte(tt.obj), got[:], "elsewhere", tt.key); string(got[1]) != tt.want || (got[1] == nil) != (tt.want == "") || got[0] != nil {
			t.Errorf("%s: GetEach(%s, elsewhere, %s) = %q, want %q", tt.name, tt.obj, tt.key, got, tt.want)
		}
	}
}

func TestLookupFollowsThePathAndNoOther(t *testing.T) {
	obj := `{"b":{"c":0},"a":{"c":1,"b":{"c":{"d":2}}},"n":null}`
	tests := []struct {
		path []string
		want string
	}{
		{nil, obj}, {[]string{"a", "b", "c"}, `{"d":2}`}, {[]string{"a", "b", "c", "d"}, "2"}, {[]string{"b", "c"}, "0"}, {[]string{"n"}, "null"},
		{[]string{"c"}, ""}, {[]string{"a", "d"}, ""}, {[]string{"b", "c", "d"}, ""}, {[]string{"n", "a"}, ""},
	}
	for _, tt := range tests {
		if got := Lookup([]byte(obj), tt.path...); string(got) != tt.want {
			t.Errorf("Lookup(%q) = %s, want %s", tt.path, got, tt.want)
		}
	}
}

func membersOf(obj string) (members [][2]string) {
	Each([]byte(obj), func(key string, value []byte) { members = append(members, [2]string{key, string(value)}) })
	return members
}

func TestEachMissesNoMember(t *testing.T) {
	got := membersOf(` {"b":1 , "\u0061":{"x":[]},"b": "" }`)
	if diff := cmp.Diff([][2]string{{"b", "1"}, {"a", `{"x":[]}`}, {"b", `""`}}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for _, none := range []string{"", "{}", "[]", `[{"a":1}]`, "null"} {
		if got := membersOf(none); got != nil {
			t.Errorf("Each(%q) visits %q", none, got)
		}
	}
}

func TestElementsAreTheArraysOwn(t *testing.T) {
	elements := Elements([]byte(` [ 1.0 , [2,3],{"a":[4]}, "," ] `))
	if got, want := string(Array(elements)), `[1.0,[2,3],{"a":[4]},","]`; len(elements) != 4 || got != want {
		t.Errorf("got %d: %s", len(elements), got)
	}
	for _, none := range []string{"", "[]", " [ ] ", `{"a":[1]}`, "1", `"[1]"`} {
		if got := Elements([]byte(none)); got != nil {
			t.Errorf("Elements(%q) = %q", none, got)
		}
	}
}

func TestSetLeavesTheRestAsItWas(t *testing.T) {
	tests := []struct{ name, obj, key, want string }{
		{"first", `{"a": 1 ,"b":2}`, "a", `{"a": [0] ,"b":2}`},
		{"middle", `{"a":1,"b":{"b":2},"c":3}`, "b", `{"a":1,"b":[0],"c":3}`},
		{"last", `{"a":1,"b":2 } `, "b", `{"a":1,"b":[0] } `},
		{"only", `{"a":1}`, "a", `{"a":[0]}`},
		{"absent", ` { "a":1.0}`, "b", ` {"b":[0], "a":1.0}`},
		{"only further down", `{"x":{"a":1}}`, "a", `{"a":[0],"x":{"a":1}}`},
		{"twice", `{"a":1,"a":2}`, "a", `{"a":1,"a":[0]}`},
		{"escaped", `{"\u0061":1}`, "a", `{"\u0061":[0]}`},
		{"needs escapes", `{}`, "\"\\\n", `{"\"\\\n":[0]}`},
		{"an escape is not what it looks like", `{"\u0061":1}`, `\u0061`, `{"\\u0061":[0],"\u0061":1}`},
		{"empty object", `{}`, "a", `{"a":[0]}`},
		{"empty object, white space", " {\n} ", "a", " {\"a\":[0]\n} "},
		{"nil", ``, "a", `{"a":[0]}`},
		{"null", `null`, "a", `{"a":[0]}`},
		{"an array of objects", `[{"b":1}]`, "a", `{"a":[0]}`},
		{"a string with a brace", `"{"`, "a", `{"a":[0]}`},
	}
	for _, tt := range tests {
		obj := []byte(tt.obj)
		if got := Set(obj, tt.key, []byte("[0]")); string(got) != tt.want || !Valid(got) {
			t.Errorf("%s: Set(%s, %s) = %s, want %s", tt.name, tt.obj, tt.key, got, tt.want)
		}
		if string(obj) != tt.obj {
			t.Errorf("%s: the input became %s", tt.name, obj)
		}
	}
}

func TestPrependComesFirst(t *testing.T) {
	for obj, want := range map[string]string{"": `{"a":0}`, "null": `{"a":0}`, " {} ": ` {"a":0} `, `{"b":1}`: `{"a":0,"b":1}`, `{"a":1}`: `{"a":0,"a":1}`, `[{"b":1}]`: `{"a":0}`} {
		if got := Prepend([]byte(obj), "a", []byte("0")); string(got) != want {
			t.Errorf("Prepend(%s) = %s, want %s", obj, got, want)
		}
	}
}

func TestAppendComesLast(t *testing.T) {
	for obj, want := range map[string]string{`{"b":"}"}`: `{"b":"}","a":0}`, ` {"b":{} } `: ` {"b":{} ,"a":0} `, `{"a":1}`: `{"a":1,"a":0}`} {
		if got := Append([]byte(obj), "a", []byte("0")); string(got) != want {
			t.Errorf("Append(%s) = %s, want %s", obj, got, want)
		}
	}
}

func TestDeleteTakesNothingElse(t *testing.T) {
	tests := []struct {
		name, obj string
		keys      []string
		want      string
	}{
		{"first", `{"a":1,"b":2.0}`, []string{"a"}, `{"b":2.0}`},
		{"middle", `{"a":1, "b" :2,"c": 3}`, []string{"b"}, `{"a":1,"c": 3}`},
		{"last", `{"a":"\u0061","b":2}`, []string{"b"}, `{"a":"\u0061"}`},
		{"only", ` { "a" : 1 } `, []string{"a"}, `{}`},
		{"several", `{"a":1,"b":2,"c":3}`, []string{"c", "a", "x"}, `{"b":2}`},
		{"every one of that name", `{"a":1,"b":2,"\u0061":3}`, []string{"a"}, `{"b":2}`},
		{"only further down", ` {"x":{"a":1}} `, []string{"a"}, ` {"x":{"a":1}} `},
		{"an escape is not what it looks like", `{"\u0061":1}`, []string{`\u0061`}, `{"\u0061":1}`},
		{"no names", `{"a":1}`, nil, `{"a":1}`},
		{"empty object", `{ }`, []string{"a"}, `{ }`},
		{"an array", `[{"a":1}]`, []string{"a"}, `[{"a":1}]`},
		{"nil", ``, []string{"a"}, ``},
	}
	for _, tt := range tests {
		obj := []byte(tt.obj)
		if got := Delete(obj, tt.keys...); string(got) != tt.want {
			t.Errorf("%s: Delete(%s, %q) = %s, want %s", tt.name, tt.obj, tt.keys, got, tt.want)
		}
		if string(obj) != tt.obj {
			t.Errorf("%s: the input became %s", tt.name, obj)
		}
	}
}

func TestStringsOutliveQuoting(t *testing.T) {
	for _, s := range []string{"", "a", "\"\\/\n\t\x00", "é\u2028", "<&>", "𝄞"} {
		if got, ok := String(Quote(s)); !ok || got != s {
			t.Errorf("String(Quote(%q)) = %q, %t", s, got, ok)
		}
	}
	for _, none := range []string{"", `"`, "1", "null", `{"a":""}`, `[""]`} {
		if got, ok := String([]byte(none)); ok || got != "" {
			t.Errorf("String(%s) = %q, %t", none, got, ok)
		}
	}
}

func TestDeleteInLeavesNoEmptyObjectBehind(t *testing.T) {
	for _, tt := range []struct{ obj, want string }{
		{`{"a":1,"m":{"x":1,"y":1.0},"b":[ ]}`, `{"a":1,"m":{"y":1.0},"b":[ ]}`},
		{`{"a":1,"m":{"x":1,"z":2}}`, `{"a":1}`},
		{`{"m":{"x":1}}`, `{}`},
		{`{"a": 1, "m": {"y":1} }`, `{"a": 1, "m": {"y":1} }`}, // nothing to delete, nothing rewritten
		{`{"m":{}}`, `{"m":{}}`},
		{`{"m":7}`, `{"m":7}`},
		{`{"a":1}`, `{"a":1}`},
		{``, ``},
	} {
		if got := DeleteIn([]byte(tt.obj), "m", "x", "z"); string(got) != tt.want {
			t.Errorf("DeleteIn(%s) = %s, want %s", tt.obj, got, tt.want)
		}
	}
}

// The same string must not be two, depending on whether something in it is escaped.
func TestStringsThatAreNoTextReadAlike(t *testing.T) {
	for _, odd := range []string{"\xff", "a\xff\xfez", "\xed\xa0\x80", "\xe6\x97", `\ud800`, `\udc00\ud800`, `\u0000`} {
		for _, text := range []string{`"` + odd + `"`, `"` + odd + `\u0061"`} {
			var want string
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatal(err)
			}
			if got, ok := String([]byte(text)); got != want || !ok || !utf8.ValidString(got) {
				t.Errorf("String(%q) = %q, %t, want %q", text, got, ok, want)
			}
		}
	}
}
