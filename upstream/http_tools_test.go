package upstream

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

const annotated = `{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"n":{"type":"integer","x-mcp-header":"N"},
	"deep":{"type":"object","properties":{"flag":{"type":"boolean","x-mcp-header":"Deep-Flag"}}},
	"x-mcp-header":{"type":"string"},
	"plain":{"type":"string","default":{"x-mcp-header":"no annotation"}}}}`

func TestAToolWithABrokenDefinitionIsLeftOutAndTheRestUntouched(t *testing.T) {
	good, also := `{"name":"a", "n":1.0,"inputSchema":{"type":"object"}}`, `{"inputSchema":`+annotated+`,"name":"b","x":9007199254740993}`
	bad := `{"name":"broken","inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}}`
	server := modern(t, map[string]handler{"tools/list": result(`{"z":1.0,"tools":[` + good + `,` + bad + `,` + also + `],"nextCursor":"2"}`)})
	var log bytes.Buffer
	client := dial(t, server.URL, func(o *Options) { o.Log = zerolog.New(zerolog.SyncWriter(&log)) })
	want := `{"z":1.0,"tools":[` + good + `,` + also + `],"nextCursor":"2"}`
	for range 2 {
		if diff := cmp.Diff(want, ask(t, client, "tools/list", `{}`)); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
	}
	client.Close(t.Context())
	if n := strings.Count(log.String(), "left a tool"); n != 1 || !strings.Contains(log.String(), `"tool":"broken"`) {
		t.Errorf("%d warnings: %s", n, log.String())
	}
}

func TestAnOlderServersToolsAreLeftAsTheyAre(t *testing.T) {
	list := `{"tools":[{"name":"a","inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}}]}`
	server := legacy(t, map[string]handler{"tools/list": result(list)})
	if got := ask(t, dial(t, server.URL, nil), "tools/list", `{}`); got != list {
		t.Errorf("the list came as %s", got)
	}
}

// pages lists tools one by one.
func pages(tools ...string) handler {
	return func(w http.ResponseWriter, v visit) {
		i := 0
		if cursor, ok := wire.String(wire.Get(v.message.Params(), "cursor")); ok {
			i, _ = strconv.Atoi(cursor)
		}
		next := ""
		if i+1 < len(tools) {
			next = fmt.Sprintf(`,"nextCursor":"%d"`, i+1)
		}
		result(`{"tools":[`+tools[i]+`]`+next+`}`)(w, v)
	}
}

func TestAToolThatIsNotKnownIsLookedUpOnceBeforeTheCall(t *testing.T) {
	other, wanted := `{"name":"other"}`, `{"name":"run","inputSchema":`+annotated+`}`
	server := modern(t, map[string]handler{"tools/list": pages(other, other, wanted, other), "tools/call": result("{}")})
	client := dial(t, server.URL, nil)
	var calls []asking
	for range 5 {
		calls = append(calls, send(t, client, "tools/call", `{"name":"run","arguments":{"region":"eu"}}`, nil))
	}
	for _, call := range calls {
		call.result()
	}
	for _, v := range server.expect("tools/call", 5) {
		if got := v.header("Mcp-Param-Region"); got != "eu" {
			t.Errorf("the call has Mcp-Param-Region %q", got)
		}
	}
	server.expect("tools/list", 4)
	ask(t, client, "tools/call", `{"name":"no such tool"}`) // everything is known: nothing to look up
	server.expect("tools/list", 4)
}

func TestWhatIsKnownOfToolsIsDroppedWhenTheyChange(t *testing.T) {
	const call = `{"name":"run","arguments":{"region":"eu"}}`
	server := modern(t, map[string]handler{"tools/list": pages(`{"name":"run","inputSchema":` + annotated + `}`), "tools/call": result("{}")})
	client := dial(t, server.URL, nil)
	ask(t, client, "tools/list", `{}`)
	ask(t, client, "tools/call", call)
	server.expect("tools/list", 1) // a list that passed was learned from
	server.on("tools/call", failure(http.StatusBadRequest, -32020, "Mcp-Param-Zone is missing"))
	if m, err := send(t, client, "tools/call", call, nil).wait(); err != nil || m.Err() == nil {
		t.Errorf("the refusal came as %s, %v", m.Raw(), err)
	}
	server.expect("tools/call", 2)
	server.on("tools/list", pages(`{"name":"run","inputSchema":`+strings.ReplaceAll(annotated, "Region", "Zone")+`}`))
	server.on("tools/call", sse(
		`data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n\n", `data: {"jsonrpc":"2.0","id":$ID,"result":{}}`+"\n\n"))
	ask(t, client, "tools/call", call)
	server.expect("tools/list", 2)
	if got := server.expect("tools/call", 3)[2].header("Mcp-Param-Zone"); got != "eu" {
		t.Errorf("the call has Mcp-Param-Zone %q", got)
	}
	ask(t, client, "tools/call", call)
	server.expect("tools/list", 3)
}

func TestACallGoesOutWithoutHeadersWhereTheToolsCannotBeListed(t *testing.T) {
	server := modern(t, map[string]handler{"tools/list": plain(500, "text/plain", "no"), "tools/call": result("{}")})
	client := dial(t, server.URL, nil)
	for range 3 {
		ask(t, client, "tools/call", `{"name":"run"}`)
	}
	server.expect("tools/list", 1) // it will not be better in a moment
}

func TestAListOfToolsWithoutEndIsGivenUp(t *testing.T) {
	server := modern(t, map[string]handler{"tools/list": result(`{"tools":[],"nextCursor":"again"}`), "tools/call": result("{}")})
	ask(t, dial(t, server.URL, nil), "tools/call", `{"name":"run"}`)
	server.expect("tools/list", maxPages)
}
