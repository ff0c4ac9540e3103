package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func data(s string) SSEEvent { return SSEEvent{Data: []byte(s), Retry: -1} }

func TestEventsAreTakenApartAsTheStandardSays(t *testing.T) {
	for name, c := range map[string]struct {
		stream string
		want   []SSEEvent
	}{
		"one event":                   {"data: {\"a\":1}\n\n", []SSEEvent{data(`{"a":1}`)}},
		"CRLF":                        {"data: a\r\n\r\ndata: b\r\n\r\n", []SSEEvent{data("a"), data("b")}},
		"CR alone":                    {"data: a\r\rdata: b\r\r", []SSEEvent{data("a"), data("b")}},
		"line ends mixed":             {"data: a\r\ndata: b\rdata: c\n\r\n", []SSEEvent{data("a\nb\nc")}},
		"no space after the colon":    {"data:a\n\n", []SSEEvent{data("a")}},
		"only one space goes":         {"data:  a \n\n", []SSEEvent{data(" a ")}},
		"several lines of data":       {"data: a\ndata\ndata: c\n\n", []SSEEvent{data("a\n\nc")}},
		"comments":                    {": hi\n\n:\ndata: a\n: amid\n\n", []SSEEvent{data("a")}},
		"unknown field":               {"foo: 1\n\ndata: a\nbar\n\n", []SSEEvent{data("a")}},
		"byte order mark":             {"\ufeffdata: a\n\n", []SSEEvent{data("a")}},
		"byte order mark further on":  {"data: a\n\n\ufeffdata: b\n\ndata: c\n\n", []SSEEvent{data("a"), data("c")}},
		"half an event at the end":    {"data: a\n\ndata: b\n", []SSEEvent{data("a")}},
		"half a line at the end":      {"data: a\n\ndata: b", []SSEEvent{data("a")}},
		"no event at all":             {"", nil},
		"blank lines":                 {"\n\n\r\n\rdata: a\n\n\n\n", []SSEEvent{data("a")}},
		"separators of Unicode":       {"data: a\u2028b\u2029c\u0085d\n\n", []SSEEvent{data("a\u2028b\u2029c\u0085d")}},
		"bytes that are no UTF-8":     {"data: \xff\xfe\n\n", []SSEEvent{data("\xff\xfe")}},
		"type and id":                 {"event: message\nid: 7\ndata: a\n\n", []SSEEvent{{Type: "message", ID: []byte("7"), Data: []byte("a"), Retry: -1}}},
		"priming event":               {"id: 7\nretry: 500\ndata: \n\n", []SSEEvent{{ID: []byte("7"), Retry: 500 * time.Millisecond}}},
		"id alone":                    {"id: 7\n\n", []SSEEvent{{ID: []byte("7"), Retry: -1}}},
		"empty id":                    {"id\ndata: a\n\n", []SSEEvent{{ID: []byte{}, Data: []byte("a"), Retry: -1}}},
		"id with NUL":                 {"id: 7\x00\ndata: a\n\n", []SSEEvent{data("a")}},
		"retry that is no number":     {"retry: 5s\ndata: a\n\n", []SSEEvent{data("a")}},
		"retry with a sign":           {"retry: -5\ndata: a\n\n", []SSEEvent{data("a")}},
		"retry of years":              {"retry: 99999999999999\ndata: a\n\n", []SSEEvent{data("a")}},
		"field names are case-bound":  {"Data: a\n\n", nil},
		"colon within data":           {"data: a: b\n\n", []SSEEvent{data("a: b")}},
		"type does not last":          {"event: x\ndata: a\n\ndata: b\n\n", []SSEEvent{{Type: "x", Data: []byte("a"), Retry: -1}, data("b")}},
		"the last one of a field won": {"event: x\nevent: y\ndata: a\n\n", []SSEEvent{{Type: "y", Data: []byte("a"), Retry: -1}}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(c.stream), iotest.OneByteReader(strings.NewReader(c.stream))} {
				got, err := allEvents(NewSSEReader(r, 1000))
				if err != io.EOF {
					t.Errorf("ended with %v, want EOF", err)
				}
				if diff := cmp.Diff(c.want, got, sameEvent); diff != "" {
					t.Errorf("events (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// sameEvent takes no data for empty data: readers need not care.
var sameEvent = cmp.Comparer(func(a, b SSEEvent) bool {
	return a.Type == b.Type && a.Retry == b.Retry && bytes.Equal(a.Data, b.Data) && bytes.Equal(a.ID, b.ID) && (a.ID == nil) == (b.ID == nil)
})

func allEvents(r *SSEReader) (events []SSEEvent, err error) {
	for {
		e, err := r.Next()
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
}

func TestALongLineIsReadWhole(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000) // more than the reader's buffer
	got, err := allEvents(NewSSEReader(strings.NewReader("data: "+long+"\ndata: "+long+"\n\nid: "+long+"\ndata: b\n\n"), len(long)*2+1))
	if err != io.EOF {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]SSEEvent{data(long + "\n" + long), data("b")}, got, sameEvent); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff[:min(len(diff), 500)])
	}
}

func TestAnEventOverTheLimitIsSkippedAndNamed(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":7,"result":"` + strings.Repeat("x", 100_000) + `"}`
	late := `{"jsonrpc":"2.0","result":"` + strings.Repeat("x", 100_000) + `","id":8}`
	r := NewSSEReader(strings.NewReader("id: e1\ndata: "+answer+"\n\ndata: "+late+"\n\ndata: short\n\n"), 50_000)
	for _, want := range []struct {
		id, event string
		size      int
	}{{"7", "e1", len(answer)}, {"8", "", len(late)}} {
		e, err := r.Next()
		var tooLong *TooLongError
		if !errors.As(err, &tooLong) {
			t.Fatalf("error is %v, want a *TooLongError", err)
		}
		if string(tooLong.ID()) != want.id || tooLong.Size != int64(want.size) || tooLong.Limit != 50_000 {
			t.Errorf("id %s, size %d, limit %d; want %s, %d", tooLong.ID(), tooLong.Size, tooLong.Limit, want.id, want.size)
		}
		if string(e.ID) != want.event {
			t.Errorf("the event's own id is %q, want %q", e.ID, want.event)
		}
	}
	if e, err := r.Next(); err != nil || string(e.Data) != "short" {
		t.Errorf("behind it came %q, %v", e.Data, err)
	}
}

func TestAnEventOfTheLimitsSizeIsNotTooLong(t *testing.T) {
	for size, long := range map[int]bool{9: false, 10: false, 11: true} {
		_, err := NewSSEReader(strings.NewReader("data: "+strings.Repeat("x", size)+"\n\n"), 10).Next()
		if (err != nil) != long {
			t.Errorf("%d bytes with a limit of 10: %v", size, err)
		}
	}
}

func TestAnEndWithCRIsNotKeptWaiting(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	go func() { _, _ = out.Write([]byte("data: a\r\r")) }() // and nothing more
	e, err := NewSSEReader(in, 100).Next()
	if err != nil || string(e.Data) != "a" {
		t.Errorf("got %q, %v", e.Data, err)
	}
}

func TestTheErrorOfTheInputIsPassedOn(t *testing.T) {
	broken := errors.New("broken")
	r := NewSSEReader(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 100)
	if got, err := allEvents(r); len(got) != 1 || !errors.Is(err, broken) {
		t.Errorf("got %d events, %v; want 1 and the error", len(got), err)
	}
}

func TestOfManyShortLinesLittleIsKept(t *testing.T) {
	r := NewSSEReader(strings.NewReader(strings.Repeat("data: x\n", 100_000)+"\n"), 10)
	_, err := r.Next()
	var tooLong *TooLongError
	if !errors.As(err, &tooLong) || tooLong.Size != 199_999 || cap(tooLong.Tail) > 10*keptOfLong || len(tooLong.Tail) != keptOfLong {
		t.Errorf("%v, %d bytes are kept in %d", err, len(tooLong.Tail), cap(tooLong.Tail))
	}
}

// FuzzSSEReader holds the reader against a slow one that knows the whole text.
func FuzzSSEReader(f *testing.F) {
	f.Add([]byte("data: a\r\ndata: b\r\n\r\n"), 3)
	f.Add([]byte("\xef\xbb\xbfid: 1\nretry: 5\ndata\n\n: c\rdata:x\r\r"), 10)
	f.Fuzz(func(t *testing.T, stream []byte, limit int) {
		if limit < 0 || limit > 1000 {
			return
		}
		var want [][]byte
		for _, e := range plainEvents(string(stream)) {
			if len(e) <= limit {
				want = append(want, []byte(e))
			}
		}
		for _, r := range []io.Reader{bytes.NewReader(stream), iotest.OneByteReader(bytes.NewReader(stream))} {
			if diff := cmp.Diff(want, dataOfAll(t, NewSSEReader(r, limit))); diff != "" {
				t.Errorf("data (-want +got):\n%s", diff)
			}
		}
	})
}

func dataOfAll(t *testing.T, r *SSEReader) (all [][]byte) {
	for {
		e, err := r.Next()
		var tooLong *TooLongError
		switch {
		case errors.As(err, &tooLong):
			if tooLong.Size <= int64(tooLong.Limit) || len(tooLong.Head) > keptOfLong || len(tooLong.Tail) > keptOfLong {
				t.Errorf("%d bytes were too long for %d, kept %d and %d", tooLong.Size, tooLong.Limit, len(tooLong.Head), len(tooLong.Tail))
			}
		case err != nil:
			return all
		case len(e.Data) > 0:
			all = append(all, e.Data)
		}
	}
}

// plainEvents is the data of all whole events that have some.
func plainEvents(stream string) (events []string) {
	stream = strings.TrimPrefix(stream, "\ufeff")
	stream = strings.ReplaceAll(strings.ReplaceAll(stream, "\r\n", "\n"), "\r", "\n")
	lines := strings.Split(stream, "\n")
	var datas []string
	for _, line := range lines[:len(lines)-1] {
		name, value, _ := strings.Cut(line, ":")
		if name == "data" {
			datas = append(datas, strings.TrimPrefix(value, " "))
		}
		if line == "" {
			if joined := strings.Join(datas, "\n"); joined != "" {
				events = append(events, joined)
			}
			datas = nil
		}
	}
	return events
}
