package wire

// Raw returns the message's whole text.
func (m Message) Raw() []byte {
	if m.edit != nil {
		return m.edit.whole(m)
	}
	return m.raw
}

// ID returns the id as it is written, nil if there is none.
func (m Message) ID() []byte { return m.part(m.id, m.changes().ID) }

// Method returns the method's name, empty for a response.
func (m Message) Method() string { return m.method }

// Label is the method as it is logged: no longer than a line takes, whatever a peer
// calls its messages.
func (m Message) Label() string { return m.method[:min(len(m.method), 100)] }

// Params returns the params, nil if there are none.
func (m Message) Params() []byte {
	if m.params.to == 0 {
		return m.changes().Params
	}
	return m.part(m.params, m.changes().Params)
}

// Result returns the result of a response, nil if it is an error.
func (m Message) Result() []byte { return m.part(m.result, m.changes().Result) }

// Err returns the error object of a response, nil if it is a result.
func (m Message) Err() []byte { return m.part(m.err, m.changes().Err) }

// IsRequest reports whether the message wants an answer.
func (m Message) IsRequest() bool { return m.method != "" && m.id.to != 0 }

// IsNotification reports whether the message is a call without an answer.
func (m Message) IsNotification() bool { return m.method != "" && m.id.to == 0 }

// IsResponse reports whether the message answers a request.
func (m Message) IsResponse() bool { return m.method == "" && m.id.to != 0 }
