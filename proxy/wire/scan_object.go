package wire

// member is one member of an object: the spans of its key, quotes included,
// and of its value.
type member struct{ key, value span }

// scanObject calls visit, if there is one, for each member in order. A visit
// that returns false ends the scan: the result is then not the object's end.
func scanObject(b []byte, i, depth int, visit func(member) bool) int {
	i = scanSpace(b, i+1)
	if i < len(b) && b[i] == '}' {
		return i + 1
	}
	for {
		m, next := scanMember(b, i, depth)
		if next < 0 {
			return -1
		}
		if visit != nil && !visit(m) {
			return next
		}
		i = scanSpace(b, next)
		if i >= len(b) || b[i] != ',' && b[i] != '}' {
			return -1
		}
		if b[i] == '}' {
			return i + 1
		}
		i = scanSpace(b, i+1)
	}
}

func scanMember(b []byte, i, depth int) (m member, next int) {
	if i >= len(b) || b[i] != '"' {
		return m, -1
	}
	m.key = span{i, scanString(b, i)}
	if m.key.to < 0 {
		return m, -1
	}
	i = scanSpace(b, m.key.to)
	if i >= len(b) || b[i] != ':' {
		return m, -1
	}
	i = scanSpace(b, i+1)
	m.value = span{i, scanValue(b, i, depth+1)}
	return m, m.value.to
}

// scanArray calls visit, if there is one, for each element in order.
func scanArray(b []byte, i, depth int, visit func(span)) int {
	i = scanSpace(b, i+1)
	if i < len(b) && b[i] == ']' {
		return i + 1
	}
	for {
		end := scanValue(b, i, depth+1)
		if end < 0 {
			return -1
		}
		if visit != nil {
			visit(span{i, end})
		}
		i = scanSpace(b, end)
		if i >= len(b) || b[i] != ',' && b[i] != ']' {
			return -1
		}
		if b[i] == ']' {
			return i + 1
		}
		i = scanSpace(b, i+1)
	}
}

// Valid reports whether b is one JSON value and nothing else but white space.
func Valid(b []byte) bool {
	end := scanValue(b, scanSpace(b, 0), 0)
	return end >= 0 && scanSpace(b, end) == len(b)
}
