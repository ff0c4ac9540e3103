package taskstate

import (
	"encoding/binary"
	"fmt"
	"time"
)

// header is the body under t/ID: the task without its payloads, and the length
// each payload must have, -1 for a payload that is nil.
type header struct {
	task             Task // ID, Request, Inputs and Outcome not set
	request, outcome int64
}

// headerOf splits the payloads off t, and drops the inputs, which no disk holds.
func headerOf(t Task) header {
	h := header{task: t, request: payloadLen(t.Request), outcome: payloadLen(t.Outcome)}
	h.task.ID, h.task.Request, h.task.Inputs, h.task.Outcome = "", nil, nil, nil
	return h
}

func payloadLen(b []byte) int64 {
	if b == nil {
		return -1
	}
	return int64(len(b))
}

// encode writes the fields in the order decodeHeader reads them. A field is
// added at the end and with a new format version only.
func (h header) encode() []byte {
	t := &h.task
	var b []byte
	for _, s := range []string{t.Owner, t.Upstream, t.Tool, string(t.Status), t.StatusMessage} {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	b = binary.AppendVarint(b, payloadLen(t.Progress))
	b = append(b, t.Progress...)
	for _, at := range []time.Time{t.CreatedAt, t.UpdatedAt, t.FinishedAt} {
		b = binary.AppendVarint(b, unixNano(at))
	}
	for _, d := range []time.Duration{t.TTL, t.PollInterval, t.MaxRun, t.Stall} {
		b = binary.AppendVarint(b, int64(d))
	}
	b = appendBool(b, t.Dispatched)
	b = binary.AppendVarint(b, h.request)
	b = binary.AppendVarint(b, h.outcome)
	b = binary.AppendVarint(b, payloadLen(t.Remote)) // here begins what format 2 added
	b = append(b, t.Remote...)
	return appendBool(b, t.IsError)
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

// decodeHeader reads what encode wrote. Nothing in the result shares memory with b.
func decodeHeader(b []byte) (header, error) {
	var h header
	t, r := &h.task, reader{rest: b}
	t.Owner, t.Upstream, t.Tool = string(r.text()), string(r.text()), string(r.text())
	t.Status, t.StatusMessage = Status(r.text()), string(r.text())
	t.Progress = r.payload()
	t.CreatedAt, t.UpdatedAt, t.FinishedAt = r.time(), r.time(), r.time()
	t.TTL, t.PollInterval = time.Duration(r.varint()), time.Duration(r.varint())
	t.MaxRun, t.Stall = time.Duration(r.varint()), time.Duration(r.varint())
	t.Dispatched = r.uvarint() != 0
	h.request, h.outcome = r.varint(), r.varint()
	if len(r.rest) > 0 { // else it was written by format 1
		t.Remote, t.IsError = r.payload(), r.uvarint() != 0
	}
	if _, known := lifecycle[t.Status]; !known || r.bad || len(r.rest) > 0 {
		return header{}, fmt.Errorf("%w: not a task header", errBadRecord)
	}
	return h, nil
}

// reader takes fields off rest; after the first that does not fit it is bad and
// gives zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.rest)
	return v * uint64(r.skip(n))
}

func (r *reader) varint() int64 {
	v, n := binary.Varint(r.rest)
	return v * int64(r.skip(n))
}

// skip drops the n bytes of a number and returns 1, or 0 if there was none.
func (r *reader) skip(n int) int {
	if n <= 0 || r.bad {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return 1
}

func (r *reader) take(n uint64) []byte {
	if r.bad || n > uint64(len(r.rest)) {
		r.bad = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) text() []byte { return r.take(r.uvarint()) }

func (r *reader) payload() []byte {
	n := r.varint()
	if n < 0 {
		return nil
	}
	return append([]byte{}, r.take(uint64(n))...)
}

func (r *reader) time() time.Time {
	n := r.varint()
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// unixNano gives the zero time, which has no nanoseconds since 1970, as 0.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
