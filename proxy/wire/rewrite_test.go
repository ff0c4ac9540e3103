package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRewriteChangesNothingElse(t *testing.T) {
	const request = ` {"x" : 1.0,"id": 9007199254740993 ,"method":"m\/n", "params" :{"a":"\u00e9"},"jsonrpc":"2.0","y":null}` + "\r"
	const backwards = `{"params":{"id":1},"id":"b","method":"m","jsonrpc":"2.0"}`
	tests := []struct {
		name, text string
		c          Changes
		want       string
	}{
		{"nothing", request, Changes{}, request},
		{"id", request, Changes{ID: []byte("7")}, ` {"x" : 1.0,"id": 7 ,"method":"m\/n", "params" :{"a":"\u00e9"},"jsonrpc":"2.0","y":null}` + "\r"},
		{"params", request, Changes{Params: []byte("{}")}, ` {"x" : 1.0,"id": 9007199254740993 ,"method":"m\/n", "params" :{},"jsonrpc":"2.0","y":null}` + "\r"},
		{"both", request, Changes{ID: []byte(`"long id"`), Params: []byte("[]")}, ` {"x" : 1.0,"id": "long id" ,"method":"m\/n", "params" :[],"jsonrpc":"2.0","y":null}` + "\r"},
		{"both, params first", backwards, Changes{ID: []byte("2"), Params: []byte("{}")}, `{"params":{},"id":2,"method":"m","jsonrpc":"2.0"}`},
		{"params absent", `{"jsonrpc":"2.0","id":1,"method":"}" } `, Changes{Params: []byte("{}")}, `{"jsonrpc":"2.0","id":1,"method":"}" ,"params":{}} `},
		{"params absent and id last", `{"jsonrpc":"2.0","method":"m","id":1}`, Changes{ID: []byte("22"), Params: []byte("{}")}, `{"jsonrpc":"2.0","method":"m","id":22,"params":{}}`},
		{"a notification gets no id", `{"jsonrpc":"2.0","method":"m"}`, Changes{ID: []byte("1")}, `{"jsonrpc":"2.0","method":"m"}`},
		{"result", `{"jsonrpc":"2.0","result":{"id":1},"id":1}`, Changes{ID: []byte("2"), Result: []byte("null")}, `{"jsonrpc":"2.0","result":null,"id":2}`},
		{"error", `{"jsonrpc":"2.0","error":{},"id":1}`, Changes{ID: []byte("2"), Err: []byte(`{"code":1}`)}, `{"jsonrpc":"2.0","error":{"code":1},"id":2}`},
		{"a result stays one", `{"jsonrpc":"2.0","id":1,"result":{}}`, Changes{Err: []byte("{}")}, `{"jsonrpc":"2.0","id":1,"result":{}}`},
		{"an error stays one", `{"jsonrpc":"2.0","id":1,"error":{}}`, Changes{Result: []byte("{}")}, `{"jsonrpc":"2.0","id":1,"error":{}}`},
		{"escaped names", `{"jsonrpc":"2.0","\u0069d":1,"method":"m"}`, Changes{ID: []byte("2")}, `{"jsonrpc":"2.0","\u0069d":2,"method":"m"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := mustParse(t, tt.text)
			if diff := cmp.Diff(tt.want, string(m.Rewrite(tt.c))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if string(m.Raw()) != tt.text {
				t.Errorf("the message became %s", m.Raw())
			}
			with := m.With(tt.c)
			if diff := cmp.Diff(partsOf(mustParse(t, tt.want)), partsOf(with)); diff != "" || string(with.Raw()) != tt.want {
				t.Errorf("With gives %s, -parsed +got:\n%s", with.Raw(), diff)
			}
		})
	}
}

func TestAppendingToAPartLeavesTheMessageAlone(t *testing.T) {
	text := `{"jsonrpc":"2.0","id":1,"method":"m","params":{}}`
	m := mustParse(t, text)
	_ = append(m.ID(), "999"...)
	_ = append(m.Params(), "999"...)
	_ = append(Get(m.Raw(), "id"), "999"...)
	if string(m.Raw()) != text {
		t.Errorf("the message became %s", m.Raw())
	}
}

func TestBuiltMessagesReadBackAsBuilt(t *testing.T) {
	failure := Errorf(CodeInternal, "no %q\n", "<x>")
	withData := &Error{CodeInvalidParams, "m", map[string]any{"reason": "full"}}
	tests := []struct {
		built Message
		want  parts
	}{
		{Request(-3, "a/\"b\"\n", []byte(`{"x":1.0}`)), parts{"request", "-3", "a/\"b\"\n", `{"x":1.0}`, "", ""}},
		{Request(1<<62, "m", nil), parts{"request", "4611686018427387904", "m", "", "", ""}},
		{Notification("n", nil), parts{"notification", "", "n", "", "", ""}},
		{Notification("n", []byte("[]")), parts{"notification", "", "n", "[]", "", ""}},
		{Result([]byte(`"a"`), []byte("null")), parts{"response", `"a"`, "", "", "null", ""}},
		{Failure([]byte("1.0"), failure), parts{"response", "1.0", "", "", "", string(failure.JSON())}},
		{Failure([]byte("1"), withData), parts{"response", "1", "", "", "", `{"code":-32602,"message":"m","data":{"reason":"full"}}`}},
	}
	for _, tt := range tests {
		read := mustParse(t, string(tt.built.Raw()))
		if diff := cmp.Diff(tt.want, partsOf(tt.built)); diff != "" {
			t.Errorf("built, -want +got:\n%s", diff)
		}
		if diff := cmp.Diff(tt.want, partsOf(read)); diff != "" {
			t.Errorf("read back, -want +got:\n%s", diff)
		}
		if message, _ := String(Get(failure.JSON(), "message")); message != failure.Error() || message != "no \"<x>\"\n" {
			t.Errorf("the error's message reads %q", message)
		}
	}
}

func TestFailureWithoutAnIDSaysNothing(t *testing.T) {
	m := Failure(nil, Errorf(CodeParse, "m"))
	want := `{"jsonrpc":"2.0","error":{"code":-32700,"message":"m"}}`
	if string(m.Raw()) != want || m.ID() != nil {
		t.Errorf("got %s", m.Raw())
	}
}

func TestBuiltMessagesCanBeRewritten(t *testing.T) {
	got := Request(1, "m", nil).Rewrite(Changes{ID: []byte(`"x"`), Params: []byte("{}")})
	if want := `{"jsonrpc":"2.0","id":"x","method":"m","params":{}}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
