package rawmcp

import (
	"encoding/json"
	"slices"
)

// askParams is the question that ask puts.
const askParams = `{"mode":"form","message":"Go on?","requestedSchema":{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}}`

func askMethod(c *call) string {
	if method := text(member(c.args, "method")); method != "" {
		return method
	}
	return "elicitation/create"
}

// changeParams is the params of a change notification; meta is a member or empty.
func changeParams(uri, meta string) string {
	if uri == "" {
		return `{` + meta + `}`
	}
	if meta != "" {
		meta = "," + meta
	}
	return `{"uri":` + quote(uri) + meta + `}`
}

// wants says whether the filter of a listen asked for this notification.
func wants(filter json.RawMessage, method, uri string) bool {
	var f struct {
		ToolsListChanged, PromptsListChanged, ResourcesListChanged bool
		ResourceSubscriptions                                      []string
	}
	_ = json.Unmarshal(filter, &f)
	switch method {
	case "notifications/tools/list_changed":
		return f.ToolsListChanged
	case "notifications/prompts/list_changed":
		return f.PromptsListChanged
	case "notifications/resources/list_changed":
		return f.ResourcesListChanged
	}
	return slices.Contains(f.ResourceSubscriptions, uri)
}
