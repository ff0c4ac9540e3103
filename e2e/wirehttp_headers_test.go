package e2e

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
)

// streamFirst and objectFirst are the two ways to say the same.
const (
	streamFirst = "text/event-stream, application/json"
	objectFirst = "application/json, text/event-stream"
)

// post is the request that carries one message.
func (w *httpWire) post(ctx context.Context, line string, m message) *http.Request {
	r := w.newRequest(ctx, http.MethodPost, line, m)
	r.Header.Set("Content-Type", "application/json")
	w.mu.Lock()
	defer w.mu.Unlock()
	w.requests++
	r.Header.Set("Accept", objectFirst)
	if w.requests%2 == 0 {
		r.Header.Set("Accept", streamFirst)
	}
	return r
}

func (w *httpWire) newRequest(ctx context.Context, method, body string, m message) *http.Request {
	r, err := http.NewRequestWithContext(ctx, method, w.url, strings.NewReader(body))
	if err != nil {
		panic(err) // the URL is the proxy's own
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch version := statelessVersion(m); {
	case version != "" || w.session == "" && m.Method != "initialize":
		setStandard(r.Header, m)
	case w.session != "":
		r.Header.Set("Mcp-Session-Id", w.session)
		if w.version >= "2025-06-18" {
			r.Header.Set("MCP-Protocol-Version", w.version)
		}
	}
	return r
}

// statelessVersion is the revision that a message names in itself.
func statelessVersion(m message) string {
	var version string
	_ = json.Unmarshal(at(m.Params, "_meta", "io.modelcontextprotocol/protocolVersion"), &version)
	return version
}

// setStandard sets the headers of revision 2026-07-28 (Streamable HTTP, Request
// Metadata), and for tasks/* that of the extension.
func setStandard(header http.Header, m message) {
	version := statelessVersion(m)
	if version == "" {
		version = "2026-07-28"
	}
	header.Set("MCP-Protocol-Version", version)
	if m.Method != "" {
		header.Set("Mcp-Method", m.Method)
	}
	member := map[string]string{
		"tools/call": "name", "prompts/get": "name", "resources/read": "uri",
		"tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId",
	}[m.Method]
	var name string
	if member != "" && json.Unmarshal(at(m.Params, member), &name) == nil && name != "" {
		header.Set("Mcp-Name", headerValue(name))
	}
}

// headerValue encodes what a header cannot hold (Value Encoding).
func headerValue(s string) string {
	plain := strings.TrimSpace(s) == s && !strings.HasPrefix(s, "=?base64?")
	for _, c := range []byte(s) {
		plain = plain && c >= 0x20 && c <= 0x7e
	}
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}

// opened numbers the stream, and keeps the session that initialize made.
func (w *httpWire) opened(response *http.Response, m message) (stream int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if m.Method == "initialize" && response.StatusCode == http.StatusOK {
		w.session = response.Header.Get("Mcp-Session-Id")
	}
	w.streams++
	return w.streams
}

// welcomed keeps the revision that the answer to initialize names.
func (w *httpWire) welcomed(m message, text string) {
	answer, err := parseMessage(text)
	if m.Method != "initialize" || err != nil || answer.Result == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.version = answer.text("protocolVersion")
}

func isStream(response *http.Response) bool { return mediaType(response) == "text/event-stream" }

func mediaType(response *http.Response) string {
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	return kind
}

// checkObject holds an answer that is one JSON object against what its status
// must be: where a request stands alone, that of its error (2026-07-28,
// Streamable HTTP, Request Metadata; Base Protocol, Error Codes).
func checkObject(response *http.Response, m message, body []byte) error {
	if kind := mediaType(response); kind != "application/json" {
		return fmt.Errorf("status %d with Content-Type %q", response.StatusCode, kind)
	}
	answer, err := parseMessage(string(body))
	want := http.StatusOK
	switch code := answer.code(); {
	case err != nil:
		return fmt.Errorf("no message: %v: %s", err, cut(string(body)))
	case m.Raw == "" || code == -32700:
		want = http.StatusBadRequest
	case statelessVersion(m) == "":
		return nil
	case code == -32601:
		want = http.StatusNotFound
	case code <= -32020 && code >= -32022 || code == -32602:
		want = http.StatusBadRequest
	}
	if response.StatusCode != want {
		return fmt.Errorf("status %d, want %d, for %s", response.StatusCode, want, cut(string(body)))
	}
	return nil
}
