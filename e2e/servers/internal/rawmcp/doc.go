// Package rawmcp is an MCP server over stdio written by hand, without an SDK,
// so that a test decides every byte that the server says. It exists in both
// eras: [ServeInitialize] speaks the revisions that open with initialize,
// [ServeStateless] speaks 2026-07-28 alone. What they share, tools, prompts,
// resources and misbehaviour, is here; what differs is in initialize.go and
// stateless.go, which mirror each other.
//
// Start reading at serve.go; tools.go and waiting.go hold the tools that the
// tests call, quiz.go the one that asks its caller, in each era's way.
package rawmcp
