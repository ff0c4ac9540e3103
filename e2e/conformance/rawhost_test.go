package conformance

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/e2e/schema"
)

// What a request of revision 2026-07-28 may declare: nothing, forms and the Tasks
// extension, or the tasks capability of revision 2025-11-25 alone.
const (
	undeclared = `{}`
	declared   = `{"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`
	legacy     = `{"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}}`
)

// rawHost speaks revision 2026-07-28 over HTTP, one exact message a POST. The
// test's goroutine uses it; what it receives is held against the schemas.
type rawHost struct {
	t     *testing.T
	url   string
	judge schema.Judge
	ids   int
}

// answer is a message that came: a response or a notification.
type answer struct {
	Raw            json.RawMessage `json:"-"`
	ID             json.RawMessage `json:"id"`
	Method         string          `json:"method"`
	Params, Result json.RawMessage
	Error          *struct {
		Code    int
		Message string
		Data    json.RawMessage
	}
}

// ask sends a request whose params, a JSON object, lack _meta, and returns the
// response, passing over what comes on its stream before.
func (h *rawHost) ask(method, params, capabilities string) answer {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	for m, err := range h.stream(ctx, method, params, capabilities) {
		if err != nil {
			h.t.Fatalf("%s: %v", method, err)
		}
		if m.Method == "" {
			return m
		}
	}
	h.t.Fatalf("%s: the stream ended without a response", method)
	return answer{}
}

// stream sends a request and yields the messages of its answer, until the
// response, an error, or the end of ctx.
func (h *rawHost) stream(ctx context.Context, method, params, capabilities string) func(func(answer, error) bool) {
	h.ids++
	meta := fmt.Sprintf(`{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}`, capabilities)
	if params != "{}" {
		meta += ","
	}
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s%s}`, h.ids, method, meta, params[1:])
	h.judge.Sent([]byte(line))
	return func(yield func(answer, error) bool) {
		response, err := h.post(ctx, method, nameIn(params), line)
		if err != nil {
			yield(answer{}, err)
			return
		}
		defer response.Body.Close()
		h.each(response, yield)
	}
}

// each takes a JSON object as a stream of one message.
func (h *rawHost) each(response *http.Response, yield func(answer, error) bool) {
	in := bufio.NewReader(response.Body)
	if !strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		body, err := io.ReadAll(in)
		yield(h.parse(body, errors.Join(err, statusError(response, body))))
		return
	}
	for {
		line, err := in.ReadString('\n')
		if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data:"); ok && data != "" {
			if !yield(h.parse([]byte(data), nil)) {
				return
			}
		}
		if err != nil {
			if !errors.Is(err, io.EOF) {
				yield(answer{}, err)
			}
			return
		}
	}
}

func (h *rawHost) parse(raw []byte, err error) (answer, error) {
	m := answer{Raw: raw}
	if err == nil {
		err = json.Unmarshal(raw, &m)
	}
	if err == nil {
		err = h.judge.Received(raw)
	}
	return m, err
}

// statusError wants a message with every status: refusals carry one too.
func statusError(response *http.Response, body []byte) error {
	if json.Valid(body) {
		return nil
	}
	return fmt.Errorf("%s: %s", response.Status, tail(body))
}

func (h *rawHost) post(ctx context.Context, method, name, line string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, strings.NewReader(line))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	request.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	request.Header.Set("Mcp-Method", method)
	if name != "" {
		request.Header.Set("Mcp-Name", name)
	}
	return http.DefaultClient.Do(request)
}

// notify posts a notification, which is accepted or refused as the server likes.
func (h *rawHost) notify(method, params string) {
	h.t.Helper()
	response, err := h.post(h.t.Context(), method, "", fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
	if err != nil {
		h.t.Fatal(err)
	}
	_ = response.Body.Close()
}

// nameIn is what Mcp-Name says: the tool, the prompt, or the task.
func nameIn(params string) string {
	var p struct{ Name, URI, TaskID string }
	_ = json.Unmarshal([]byte(params), &p)
	return p.Name + p.URI + p.TaskID
}
