package wire

import "bytes"

// ID guesses the id of the message from its two ends: the members in front of
// the first one that does not end within Head, or else the last member of the
// text. It returns nil if neither shows one.
func (e *TooLongError) ID() []byte {
	if id := e.headMember("id"); id != nil && validID(id) {
		return bytes.Clone(id)
	}
	if !IsObject(e.Head) {
		return nil // a batch, or a line of a log
	}
	return e.tailID()
}

// Method returns the method's name if it stands in front of the long member.
func (e *TooLongError) Method() string {
	method, _ := String(e.headMember("method"))
	return method
}

func (e *TooLongError) headMember(key string) (value []byte) {
	i := scanSpace(e.Head, 0)
	if i >= len(e.Head) || e.Head[i] != '{' {
		return nil
	}
	scanObject(e.Head, i, 0, func(m member) bool { // which has not been checked
		complete := m.value.to < len(e.Head) // a number at the cut may go on behind it
		if complete && keyIs(m.key.of(e.Head), key) {
			value = m.value.of(e.Head)
		}
		return complete
	})
	return value
}

// tailID reads a member "id" that stands last or before a short rest: some
// servers write the result first. The text in front of it is cut off, so the
// last place that reads as `"id": value` up to the closing brace wins.
func (e *TooLongError) tailID() []byte {
	for i := bytes.LastIndex(e.Tail, []byte(`"id"`)); i >= 0; i = bytes.LastIndex(e.Tail[:i], []byte(`"id"`)) {
		if i > 0 && e.Tail[i-1] == '\\' {
			continue // inside a string, the end of a longer key
		}
		rest := concat([]byte{'{'}, e.Tail[i:])
		if end := scanObject(rest, 0, 0, nil); end >= 0 && scanSpace(rest, end) == len(rest) {
			if id := Get(rest[:end], "id"); validID(id) {
				return bytes.Clone(id)
			}
		}
	}
	return nil
}
