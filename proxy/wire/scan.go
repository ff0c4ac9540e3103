package wire

// span is a half-open range of positions in some text.
type span struct{ from, to int }

func (s span) of(b []byte) []byte {
	if s.to == 0 {
		return nil
	}
	return b[s.from:s.to:s.to]
}

// maxDepth is how deeply objects and arrays may nest: as deep as encoding/json allows, and
// shallow enough that hostile input cannot exhaust the stack.
const maxDepth = 10000

// The scan functions take a position and return the one behind what they
// recognised, or -1. They accept exactly the grammar of RFC 8259.

func scanSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || b[i] == '\n') {
		i++
	}
	return i
}

func scanValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; {
	case c == '"':
		return scanString(b, i)
	case c == '{' && depth < maxDepth:
		return scanObject(b, i, depth, nil)
	case c == '[' && depth < maxDepth:
		return scanArray(b, i, depth, nil)
	case c == '-' || c >= '0' && c <= '9':
		return scanNumber(b, i)
	}
	return scanLiteral(b, i)
}

func scanString(b []byte, i int) int {
	for i = scanPlain(b, i+1); i < len(b); i = scanPlain(b, i+1) {
		if b[i] == '"' {
			return i + 1
		}
		if b[i] != '\\' {
			return -1
		}
		if i = scanEscape(b, i); i < 0 {
			return -1
		}
	}
	return -1
}

// scanEscape returns the position of the escape's last byte.
func scanEscape(b []byte, i int) int {
	if i+1 >= len(b) {
		return -1
	}
	switch b[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		return scanHex4(b, i+2)
	}
	return -1
}

func scanHex4(b []byte, i int) int {
	if i+4 > len(b) {
		return -1
	}
	for _, c := range b[i : i+4] {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return -1
		}
	}
	return i + 3
}

func scanNumber(b []byte, i int) int {
	if b[i] == '-' {
		i++
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if i = scanDigits(b, i); i < 0 {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i = scanDigits(b, i+1); i < 0 {
			return -1
		}
	}
	if i < len(b) && (b[i] == 'e' || b[i] == 'E') {
		return scanExponent(b, i+1)
	}
	return i
}

func scanExponent(b []byte, i int) int {
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		i++
	}
	return scanDigits(b, i)
}

func scanDigits(b []byte, i int) int {
	start := i
	for i < len(b) && b[i] >= '0' && b[i] <= '9' {
		i++
	}
	if i == start {
		return -1
	}
	return i
}

func scanLiteral(b []byte, i int) int {
	for _, word := range [...]string{"true", "false", "null"} {
		if len(b)-i >= len(word) && string(b[i:i+len(word)]) == word {
			return i + len(word)
		}
	}
	return -1
}
