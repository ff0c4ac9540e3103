package wire

import "sync"

// Changes names the members that [Message.With] and [Message.Rewrite] replace; nil
// leaves a member as it is.
type Changes struct{ ID, Params, Result, Err []byte }

// edit is what a message has been changed to. Its text is put together when
// somebody asks for it: most messages are written in pieces.
type edit struct {
	Changes
	once sync.Once
	text []byte
}

// With returns the message with the given members replaced and everything else as
// it stands, members that JSON-RPC does not know included. Params that were absent
// are added; other absent members cannot be. The values must be valid JSON, and
// nobody may change them any more.
func (m Message) With(c Changes) Message {
	before := m.changes()
	m.edit = &edit{Changes: Changes{
		ID: either(c.ID, before.ID), Params: either(c.Params, before.Params),
		Result: either(c.Result, before.Result), Err: either(c.Err, before.Err),
	}}
	return m
}

// Rewrite is the text of [Message.With].
func (m Message) Rewrite(c Changes) []byte { return m.With(c).Raw() }

func either(a, b []byte) []byte {
	if a != nil {
		return a
	}
	return b
}

func (m Message) changes() (c Changes) {
	if m.edit != nil {
		c = m.edit.Changes
	}
	return c
}

// part is a member that stands there, or what has taken its place.
func (m Message) part(s span, changed []byte) []byte {
	if changed != nil && s.to != 0 {
		return changed
	}
	return s.of(m.raw)
}

func (e *edit) whole(m Message) []byte {
	e.once.Do(func() {
		var room [maxPieces][]byte
		e.text = concat(m.pieces(room[:0])...)
	})
	return e.text
}

const maxPieces = 10 // four replacements, one of them with its name, and what is around them

// pieces appends the parts that make up the message's text.
func (m Message) pieces(to [][]byte) [][]byte {
	if m.edit == nil {
		return append(to, m.raw)
	}
	at, list := 0, m.edit.replacements(m)
	for _, r := range list {
		if r.with == nil {
			continue
		}
		to = append(to, m.raw[at:r.where.from])
		if r.where.from == r.where.to {
			to = append(to, absentParams)
		}
		to, at = append(to, r.with), r.where.to
	}
	return append(to, m.raw[at:])
}

var absentParams = []byte(`,"params":`)

type replacement struct {
	where span
	with  []byte
}

// replacements are ordered by position; those without a value are none.
func (e *edit) replacements(m Message) (list [4]replacement) {
	list = [4]replacement{m.replace(m.id, e.ID), m.replace(m.params, e.Params), m.replace(m.result, e.Result), m.replace(m.err, e.Err)}
	if m.params.to == 0 && e.Params != nil {
		end := m.lastBrace()
		list[1] = replacement{span{end, end}, e.Params}
	}
	for n := range list { // no sort library for four
		for i := n; i > 0 && list[i].where.from < list[i-1].where.from; i-- {
			list[i], list[i-1] = list[i-1], list[i]
		}
	}
	return list
}

func (m Message) replace(where span, with []byte) replacement {
	if where.to == 0 {
		with = nil
	}
	return replacement{where, with}
}

func (m Message) lastBrace() int {
	i := len(m.raw) - 1
	for m.raw[i] != '}' {
		i--
	}
	return i
}
