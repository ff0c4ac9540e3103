package main

import (
	"context"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tools of this file return questions instead of results until they are
// answered. The SDK puts them into an input_required result in the stateless
// era, and into requests to the client in the initialize era.

type deletion struct {
	Filename string `json:"filename,omitempty"`
}

func confirmDelete(_ context.Context, req *mcp.CallToolRequest, in deletion) (*mcp.CallToolResult, any, error) {
	answer := answered(req, "confirm")
	if answer == nil {
		return ask(mcp.InputRequestMap{"confirm": question("Delete "+in.Filename+"?", "confirm", "boolean")}), nil, nil
	}
	if yes, _ := answer["confirm"].(bool); yes {
		return text("deleted %q", in.Filename), nil, nil
	}
	return text("kept %q", in.Filename), nil, nil
}

func multiInput(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
	name, confirm := answered(req, "name"), answered(req, "confirm")
	if name == nil || confirm == nil {
		return ask(mcp.InputRequestMap{
			"name":    question("Who asks?", "name", "string"),
			"confirm": question("Go on?", "confirm", "boolean"),
		}), nil, nil
	}
	return text("name %v, confirmed %v", name["name"], confirm["confirm"]), nil, nil
}

func nameThenWork(ctx context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
	answer := answered(req, "user_name")
	if answer == nil {
		return ask(mcp.InputRequestMap{"user_name": question("What is your name?", "name", "string")}), nil, nil
	}
	if err := work(ctx, 0.3); err != nil {
		return nil, nil, err
	}
	return text("Hello, %v! The work is done.", answer["name"]), nil, nil
}

// askTwice gives both questions the same key, as a server may that is asked anew each time.
func askTwice(_ context.Context, req *mcp.CallToolRequest, _ any) (*mcp.CallToolResult, any, error) {
	answer := answered(req, "answer")
	switch {
	case answer == nil:
		return ask(mcp.InputRequestMap{"answer": question("The first answer?", "first", "string")}), nil, nil
	case req.Params.RequestState != "second":
		again := ask(mcp.InputRequestMap{"answer": question("The second answer?", "second", "string")})
		again.RequestState = "second"
		return again, nil, nil
	}
	return text("the second answer is %v", answer["second"]), nil, nil
}

func ask(questions mcp.InputRequestMap) *mcp.CallToolResult {
	return &mcp.CallToolResult{InputRequests: questions}
}

// question asks for one field of a form.
func question(message, field, kind string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: &jsonschema.Schema{
		Type: "object", Required: []string{field},
		Properties: map[string]*jsonschema.Schema{field: {Type: kind}},
	}}
}

// answered is the form that came back: nil if none did, empty if it was declined.
func answered(req *mcp.CallToolRequest, key string) map[string]any {
	answer, ok := req.Params.InputResponses[key].(*mcp.ElicitResult)
	if !ok || answer == nil {
		return nil
	}
	if answer.Action != "accept" || answer.Content == nil {
		return map[string]any{}
	}
	return answer.Content
}
