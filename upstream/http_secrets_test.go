package upstream

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func TestCredentialsReachNeitherLogsNorErrors(t *testing.T) {
	const ours, theirs = "Bearer configured-secret", "forwarded-secret"
	echo := func(status int) handler {
		return func(w http.ResponseWriter, v visit) {
			var all bytes.Buffer
			_ = v.request.Header.Write(&all)
			plain(status, "text/plain", "Cannot POST "+v.request.RequestURI+": "+all.String()+" and configured-secret")(w, v)
		}
	}
	server := modern(t, map[string]handler{"tools/call": echo(500), "prompts/get": echo(401), "resources/read": echo(200)})
	var log bytes.Buffer
	client := New(Options{
		URL: server.URL + "/v1/path-secret-of%20length/mcp?key=url-secret", Header: http.Header{"Authorization": {ours}}, Log: zerolog.New(zerolog.SyncWriter(&log)), LogPayloads: true,
		Hello: Hello{Era: Stateless},
	})
	var texts []string
	for _, method := range []string{"tools/call", "prompts/get", "resources/read"} {
		_, err := send(t, client, method, `{"name":"run"}`, func(r *Request) { r.Header = http.Header{"X-Api-Key": {theirs}} }).wait()
		if err == nil {
			t.Fatalf("%s was answered", method)
		}
		texts = append(texts, err.Text, err.Body, string(err.Wire().JSON()))
	}
	client.Close(t.Context())
	if got := server.expect("tools/call", 1)[0]; got.header("Authorization") != ours || got.header("X-Api-Key") != theirs {
		t.Errorf("the server got %q and %q", got.header("Authorization"), got.header("X-Api-Key"))
	}
	for _, text := range append(texts, log.String()) {
		if strings.Contains(text, "secret") {
			t.Errorf("a secret has come out: %s", text)
		}
	}
}

// The server's own errors are not the only ones that could name the URL.
func TestNoErrorNamesMoreOfTheURLThanTheServer(t *testing.T) {
	server := modern(t, map[string]handler{
		"tools/call": redirect(307, "http://elsewhere.invalid/path-secret"), "prompts/get": redirect(303, "/path-secret/x"),
		"resources/read": hangUp, "server/discover": plain(404, "text/plain", "no /path-secret/mcp here"),
	})
	client := dial(t, server.URL+"/path-secret/mcp", nil)
	greeting := send(t, client, "tools/list", `{}`, nil).wantError("upstream_start", NotDispatched)
	server.on("server/discover", result(`{"supportedVersions":["2026-07-28"],"capabilities":{}}`))
	texts := []string{greeting.Text}
	for _, method := range []string{"tools/call", "prompts/get", "resources/read"} {
		_, err := send(t, client, method, `{"name":"run"}`, nil).wait()
		texts = append(texts, err.Text)
	}
	server.CloseClientConnections()
	server.Close()
	texts = append(texts, send(t, client, "tools/list", `{}`, nil).wantError("upstream_unreachable", NotDispatched).Text)
	for _, text := range texts {
		if strings.Contains(text, "secret") || text != greeting.Text && !strings.Contains(text, server.URL) {
			t.Errorf("the text should name the server and no more: %s", text)
		}
	}
}

// What is no message over HTTP may be a result that went wrong.
func TestABrokenResultIsNotLogged(t *testing.T) {
	const secret = "the patient's name"
	server := modern(t, map[string]handler{"tools/call": plain(200, "application/json", `{"id":1,"result":{"content":"`+secret+`"}}`)})
	var log bytes.Buffer
	client := dial(t, server.URL, func(o *Options) { o.Log = zerolog.New(zerolog.SyncWriter(&log)) })
	send(t, client, "tools/call", `{"name":"run"}`, nil).wait()
	client.Close(t.Context())
	if !strings.Contains(log.String(), `"bytes":`) || strings.Contains(log.String(), secret) {
		t.Errorf("the log should have the length and nothing else of the result: %s", log.String())
	}
}
