package wire

// Raw returns the message's whole text.
func (m Message) Raw() []byte { return m.raw }

// ID returns the id as it is written, nil if there is none.
func (m Message) ID() []byte { return m.id.of(m.raw) }

// Method returns the method's name, empty for a response.
func (m Message) Method() string { return m.method }

// Params returns the params, nil if there are none.
func (m Message) Params() []byte { return m.params.of(m.raw) }

// Result returns the result of a response, nil if it is an error.
func (m Message) Result() []byte { return m.result.of(m.raw) }

// Err returns the error object of a response, nil if it is a result.
func (m Message) Err() []byte { return m.err.of(m.raw) }

// IsRequest reports whether the message wants an answer.
func (m Message) IsRequest() bool { return m.method != "" && m.id.to != 0 }

// IsNotification reports whether the message is a call without an answer.
func (m Message) IsNotification() bool { return m.method != "" && m.id.to == 0 }

// IsResponse reports whether the message answers a request.
func (m Message) IsResponse() bool { return m.method == "" && m.id.to != 0 }

// Changes names the members that [Message.Rewrite] replaces; nil leaves a
// member as it is.
type Changes struct{ ID, Params, Result, Err []byte }

// Rewrite returns the message's text with the given members replaced and
// everything else as it stands, members that JSON-RPC does not know included.
// Params that were absent are added; other absent members cannot be.
func (m Message) Rewrite(c Changes) []byte {
	text := make([]byte, 0, len(m.raw)+len(c.ID)+len(c.Params)+len(c.Result)+len(c.Err)+16)
	at := 0
	for _, r := range m.replacements(c) {
		text = append(append(text, m.raw[at:r.where.from]...), r.with...)
		at = r.where.to
	}
	return append(text, m.raw[at:]...)
}

type replacement struct {
	where span
	with  []byte
}

// replacements are ordered by position. Four slots need no sort library.
func (m Message) replacements(c Changes) []replacement {
	list := make([]replacement, 0, 4)
	add := func(where span, with []byte) {
		if with == nil || where.to == 0 {
			return
		}
		list = append(list, replacement{where, with})
		for i := len(list) - 1; i > 0 && list[i].where.from < list[i-1].where.from; i-- {
			list[i], list[i-1] = list[i-1], list[i]
		}
	}
	add(m.id, c.ID)
	add(m.result, c.Result)
	add(m.err, c.Err)
	if m.params.to == 0 && c.Params != nil {
		end := m.lastBrace()
		add(span{end, end}, concat([]byte(`,"params":`), c.Params))
	} else {
		add(m.params, c.Params)
	}
	return list
}

func (m Message) lastBrace() int {
	i := len(m.raw) - 1
	for m.raw[i] != '}' {
		i--
	}
	return i
}

// With is Rewrite as a message: no second parse, because the values that it
// is given must be valid JSON and everything else has been checked.
func (m Message) With(c Changes) Message {
	list := m.replacements(c)
	changed := Message{raw: m.Rewrite(c), method: m.method}
	changed.id, changed.result, changed.err = m.id.moved(list), m.result.moved(list), m.err.moved(list)
	changed.params = m.params.moved(list)
	if m.params.to == 0 && c.Params != nil {
		end := changed.lastBrace()
		changed.params = span{end - len(c.Params), end}
	}
	return changed
}

// moved is where the span lies after the replacements, in order, were made.
func (s span) moved(list []replacement) span {
	if s.to == 0 {
		return s
	}
	shift := 0
	for _, r := range list {
		if r.where == s {
			return span{s.from + shift, s.from + shift + len(r.with)}
		}
		if r.where.to <= s.from {
			shift += len(r.with) - (r.where.to - r.where.from)
		}
	}
	return span{s.from + shift, s.to + shift}
}
