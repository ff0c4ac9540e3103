package proxy

import (
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

func TestWhatAClientCanBeAsked(t *testing.T) {
	const (
		allowed  = 0
		unknown  = -32601
		badParam = -32602
	)
	form := `{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}`
	url := `{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u"}}`
	sample := `{"method":"sampling/createMessage","params":{"messages":[]}}`
	tools := `{"method":"sampling/createMessage","params":{"messages":[],"tools":[]}}`
	roots := `{"method":"roots/list"}`
	for _, c := range []struct {
		request, capabilities string
		code                  int
	}{
		{form, `{}`, unknown},
		{form, `{"elicitation":{}}`, allowed},
		{form, `{"elicitation":{"form":{}}}`, allowed},
		{form, `{"elicitation":{"url":{}}}`, badParam},
		{form, `{"elicitation":{"form":{},"url":{}}}`, allowed},
		{form, `{"elicitation":null}`, unknown},
		{url, `{"elicitation":{}}`, badParam},
		{url, `{"elicitation":{"url":{}}}`, allowed},
		{url, `{}`, unknown},
		{sample, `{"elicitation":{}}`, unknown},
		{sample, `{"sampling":{}}`, allowed},
		{tools, `{"sampling":{}}`, badParam},
		{tools, `{"sampling":{"tools":{}}}`, allowed},
		{roots, `{}`, unknown},
		{roots, `{"roots":{"listChanged":true}}`, allowed},
		{`{"method":"tasks/get"}`, `{"tasks":{}}`, unknown},
		{`{"method":7}`, `{"roots":{}}`, unknown},
	} {
		code := allowed
		if err := refuseQuestion([]byte(c.request), []byte(c.capabilities)); err != nil {
			code = err.Code
		}
		if code != c.code {
			t.Errorf("%s to a client with %s: code %d, want %d", c.request, c.capabilities, code, c.code)
		}
	}
}

func TestMissingCapabilityNamesItAsItWouldBeDeclared(t *testing.T) {
	got := string(missingCapability([]string{"elicitation", "url"}, "The server asked", upstream.NotDispatched).JSON())
	want := `{"code":-32021,"message":"The server asked, and the client did not declare elicitation.url on this request. ` + upstream.NotDispatched.Sentence() + `","data":{"outcome":"not_dispatched","reason":"missing_capability","requiredCapabilities":{"elicitation":{"url":{}}}}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
