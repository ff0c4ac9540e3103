package wire

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parts is what a message shows of itself.
type parts struct{ Kind, ID, Method, Params, Result, Err string }

func partsOf(m Message) parts {
	p := parts{"none", string(m.ID()), m.Method(), string(m.Params()), string(m.Result()), string(m.Err())}
	switch {
	case m.IsRequest() && !m.IsNotification() && !m.IsResponse():
		p.Kind = "request"
	case m.IsNotification() && !m.IsResponse():
		p.Kind = "notification"
	case m.IsResponse():
		p.Kind = "response"
	}
	return p
}

func mustParse(t *testing.T, text string) Message {
	t.Helper()
	m, err := Parse([]byte(text))
	if err != nil {
		t.Fatalf("Parse(%.80s) = %v", text, err)
	}
	return m
}

func TestParseMissesNoMember(t *testing.T) {
	request := parts{Kind: "request", ID: "1", Method: "m", Params: `{"a":1.0}`}
	tests := []struct {
		name, text string
		want       parts
	}{
		{"request", `{"jsonrpc":"2.0","id":1,"method":"m","params":{"a":1.0}}`, request},
		{"request, id last", `{"params":{"a":1.0},"method":"m","jsonrpc":"2.0","id":1}`, request},
		{"request, unknown members", `{"x":[{"id":9}],"id":1,"y":null,"method":"m","jsonrpc":"2.0","params":{"a":1.0},"ID":2}`, request},
		{"request, white space", " \t{ \"jsonrpc\" : \"2.0\" ,\r\n\"id\":\t1 , \"method\":\"m\",\"params\": {\"a\":1.0} } \r", request},
		{"request, escaped names", `{"json\u0072pc":"2.0","\u0069d":1,"\u006dethod":"m","param\u0073":{"a":1.0}}`, request},
		{"request, escaped values", `{"jsonrpc":"\u0032.0","id":1,"method":"\u006d","params":{"a":1.0}}`, request},
		{"request, no params", `{"jsonrpc":"2.0","id":1,"method":"m"}`, parts{Kind: "request", ID: "1", Method: "m"}},
		{"request, array params", `{"jsonrpc":"2.0","id":1,"method":"m","params":[1,{"id":2}]}`, parts{Kind: "request", ID: "1", Method: "m", Params: `[1,{"id":2}]`}},
		{"request, escaped method", `{"jsonrpc":"2.0","id":1,"method":"a\/b"}`, parts{Kind: "request", ID: "1", Method: "a/b"}},
		{"string id", `{"jsonrpc":"2.0","id":"\u0061 \"","method":"m"}`, parts{Kind: "request", ID: `"\u0061 \""`, Method: "m"}},
		{"empty string id", `{"jsonrpc":"2.0","id":"","method":"m"}`, parts{Kind: "request", ID: `""`, Method: "m"}},
		{"fractional id", `{"jsonrpc":"2.0","id":1.0,"method":"m"}`, parts{Kind: "request", ID: "1.0", Method: "m"}},
		{"exponent id", `{"jsonrpc":"2.0","id":-1E+2,"method":"m"}`, parts{Kind: "request", ID: "-1E+2", Method: "m"}},
		{"id above 2^53", `{"jsonrpc":"2.0","id":9007199254740993,"method":"m"}`, parts{Kind: "request", ID: "9007199254740993", Method: "m"}},
		{"id above every integer", `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 400) + `,"method":"m"}`, parts{Kind: "request", ID: strings.Repeat("9", 400), Method: "m"}},
		{"notification", `{"jsonrpc":"2.0","method":"n","params":{}}`, parts{Kind: "notification", Method: "n", Params: "{}"}},
		{"notification, nested id", `{"jsonrpc":"2.0","method":"n","params":{"id":1}}`, parts{Kind: "notification", Method: "n", Params: `{"id":1}`}},
		{"result", `{"jsonrpc":"2.0","id":1,"result":{"error":{},"method":"m"}}`, parts{Kind: "response", ID: "1", Result: `{"error":{},"method":"m"}`}},
		{"result first", `{"result":[],"id":1,"jsonrpc":"2.0"}`, parts{Kind: "response", ID: "1", Result: "[]"}},
		{"null result", `{"jsonrpc":"2.0","id":1,"result":null}`, parts{Kind: "response", ID: "1", Result: "null"}},
		{"error", `{"jsonrpc":"2.0","id":"a","error":{"code":-1,"message":""}}`, parts{Kind: "response", ID: `"a"`, Err: `{"code":-1,"message":""}`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustParse(t, tt.text)
			if diff := cmp.Diff(tt.want, partsOf(m)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if string(m.Raw()) != tt.text {
				t.Errorf("Raw() = %s", m.Raw())
			}
		})
	}
}

func TestParseRefusesWhatIsNoMessage(t *testing.T) {
	tests := []struct{ text, reason, id string }{
		{`[]`, "not an object", ""},
		{`[{"jsonrpc":"2.0","id":1,"method":"m"}]`, "not an object", ""},
		{` "text" `, "not an object", ""},
		{`null`, "not an object", ""},
		{`1e9`, "not an object", ""},
		{`{}`, `jsonrpc is not "2.0"`, ""},
		{`{"id":1,"method":"m"}`, `jsonrpc is not "2.0"`, "1"},
		{`{"jsonrpc":2.0,"id":1,"method":"m"}`, `jsonrpc is not "2.0"`, "1"},
		{`{"jsonrpc":"1.0","id":1,"method":"m"}`, `jsonrpc is not "2.0"`, "1"},
		{`{"JSONRPC":"2.0","id":1,"method":"m"}`, `jsonrpc is not "2.0"`, "1"},
		{`{"jsonrpc":"2.0","id":null,"method":"m"}`, "id is neither", ""},
		{`{"jsonrpc":"2.0","id":null,"error":{}}`, "id is neither", ""},
		{`{"jsonrpc":"2.0","id":true,"method":"m"}`, "id is neither", ""},
		{`{"jsonrpc":"2.0","id":{"id":1},"method":"m"}`, "id is neither", ""},
		{`{"jsonrpc":"2.0","id":[1],"method":"m"}`, "id is neither", ""},
		{`{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}`, "id stands twice", "2"},
		{`{"jsonrpc":"2.0","id":1,"method":"a","\u006dethod":"b"}`, "method stands twice", "1"},
		{`{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}`, "params stands twice", "1"},
		{`{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}`, "jsonrpc stands twice", "1"},
		{`{"jsonrpc":"2.0","id":1,"result":1,"result":2}`, "result stands twice", "1"},
		{`{"jsonrpc":"2.0","id":1,"error":{},"error":{}}`, "error stands twice", "1"},
		{`{"jsonrpc":"2.0","id":1,"method":7}`, "method is not a name", "1"},
		{`{"jsonrpc":"2.0","id":1,"method":""}`, "method is not a name", "1"},
		{`{"jsonrpc":"2.0","id":1,"method":null,"result":{}}`, "method is not a name", "1"},
		{`{"jsonrpc":"2.0","id":1,"method":"m","params":"{}"}`, "params is neither", "1"},
		{`{"jsonrpc":"2.0","id":1,"method":"m","result":{}}`, "both a request and a response", "1"},
		{`{"jsonrpc":"2.0","id":1,"method":"m","error":{}}`, "both a request and a response", "1"},
		{`{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, "both a result and an error", "1"},
		{`{"jsonrpc":"2.0","id":1,"result":null,"error":null}`, "both a result and an error", "1"},
		{`{"jsonrpc":"2.0","id":1}`, "no method, result or error", "1"},
		{`{"jsonrpc":"2.0","result":{}}`, "without an id", ""},
	}
	for _, tt := range tests {
		m, err := Parse([]byte(tt.text))
		if !errors.Is(err, ErrNotMessage) || !strings.Contains(err.Error(), tt.reason) {
			t.Errorf("Parse(%s) = %v, want %q", tt.text, err, tt.reason)
		}
		if string(m.ID()) != tt.id || string(m.Raw()) != tt.text {
			t.Errorf("Parse(%s): id %q, raw %q", tt.text, m.ID(), m.Raw())
		}
	}
}

// Some libraries write out members that they mean to leave out.
func TestParseTakesNullForAbsent(t *testing.T) {
	for text, kind := range map[string]func(Message) bool{
		`{"jsonrpc":"2.0","method":"m","params":null}`:              Message.IsNotification,
		`{"jsonrpc":"2.0","id":1,"result":{},"error":null}`:         func(m Message) bool { return m.IsResponse() && m.Result() != nil && m.Err() == nil },
		`{"jsonrpc":"2.0","id":1,"error":{"code":1},"result":null}`: func(m Message) bool { return m.IsResponse() && m.Err() != nil && m.Result() == nil },
	} {
		if m, err := Parse([]byte(text)); err != nil || !kind(m) {
			t.Errorf("Parse(%s): %v, result %s, error %s", text, err, m.Result(), m.Err())
		}
	}
}
