package wire

import "strconv"

// Request builds a request with a number of ours as its id. A nil params
// leaves the member out.
func Request(id int64, method string, params []byte) Message {
	return build(strconv.AppendInt(nil, id, 10), "", method, params)
}

// Notification builds a notification. A nil params leaves the member out.
func Notification(method string, params []byte) Message {
	return build(nil, "", method, params)
}

// Result builds the answer to the request with that id.
func Result(id, result []byte) Message {
	return build(id, "result", "", result)
}

// Failure builds the answer that reports err to the request with that id; a
// nil id is left out, for a request whose id could not be read (revision
// 2026-07-28, Base Protocol, Error Responses).
func Failure(id []byte, err *Error) Message {
	return build(id, "error", "", err.JSON())
}

// build writes the envelope and notes where its members lie.
func build(id []byte, outcome, method string, value []byte) Message {
	m := Message{method: method, raw: make([]byte, 0, len(id)+len(method)+len(value)+64)}
	m.raw = append(m.raw, `{"jsonrpc":"2.0"`...)
	if id != nil {
		m.id = m.append(`,"id":`, id)
	}
	if method != "" {
		m.append(`,"method":`, Quote(method))
	}
	switch {
	case outcome == "result":
		m.result = m.append(`,"result":`, value)
	case outcome == "error":
		m.err = m.append(`,"error":`, value)
	case value != nil:
		m.params = m.append(`,"params":`, value)
	}
	m.raw = append(m.raw, '}')
	return m
}

func (m *Message) append(key string, value []byte) span {
	m.raw = append(m.raw, key...)
	from := len(m.raw)
	m.raw = append(m.raw, value...)
	return span{from, len(m.raw)}
}
