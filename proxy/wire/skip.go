package wire

import "bytes"

// The skip functions find their way through text that has been checked. They
// look at quotes and brackets only, several times faster than the scan
// functions. In any other text they find something or other, or nothing (-1).

// skipObject calls visit for each member of the object at i, in order, until it
// returns false.
func skipObject(b []byte, i int, visit func(member) bool) {
	i = scanSpace(b, i+1)
	for i < len(b) && b[i] == '"' {
		m := member{key: span{i, skipString(b, i)}}
		if m.key.to < 0 {
			return
		}
		from := scanSpace(b, scanSpace(b, m.key.to)+1) // behind the colon
		if m.value = (span{from, skipValue(b, from)}); m.value.to < 0 || !visit(m) {
			return
		}
		i = scanSpace(b, scanSpace(b, m.value.to)+1) // behind the comma
	}
}

// skipArray calls visit for each element of the array at i, in order.
func skipArray(b []byte, i int, visit func(span)) {
	for i = scanSpace(b, i+1); i < len(b) && b[i] != ']'; {
		end := skipValue(b, i)
		if end < 0 {
			return
		}
		visit(span{i, end})
		if i = scanSpace(b, end); i < len(b) && b[i] == ',' {
			i = scanSpace(b, i+1)
		}
	}
}

func skipValue(b []byte, i int) int {
	switch {
	case i >= len(b):
		return -1
	case b[i] == '"':
		return skipString(b, i)
	case b[i] == '{' || b[i] == '[':
		return skipNested(b, i)
	}
	start := i
	for i < len(b) && !endsWord[b[i]] {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

// endsWord marks what may stand behind a number or a literal.
var endsWord = [256]bool{',': true, '}': true, ']': true, ' ': true, '\t': true, '\r': true, '\n': true}

func skipNested(b []byte, i int) int {
	for depth := 0; i >= 0 && i < len(b); {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return -1
}

// skipString: a quote ends a string unless an odd number of backslashes stands
// in front of it.
func skipString(b []byte, i int) int {
	for start := i + 1; ; {
		n := bytes.IndexByte(b[i+1:], '"')
		if n < 0 {
			return -1
		}
		i += 1 + n
		first := i
		for first > start && b[first-1] == '\\' {
			first--
		}
		if (i-first)%2 == 0 {
			return i + 1
		}
	}
}
