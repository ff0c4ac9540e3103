package upstream

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func TestTheCapabilitiesOfTheHostAreDeclaredButForTasks(t *testing.T) {
	const said = `{"elicitation":{"form":{}},"roots":{"listChanged":true},"sampling":{},"tasks":{},"extensions":{"io.modelcontextprotocol/tasks":{},"x":{}}}`
	const kept = `{"elicitation":{"form":{}},"roots":{"listChanged":true},"sampling":{},"extensions":{"x":{}}}`
	for name, c := range map[string]struct {
		server   *web
		caller   Caller
		method   string
		declares string
	}{
		"in a greeting":                    {legacy(t, nil), Caller{}, "initialize", kept},
		"in a probe":                       {modern(t, nil), Caller{}, "server/discover", kept},
		"in a request of the same era":     {modern(t, nil), Caller{Stateless: true, Capabilities: []byte(said)}, "tools/list", kept},
		"in a request of the other era":    {modern(t, nil), Caller{Capabilities: []byte(said)}, "tools/list", strings.Replace(kept, `"listChanged":true`, "", 1)},
		"in a request of a host without":   {modern(t, nil), Caller{}, "tools/list", `{}`},
		"in a request that says only that": {modern(t, nil), Caller{Capabilities: []byte(`{"tasks":{}}`)}, "tools/list", `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			client := dial(t, c.server.URL, func(o *Options) { o.Hello.Capabilities = []byte(said) })
			if c.method == "tools/list" {
				send(t, client, "tools/list", `{}`, func(r *Request) { r.Caller = c.caller }).result()
			} else if _, err := client.Connect(t.Context()); err != nil {
				t.Fatal(err)
			}
			params := c.server.expect(c.method, 1)[0].message.Params()
			got := string(wire.Get(params, "capabilities"))
			if c.method != "initialize" {
				got = string(wire.Lookup(params, "_meta", metaCapabilities))
			}
			if got != c.declares {
				t.Errorf("%s declared %s, want %s", c.method, got, c.declares)
			}
		})
	}
}

// declared are the capabilities of every greeting so far.
func (s *web) declared() (all []string) {
	for _, v := range s.visits("initialize") {
		all = append(all, string(wire.Get(v.message.Params(), "capabilities")))
	}
	return all
}

func (s *web) expectDeclared(what string, want ...string) {
	s.t.Helper()
	if got := s.declared(); strings.Join(got, " then ") != strings.Join(want, " then ") {
		s.t.Errorf("%s: declared %s, want %s", what, strings.Join(got, " then "), strings.Join(want, " then "))
	}
}

func TestAServerThatWasGreetedWithLessIsGreetedAnew(t *testing.T) {
	server := legacy(t, map[string]handler{"tools/list": result("{}")})
	c := dial(t, server.URL, nil)
	say := func(capabilities string) {
		c.Declare([]byte(capabilities))
		ask(t, c, "tools/list", "{}")
	}
	say(`{"elicitation":{},"tasks":{}}`)
	server.expectDeclared("the first time", `{"elicitation":{}}`)
	for _, same := range []string{`{"elicitation":{}}`, `{ "elicitation" : {} }`, `{}`, `null`, `{"roots":null,"sampling":false}`,
		`{"elicitation":{},"tasks":{"list":{}},"extensions":{"io.modelcontextprotocol/tasks":{}}}`} {
		say(same)
	}
	server.expectDeclared("with nothing more", `{"elicitation":{}}`)
	say(`{"elicitation":{"url":{}},"sampling":{}}`)
	say(`{"elicitation":{"form":{}}}`)
	server.expectDeclared("with more", `{"elicitation":{}}`,
		`{"sampling":{},"elicitation":{"url":{}}}`, `{"sampling":{},"elicitation":{"form":{},"url":{}}}`)
	server.expect("tools/list", 9)
}

func TestABusyServerIsNotGreetedAnewUntilItIsFree(t *testing.T) {
	release := make(chan struct{})
	server := legacy(t, map[string]handler{
		"tools/list": result("{}"),
		"tools/call": func(w http.ResponseWriter, v visit) {
			<-release
			result("{}")(w, v)
		},
	})
	c := dial(t, server.URL, nil)
	call := send(t, c, "tools/call", `{"name":"run"}`, nil)
	server.await("tools/call", 1)
	for range 2 {
		c.Declare([]byte(`{"roots":{}}`))
		ask(t, c, "tools/list", "{}")
	}
	server.expectDeclared("while a call runs", `{}`)
	close(release)
	call.result()
	c.Declare([]byte(`{"roots":{}}`))
	ask(t, c, "tools/list", "{}")
	server.expectDeclared("behind the call", `{}`, `{"roots":{}}`)
}

func TestWhatIsDeclaredDuringTheGreetingIsNotLost(t *testing.T) {
	greeted, more := make(chan struct{}, 1), make(chan struct{})
	server := legacy(t, map[string]handler{"tools/list": result("{}")})
	initialize := server.handlers["initialize"]
	server.on("initialize", func(w http.ResponseWriter, v visit) {
		greeted <- struct{}{}
		<-more
		initialize(w, v)
	})
	c := dial(t, server.URL, nil)
	list := send(t, c, "tools/list", "{}", nil)
	within(t, "the greeting", greeted)
	c.Declare([]byte(`{"roots":{}}`))
	close(more)
	list.result()
	c.Declare([]byte(`{"roots":{}}`))
	ask(t, c, "tools/list", "{}")
	server.expectDeclared("in the end", `{}`, `{"roots":{}}`)
}

func TestDeclareChangesNothingForAHostWithASessionOrAServerWithout(t *testing.T) {
	older := legacy(t, map[string]handler{"tools/list": result("{}")})
	c := dial(t, older.URL, func(o *Options) { o.Hello.Era, o.Hello.Params = Initialize, []byte(`{"capabilities":{}}`) })
	newer := modern(t, nil)
	d := dial(t, newer.URL, nil)
	for _, client := range []*Client{c, d} {
		ask(t, client, "tools/list", "{}")
		client.Declare([]byte(`{"roots":{}}`))
		ask(t, client, "tools/list", "{}")
	}
	older.expect("initialize", 1)
	newer.expect("server/discover", 1)
}

func TestWhatRequestsDeclareIsBounded(t *testing.T) {
	c := New(Options{})
	defer c.Close(t.Context())
	half := `":"` + strings.Repeat("x", maxDeclared/2) + `"}`
	for _, capabilities := range []string{`{"a` + half, `{"b` + half, `{"c":"` + strings.Repeat("x", maxDeclared) + `"}`, `{"d":{}}`} {
		c.Declare([]byte(capabilities))
	}
	all, _ := c.declared()
	if len(all) > maxDeclared || wire.Get(all, "a") == nil || wire.Get(all, "d") == nil {
		t.Errorf("%d bytes are declared, limit %d: %.30s…", len(all), maxDeclared, all)
	}
}

func TestAnswersToQuestionsOfTheOtherEraAreNotSent(t *testing.T) {
	const answers = `,"inputResponses":{"a":{}},"requestState":"s"`
	for _, c := range []struct {
		method, params string
		stateless      bool
		want           string
	}{
		{"tools/call", `{"name":"run","task":{}` + answers + `}`, true, `{"name":"run"}`},
		{"prompts/get", `{"name":"p"` + answers + `}`, true, `{"name":"p"}`},
		{"resources/read", `{"uri":"u:"` + answers + `}`, true, `{"uri":"u:"}`},
		{"x/own", `{"task":1` + answers + `}`, true, `{"task":1` + answers + `}`},
		{"tools/call", `{"name":"run","task":{}` + answers + `}`, false, `{"name":"run","task":{}` + answers + `}`},
	} {
		server := legacy(t, map[string]handler{c.method: result("{}")})
		client := dial(t, server.URL, older)
		send(t, client, c.method, c.params, func(r *Request) { r.Caller.Stateless = c.stateless }).result()
		if got := string(server.expect(c.method, 1)[0].message.Params()); got != c.want {
			t.Errorf("%s, stateless %v: the server got %s, want %s", c.method, c.stateless, got, c.want)
		}
	}
	server := modern(t, map[string]handler{"tools/call": result("{}")})
	client := dial(t, server.URL, nil)
	send(t, client, "tools/call", `{"name":"run"`+answers+`}`, func(r *Request) { r.Caller.Stateless = true }).result()
	if params := server.expect("tools/call", 1)[0].message.Params(); wire.Get(params, "requestState") == nil || wire.Get(params, "inputResponses") == nil {
		t.Errorf("a server of the same era got %s", params)
	}
}
