package runner

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

func TestSettingsArriveAsTheyWere(t *testing.T) {
	first := upstream.Era(0) // whichever it is: it is not the same as none
	for name, want := range map[string]Server{
		"nothing": {},
		"a bit of everything": {
			Policies: proxy.Policies{
				Default: proxy.Policy{Task: proxy.After, After: 5 * time.Second, MaxRun: time.Hour},
				Tools:   []proxy.ToolPolicy{{Pattern: "a*"}, {}, {Pattern: "b", Policy: proxy.Policy{TTL: 1<<63 - 1}}},
			},
			URL: "https://h/?q=<&>", Header: http.Header{"X": {"", "two"}, "Y": nil}, ForwardHeaders: []string{"", "Z"},
			ForwardAuthorization: true, Era: &first, Identity: "id", MessageBytes: 1, LogLevel: "debug", LogPayloads: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := decodeSettings(encodeSettings(want))
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// An older runner knows no setting of these, and serves who does not use any.
func TestSettingsThatAreNotUsedAreNotSent(t *testing.T) {
	s := Server{URL: "u", Policies: proxy.Policies{Tools: []proxy.ToolPolicy{{Pattern: "p"}}}}
	const want = `{"Policies":{"Tools":[{"Pattern":"p"}]},"URL":"u"}`
	if got := string(encodeSettings(s)); got != want {
		t.Errorf("%s is sent, want %s", got, want)
	}
}

func TestSettingsThatAreUnknownAreRefusedByName(t *testing.T) {
	for text, fact := range map[string]string{
		`{"URL":"u","NoSuchSetting":0}`:                               `"NoSuchSetting"`,
		`{"Policies":{"Default":{"NoSuchLimit":1}}}`:                  `"NoSuchLimit"`,
		`{"Policies":{"Tools":[{"Policy":{"NoSuchMember":"high"}}]}}`: `"NoSuchMember"`,
		`{"MessageBytes":"32MiB"}`:                                    "not understood",
		`[]`:                                                          "not understood",
		``:                                                            "what to serve",
	} {
		var raw json.RawMessage
		if text != "" {
			raw = json.RawMessage(text)
		}
		if _, err := decodeSettings(raw); err == nil || !strings.Contains(err.Error(), fact) {
			t.Errorf("%s: %v, want %s", text, err, fact)
		}
	}
}
