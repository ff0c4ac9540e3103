package host

import (
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

func request(t *testing.T, params string) wire.Message {
	t.Helper()
	m, err := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":` + params + `}`))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestWhatARequestMustSayOfItsSender(t *testing.T) {
	const version, caps = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientCapabilities":{}`
	for _, c := range []struct {
		name, meta string
		code       int
		names      string // what the error must name
	}{
		{"nothing", ``, wire.CodeInvalidParams, metaVersion},
		{"no version", caps, wire.CodeInvalidParams, metaVersion},
		{"version is a number", `"io.modelcontextprotocol/protocolVersion":20260728,` + caps, wire.CodeInvalidParams, metaVersion},
		{"other version", `"io.modelcontextprotocol/protocolVersion":"1900-01-01",` + caps, wire.CodeUnsupportedVersion, "1900-01-01"},
		{"version of the other era", `"io.modelcontextprotocol/protocolVersion":"2025-11-25",` + caps, wire.CodeUnsupportedVersion, "2026-07-28"},
		{"no capabilities", version, wire.CodeInvalidParams, metaCapabilities},
		{"capabilities is an array", version + `,"io.modelcontextprotocol/clientCapabilities":[]`, wire.CodeInvalidParams, metaCapabilities},
		{"unknown log level", version + `,` + caps + `,"io.modelcontextprotocol/logLevel":"loud"`, wire.CodeInvalidParams, metaLogLevel},
		{"log level is a number", version + `,` + caps + `,"io.modelcontextprotocol/logLevel":3`, wire.CodeInvalidParams, metaLogLevel},
		{"all well", version + `,` + caps + `,"io.modelcontextprotocol/logLevel":"info"`, 0, ""},
	} {
		_, err := readSender(request(t, `{"_meta":{`+c.meta+`}}`))
		switch {
		case c.code == 0 && err != nil:
			t.Errorf("%s: %s", c.name, err.JSON())
		case c.code != 0 && (err == nil || err.Code != c.code):
			t.Errorf("%s: got %v, want code %d", c.name, err, c.code)
		case c.code != 0 && !strings.Contains(string(err.JSON()), c.names):
			t.Errorf("%s: the error does not name %s: %s", c.name, c.names, err.JSON())
		}
	}
}

func TestTasksAreDeclaredByAnObjectOnly(t *testing.T) {
	for declaration, want := range map[string]bool{
		`{}`: false, `{"extensions":{}}`: false,
		`{"extensions":{"io.modelcontextprotocol/tasks":{}}}`:      true,
		`{"extensions":{"io.modelcontextprotocol/tasks":{"x":1}}}`: true,
		`{"extensions":{"io.modelcontextprotocol/tasks":null}}`:    false,
		`{"extensions":{"io.modelcontextprotocol/tasks":true}}`:    false,
		`{"tasks":{}}`: false,
	} {
		from, err := readSender(request(t, `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+declaration+`}}`))
		if err != nil {
			t.Errorf("%s: %s", declaration, err.JSON())
		} else if from.tasks != want {
			t.Errorf("%s: tasks declared = %v, want %v", declaration, from.tasks, want)
		}
	}
}
