package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// The functions below read and change JSON objects as text. They take values
// that have been checked (by [Parse] or [Valid]) and never change their input;
// given anything but an object, they find no member in it. Of a member that
// stands twice the last one counts, as it does for the usual JSON parsers.

// Get returns the value of the member key of obj, nil if there is none. The
// result is part of obj.
func Get(obj []byte, key string) []byte {
	m, _ := find(obj, key)
	return m.value.of(obj)
}

// GetEach sets values, one for each of keys, to what [Get] returns for them, in one
// pass. What is in values must be nil before.
func GetEach(obj []byte, values [][]byte, keys ...string) {
	eachMember(obj, func(m member) bool {
		for i, key := range keys {
			if keyIs(m.key.of(obj), key) {
				values[i] = m.value.of(obj)
			}
		}
		return true
	})
}

// Lookup follows a path of member names from obj downwards.
func Lookup(obj []byte, path ...string) []byte {
	for _, key := range path {
		if obj = Get(obj, key); obj == nil {
			return nil
		}
	}
	return obj
}

// Each calls visit for every member of obj, in order, with the key decoded.
func Each(obj []byte, visit func(key string, value []byte)) {
	eachMember(obj, func(m member) bool {
		visit(decodeKey(m.key.of(obj)), m.value.of(obj))
		return true
	})
}

// Elements returns the elements of the array arr, nil if it is none.
func Elements(arr []byte) (elements [][]byte) {
	i := scanSpace(arr, 0)
	if i < len(arr) && arr[i] == '[' {
		skipArray(arr, i, func(s span) { elements = append(elements, s.of(arr)) })
	}
	return elements
}

// Set returns obj with the member key set to value: in its place if it is
// there, else as the first one. Anything but an object, nil too, counts as {}.
func Set(obj []byte, key string, value []byte) []byte {
	if m, ok := find(obj, key); ok {
		return splice(obj, m.value, value)
	}
	return Prepend(obj, key, value)
}

// Prepend returns obj with one more member in front, without a look at those
// that are there. Anything but an object, nil too, counts as {}.
func Prepend(obj []byte, key string, value []byte) []byte {
	b, rest := make([]byte, 0, len(obj)+len(key)+len(value)+6), []byte{'}'}
	if IsObject(obj) {
		open := scanSpace(obj, 0) + 1
		b, rest = append(b, obj[:open]...), obj[open:]
	} else {
		b = append(b, '{')
	}
	b = append(append(AppendQuote(b, key), ':'), value...)
	if i := scanSpace(rest, 0); i == len(rest) || rest[i] != '}' {
		b = append(b, ',')
	}
	return append(b, rest...)
}

// Append returns obj, which must have a member, with one more behind it. Nil
// counts as {}.
func Append(obj []byte, key string, value []byte) []byte {
	if obj == nil {
		return Prepend(nil, key, value)
	}
	end := bytes.LastIndexByte(obj, '}')
	return concat(obj[:end], []byte{','}, Quote(key), []byte{':'}, value, obj[end:])
}

// Delete returns obj without the members of those names; obj itself if it has
// none of them.
func Delete(obj []byte, keys ...string) []byte {
	var kept [][]byte
	removed := false
	eachMember(obj, func(m member) bool {
		if slices.ContainsFunc(keys, func(key string) bool { return keyIs(m.key.of(obj), key) }) {
			removed = true
			return true
		}
		kept = append(kept, obj[m.key.from:m.value.to])
		return true
	})
	if !removed {
		return obj
	}
	return concat([]byte{'{'}, bytes.Join(kept, []byte{','}), []byte{'}'})
}

// DeleteIn returns obj without the members of those names in its own member
// object, and without that member if it held nothing else; obj itself if there
// is none of them.
func DeleteIn(obj []byte, object string, keys ...string) []byte {
	inner := Get(obj, object)
	switch rest := Delete(inner, keys...); {
	case len(rest) == len(inner):
		return obj
	case string(rest) == "{}":
		return Delete(obj, object)
	default:
		return Set(obj, object, rest)
	}
}

// IsObject reports whether the JSON value is an object.
func IsObject(value []byte) bool {
	i := scanSpace(value, 0)
	return i < len(value) && value[i] == '{'
}

// String decodes a JSON string; ok is false if value is anything else. What is no
// UTF-8 in it, and must not be there (RFC 8259, section 8.1), becomes U+FFFD. A
// message goes on as it stands; what the proxy says itself is made of this.
func String(value []byte) (s string, ok bool) {
	if len(value) < 2 || value[0] != '"' {
		return "", false
	}
	if bytes.IndexByte(value, '\\') < 0 && utf8.Valid(value) {
		return string(value[1 : len(value)-1]), true
	}
	return decoded(value)
}

// decoded has a variable on the heap, which String spares most texts.
func decoded(value []byte) (s string, ok bool) {
	err := json.Unmarshal(value, &s)
	return s, err == nil
}

// Quote encodes s as a JSON string.
func Quote(s string) []byte { return AppendQuote(make([]byte, 0, len(s)+2), s) }

// AppendQuote is Quote behind b.
func AppendQuote(b []byte, s string) []byte {
	if isPlain(s) {
		return append(append(append(b, '"'), s...), '"')
	}
	return append(b, escaped(s)...)
}

func escaped(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // which would make six bytes of one
	if err := e.Encode(s); err != nil {
		panic(err) // a string always has an encoding
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

func eachMember(obj []byte, visit func(member) bool) {
	if i := scanSpace(obj, 0); i < len(obj) && obj[i] == '{' {
		skipObject(obj, i, visit)
	}
}

func find(obj []byte, key string) (found member, ok bool) {
	eachMember(obj, func(m member) bool {
		if keyIs(m.key.of(obj), key) {
			found, ok = m, true
		}
		return true
	})
	return found, ok
}

// keyIs compares without decoding unless the key holds an escape.
func keyIs(quoted []byte, key string) bool {
	if bytes.IndexByte(quoted, '\\') >= 0 {
		return decodeKey(quoted) == key
	}
	return string(quoted[1:len(quoted)-1]) == key
}

func decodeKey(quoted []byte) string {
	s, _ := String(quoted)
	return s
}

func splice(b []byte, s span, replacement []byte) []byte {
	return concat(b[:s.from], replacement, b[s.to:])
}

func concat(parts ...[]byte) []byte {
	return bytes.Join(parts, nil)
}

// Array encodes the elements as a JSON array.
func Array(elements [][]byte) []byte {
	return concat([]byte{'['}, bytes.Join(elements, []byte{','}), []byte{']'})
}

// isPlain reports whether s stands in a JSON string as it is.
func isPlain(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
