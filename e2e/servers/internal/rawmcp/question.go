package rawmcp

import (
	"encoding/json"
	"fmt"
	"strings"
)

// question is one that a quiz asks. In JSON it is "KIND" or "KIND:KEY", where
// KIND is one of kinds, or an object with its members.
type question struct {
	Key    string
	Method string
	Params json.RawMessage
}

const form = `"requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}`

// kinds are the questions that have a name; $KEY stands for the key.
var kinds = map[string]question{
	"form":    {Method: "elicitation/create", Params: []byte(`{"mode":"form","message":"$KEY?",` + form + `,"x-odd":1.0}`)},
	"bare":    {Method: "elicitation/create", Params: []byte(`{"message":"$KEY?",` + form + `}`)},
	"url":     {Method: "elicitation/create", Params: []byte(`{"mode":"url","message":"$KEY?","url":"https://example.com/$KEY","elicitationId":"id-$KEY"}`)},
	"link":    {Method: "elicitation/create", Params: []byte(`{"mode":"url","message":"$KEY?","url":"https://example.com/$KEY"}`)},
	"sample":  {Method: "sampling/createMessage", Params: []byte(`{` + prompt + `}`)},
	"tooled":  {Method: "sampling/createMessage", Params: []byte(`{` + prompt + `,"tools":[{"name":"t","inputSchema":{"type":"object"}}]}`)},
	"chosen":  {Method: "sampling/createMessage", Params: []byte(`{` + prompt + `,"toolChoice":{"mode":"auto"}}`)},
	"context": {Method: "sampling/createMessage", Params: []byte(`{` + prompt + `,"includeContext":"thisServer"}`)},
	"roots":   {Method: "roots/list", Params: []byte(`{}`)},
}

const prompt = `"messages":[{"role":"user","content":{"type":"text","text":"$KEY?"}}],"maxTokens":10`

func (q *question) UnmarshalJSON(data []byte) error {
	type plain question
	if data[0] == '{' {
		return json.Unmarshal(data, (*plain)(q))
	}
	name, key, named := strings.Cut(text(data), ":")
	kind, ok := kinds[name]
	if !ok {
		return fmt.Errorf("no such question: %s", data)
	}
	if !named {
		key = name
	}
	*q = question{key, kind.Method, []byte(strings.ReplaceAll(string(kind.Params), "$KEY", key))}
	return nil
}

// paramsFor puts the caller's progress token where the params have $TOKEN.
func (q question) paramsFor(c *call) string {
	return strings.ReplaceAll(string(q.Params), `"$TOKEN"`, string(c.token))
}

// rounds are the questions of the call: one form if it names none.
func (c *call) rounds() ([][]question, error) {
	rounds := member(c.args, "rounds")
	if rounds == nil {
		rounds = []byte(`[["form"]]`)
	}
	var all [][]question
	err := json.Unmarshal(rounds, &all)
	return all, err
}
