package mirror

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const annotated = `{"type":"object","properties":{
	"region":{"type":"string","x-mcp-header":"Region"},
	"n":{"type":"integer","x-mcp-header":"N"},
	"deep":{"type":"object","properties":{"flag":{"type":"boolean","x-mcp-header":"Deep-Flag"}}},
	"x-mcp-header":{"type":"string"},
	"plain":{"type":"string","default":{"x-mcp-header":"no annotation"}}}}`

func TestArgumentsAreRepeatedInTheHeadersThatTheSchemaNames(t *testing.T) {
	for arguments, want := range map[string]map[string]string{
		`{"region":"us-west1","n":42,"deep":{"flag":false},"plain":"x"}`: {"Region": "us-west1", "N": "42", "Deep-Flag": "false"},
		`{"region":"","n":-7.0}`:                                  {"Region": "", "N": "-7"},
		`{"region":null,"n":4.2e1,"deep":null}`:                   {"N": "42"},
		`{"region":" ü ","n":9007199254740991,"deep":{"flag":1}}`: {"Region": "=?base64?IMO8IA==?=", "N": "9007199254740991", "Deep-Flag": "1"},
		`{"region":{"a":1},"n":[1],"deep":"flag"}`:                {},
		`{"n":1e999999999}`:                                       {"N": "1e999999999"},
		`{"n":0.5}`:                                               {"N": "0.5"},
		`[]`:                                                      {},
	} {
		params, err := Params([]byte(annotated))
		if err != nil {
			t.Fatal(err)
		}
		got := http.Header{}
		for _, p := range params {
			if value, ok := p.Value([]byte(arguments)); ok {
				got.Set(p.Header, Encode(value))
				if !p.Matches(value, []byte(arguments)) || p.Matches(value+"0", []byte(arguments)) {
					t.Errorf("%s: %s %q is compared wrongly", arguments, p.Header, value)
				}
			}
		}
		wanted := http.Header{}
		for name, value := range want {
			wanted.Set("Mcp-Param-"+name, value)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Errorf("%s: headers (-want +got):\n%s", arguments, diff)
		}
	}
}

func TestADefinitionThatBreaksTheRulesIsInvalid(t *testing.T) {
	property := func(p string) string { return `{"type":"object","properties":{"a":` + p + `}}` }
	for name, schema := range map[string]string{
		"empty":                 property(`{"type":"string","x-mcp-header":""}`),
		"no string":             property(`{"type":"string","x-mcp-header":7}`),
		"space":                 property(`{"type":"string","x-mcp-header":"My Region"}`),
		"colon":                 property(`{"type":"string","x-mcp-header":"Region:A"}`),
		"not ASCII":             property(`{"type":"string","x-mcp-header":"Région"}`),
		"control character":     property(`{"type":"string","x-mcp-header":"Region\t1"}`),
		"line end":              property(`{"type":"string","x-mcp-header":"Region\r\nX: y"}`),
		"object":                property(`{"type":"object","x-mcp-header":"A"}`),
		"array":                 property(`{"type":"array","x-mcp-header":"A"}`),
		"null":                  property(`{"type":"null","x-mcp-header":"A"}`),
		"number":                property(`{"type":"number","x-mcp-header":"A"}`),
		"no type":               property(`{"x-mcp-header":"A"}`),
		"twice":                 `{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"A"}}}`,
		"twice but for case":    `{"properties":{"a":{"type":"string","x-mcp-header":"Ab"},"b":{"type":"string","x-mcp-header":"aB"}}}`,
		"at the root":           `{"type":"string","x-mcp-header":"A"}`,
		"in items":              property(`{"type":"array","items":{"type":"string","x-mcp-header":"A"}}`),
		"in properties of them": property(`{"type":"array","items":{"properties":{"b":{"type":"string","x-mcp-header":"A"}}}}`),
		"in a choice":           property(`{"oneOf":[{"type":"string","x-mcp-header":"A"}]}`),
		"in a condition":        `{"if":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}}`,
		"in a definition":       `{"$defs":{"x":{"type":"string","x-mcp-header":"A"}}}`,
		"written with escapes":  property(`{"type":"number","x-mcp\u002dheader":"A"}`),
		"too deep":              strings.Repeat(`{"not":`, 100) + `{"x-mcp-header":"A"}` + strings.Repeat(`}`, 100),
	} {
		if params, err := Params([]byte(schema)); err == nil {
			t.Errorf("%s: taken for valid, with %v", name, params)
		}
	}
	for _, schema := range []string{"", "null", "true", `{}`, `{"type":"object","properties":null}`, property(`true`), property(`{"enum":["x-mcp-header"]}`)} {
		if _, err := Params([]byte(schema)); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestNumbersAreComparedAsNumbers(t *testing.T) {
	params, err := Params([]byte(annotated))
	if err != nil {
		t.Fatal(err)
	}
	for header, want := range map[string]bool{"42": true, "42.0": true, "4.2e1": true, "43": false, "": false, "x": false} {
		for _, p := range params {
			if p.Header == "Mcp-Param-N" && p.Matches(header, []byte(`{"n":42}`)) != want {
				t.Errorf("42 and a header of %q: want %v", header, want)
			}
		}
	}
}

func TestToolsAreRememberedInBoundedMemory(t *testing.T) {
	var tools Tools
	tool := func(name string) []byte { return []byte(`{"name":"` + name + `","inputSchema":` + annotated + `}`) }
	for range 3 {
		if err := tools.Learn(tool("a")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 30 {
		_ = tools.Learn(tool(strings.Repeat(string(rune('a'+i)), 1<<20)))
	}
	if tools.size > maxToolBytes || len(tools.known) < 2 {
		t.Errorf("%d tools, %d bytes", len(tools.known), tools.size)
	}
	if params, known := tools.Params("a"); !known || len(params) != 3 {
		t.Errorf("the first tool: %v, %v", params, known)
	}
	if tools.Learn([]byte(`{"name":"b","inputSchema":{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}}`)) == nil {
		t.Error("an invalid definition was learned")
	}
	tools.Forget()
	if _, known := tools.Params("a"); known || tools.size != 0 {
		t.Errorf("known %v, size %d after Forget", known, tools.size)
	}
}
