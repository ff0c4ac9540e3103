package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func FuzzParse(f *testing.F) {
	for _, text := range grammar {
		f.Add([]byte(text))
		f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":` + text + `}}`))
	}
	f.Add([]byte(` {"result":[1.0],"\u0069d":"a","jsonrpc":"2.0","x":{"id":2}} `))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"é"},"id":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Parse(text)
		if got, want := errors.Is(err, ErrNotJSON), !json.Valid(text); got != want {
			t.Fatalf("Parse(%q) = %v, but encoding/json's verdict is %t", text, err, !want)
		}
		for _, part := range [][]byte{m.Raw(), m.ID(), m.Params(), m.Result(), m.Err()} {
			if len(part) > 0 && !isPartOf(part, text) {
				t.Fatalf("%q is a copy", part)
			}
		}
		if err == nil {
			checkMembers(t, m)
			checkRewrite(t, m)
		}
	})
}

func isPartOf(part, text []byte) bool {
	for i := range text {
		if &text[i] == &part[0] {
			return i+len(part) <= len(text)
		}
	}
	return false
}

// checkMembers compares the members with what encoding/json finds.
func checkMembers(t *testing.T, m Message) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(m.Raw(), &members); err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string][]byte{"id": m.ID(), "params": m.Params(), "result": m.Result(), "error": m.Err()} {
		if !bytes.Equal(members[name], part) {
			t.Errorf("%s is %q, want %q", name, part, members[name])
		}
	}
	if _, ok := members["method"]; ok != (m.Method() != "") {
		t.Errorf("method is %q in %q", m.Method(), m.Raw())
	}
}

func checkRewrite(t *testing.T, m Message) {
	if got := m.Rewrite(Changes{}); !bytes.Equal(got, m.Raw()) {
		t.Errorf("rewriting nothing turned %q into %q", m.Raw(), got)
	}
	want := partsOf(m)
	if want.ID != "" {
		want.ID = `"new"`
	}
	c := Changes{ID: []byte(`"new"`)}
	if diff := cmp.Diff(want, partsOf(m.With(c))); diff != "" {
		t.Errorf("With a new id, %q shows:\n%s", m.Raw(), diff)
	}
	changed, err := Parse(m.Rewrite(c))
	if diff := cmp.Diff(want, partsOf(changed)); diff != "" || err != nil {
		t.Errorf("a new id turned %q into %q: %v\n%s", m.Raw(), changed.Raw(), err, diff)
	}
}

func FuzzEdit(f *testing.F) {
	for _, obj := range []string{`{}`, ` { } `, `{"a":1}`, `{"a":1,"b":{"a":2}}`, `{"\u0061":1, "a" : [] ,"\\u0061":2}`, "{\"\xff\":1}"} {
		for _, key := range []string{"", "a", "b", `\u0061`, `\n`, "\n", "<", "\ufffd"} {
			f.Add([]byte(obj), key, []byte(` {"a":1.0} `))
		}
	}
	f.Fuzz(func(t *testing.T, obj []byte, key string, value []byte) {
		nests := len(obj) > 9000 || len(value) > 9000 // together perhaps deeper than allowed
		if nests || !json.Valid(obj) || !IsObject(obj) || !json.Valid(value) || !utf8.ValidString(key) {
			return
		}
		before := bytes.Clone(obj)
		set := Set(obj, key, value)
		checkEdit(t, obj, set, key, bytes.Trim(value, " \t\r\n"))
		checkEdit(t, obj, Delete(obj, key), key, nil)
		checkEdit(t, set, Delete(set, key), key, nil)
		if !bytes.Equal(obj, before) {
			t.Errorf("the input became %q", obj)
		}
	})
}

// checkEdit wants value under key in after, and all else as it is in before.
func checkEdit(t *testing.T, before, after []byte, key string, value []byte) {
	t.Helper()
	if !json.Valid(after) {
		t.Fatalf("%q became %q", before, after)
	}
	if got := Get(after, key); !bytes.Equal(got, value) || (got == nil) != (value == nil) {
		t.Errorf("in %q, %q is %q, want %q", after, key, got, value)
	}
	if diff := cmp.Diff(others(before, key), others(after, key)); diff != "" {
		t.Errorf("%q became %q:\n%s", before, after, diff)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(after, &members); err != nil || utf8.Valid(after) && !bytes.Equal(members[key], value) {
		t.Errorf("encoding/json reads %q as %q, want %q (%v)", key, members[key], value, err)
	}
}

// others returns the members that are not called key as they are written.
func others(obj []byte, key string) (members []string) {
	eachMember(obj, func(m member) bool {
		if decodeKey(m.key.of(obj)) != key {
			members = append(members, string(obj[m.key.from:m.value.to]))
		}
		return true
	})
	return members
}
