package upstream

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Every fault is met by a call, which must be sent once, and by a read after
// it, which shows that the fault is the request's alone.
func TestAFaultFailsTheRequestWithWhatIsKnownOfIt(t *testing.T) {
	const limit = 10_000
	for name, c := range map[string]struct {
		answer  handler
		reason  string
		outcome Outcome
		says    string
	}{
		"500":               {plain(500, "text/plain", "boom at line 7"), "upstream_http", Unknown, "boom at line 7"},
		"502":               {plain(502, "text/html", "<h1>Bad Gateway</h1>"), "upstream_http", Unknown, "502"},
		"504":               {plain(504, "text/html", ""), "upstream_http", Unknown, "504"},
		"503":               {plain(503, "text/plain", "upstream connect error or disconnect/reset before headers"), "upstream_http", Unknown, "503"},
		"503 with a time":   {laterAfter("5"), "upstream_http", NotDispatched, "try later"},
		"401":               {plain(401, "text/plain", "expired"), "upstream_unauthorized", NotDispatched, "No Authorization was sent"},
		"403":               {plain(403, "text/plain", "not you"), "upstream_unauthorized", NotDispatched, "not you"},
		"404":               {plain(404, "text/plain", "gone"), "upstream_http", NotDispatched, "404"},
		"405":               {plain(405, "text/plain", ""), "upstream_http", NotDispatched, "405"},
		"408":               {plain(408, "text/plain", ""), "upstream_http", Unknown, "408"},
		"415":               {plain(415, "text/plain", ""), "upstream_http", NotDispatched, "415"},
		"429":               {plain(429, "text/plain", "slow down"), "upstream_http", NotDispatched, "slow down"},
		"HTML with 200":     {plain(200, "text/html", "<html>log in</html>"), "upstream_http", Unknown, "text/html"},
		"nothing with 200":  {plain(200, "application/json", ""), "upstream_http", Unknown, "nothing"},
		"202 to a request":  {plain(202, "", ""), "upstream_http", Unknown, "202"},
		"half JSON":         {plain(200, "application/json", `{"jsonrpc":"2.0","id":1,"res`), "upstream_invalid", Unknown, "no response"},
		"another id":        {answerJSON(200, `{"jsonrpc":"2.0","id":99,"result":{}}`), "upstream_invalid", Unknown, "no response"},
		"body cut":          {cutBody, "upstream_stream_cut", Unknown, "cut its answer off"},
		"body too long":     {plain(200, "application/json", `{"jsonrpc":"2.0","id":1,"result":"`+strings.Repeat("x", limit)+`"}`), "too_large", Done, "10000"},
		"body without end":  {endless, "too_large", Done, "10000"},
		"event too long":    {sse(`data: {"jsonrpc":"2.0","id":$ID,"result":"` + strings.Repeat("x", limit) + "\"}\n\n"), "too_large", Done, "10000"},
		"half an event":     {sse(`data: {"jsonrpc":"2.0","id":$ID,"result":{}}` + "\n"), "upstream_stream_cut", Unknown, "before it was complete"},
		"stream of nothing": {sse(": hello\n\n"), "upstream_stream_cut", Unknown, "before it was complete"},
		"stream cut":        {cutStream, "upstream_stream_cut", Unknown, "before it was complete"},
		"no answer at all":  {hangUp, "upstream_stream_cut", Unknown, "without an answer"},
		"no HTTP":           {speakGarbage, "upstream_stream_cut", Unknown, "without an answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := modern(t, map[string]handler{"tools/call": c.answer})
			client := dial(t, server.URL, func(o *Options) { o.MessageBytes = limit })
			ask(t, client, "tools/list", `{}`)
			err := send(t, client, "tools/call", `{"name":"run"}`, nil).wantError(c.reason, c.outcome)
			if !strings.Contains(err.Text, c.says) || !strings.Contains(err.Text, c.outcome.Sentence()) {
				t.Errorf("the text does not say %q and what to do: %s", c.says, err.Text)
			}
			server.expect("tools/call", 1)
			ask(t, client, "tools/list", `{}`)
		})
	}
}

func laterAfter(seconds string) handler {
	return func(w http.ResponseWriter, v visit) {
		w.Header().Set("Retry-After", seconds)
		plain(http.StatusServiceUnavailable, "text/plain", "try later")(w, v)
	}
}

func cutBody(w http.ResponseWriter, _ visit) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, `{"jsonrpc":"2.0"`)
}

func cutStream(w http.ResponseWriter, _ visit) {
	openStream(w).send("data: {}\n\n")
	panic(http.ErrAbortHandler)
}

func hangUp(http.ResponseWriter, visit) { panic(http.ErrAbortHandler) }

func speakGarbage(w http.ResponseWriter, _ visit) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.6\r\n")
		conn.Close()
	}
}

func endless(w http.ResponseWriter, v visit) {
	w.Header().Set("Content-Type", "application/json")
	for chunk := []byte(strings.Repeat("[", 1000)); v.request.Context().Err() == nil; {
		if _, err := w.Write(chunk); err != nil {
			return
		}
	}
}

func TestAServerThatIsGoneIsSaidToHaveGotNothing(t *testing.T) {
	server := modern(t, nil)
	client := dial(t, server.URL, nil)
	ask(t, client, "tools/list", `{}`)
	server.CloseClientConnections()
	server.Close()
	err := send(t, client, "tools/call", `{"name":"run"}`, nil).wantError("upstream_unreachable", NotDispatched)
	if !strings.Contains(err.Text, "connection refused") {
		t.Errorf("the text does not say why: %s", err.Text)
	}
}

func TestAHostThatCannotBeFoundIsSaidToHaveGotNothing(t *testing.T) {
	client := dial(t, "http://no-such-host.invalid/mcp", nil)
	send(t, client, "tools/call", `{"name":"run"}`, nil).wantError("upstream_unreachable", NotDispatched)
}

func TestACertificateThatNobodyVouchesForIsAFailureToReach(t *testing.T) {
	server := modern(t, nil)
	server.Close()
	server.Server = newTLS(t, server, nil)
	server.Config.ErrorLog = quietLog
	err := send(t, dial(t, server.URL, nil), "tools/call", `{"name":"run"}`, nil).wantError("upstream_unreachable", NotDispatched)
	if !strings.Contains(err.Text, "certificate") {
		t.Errorf("the text does not say why: %s", err.Text)
	}
}

func TestASlowServerIsWaitedFor(t *testing.T) {
	release := make(chan struct{})
	server := modern(t, map[string]handler{"tools/call": func(w http.ResponseWriter, v visit) {
		<-release
		result(`{"content":[]}`)(w, v)
	}})
	client := dial(t, server.URL, nil)
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	server.await("tools/call", 1)
	select {
	case <-call.answer:
		t.Error("the call ended before its answer")
	case <-time.After(200 * time.Millisecond):
	}
	close(release)
	call.result()
}

func TestAnUnauthorizedRequestSaysWhoseCredentialsWereRefused(t *testing.T) {
	for name, c := range map[string]struct{ configured, forwarded, want string }{
		"nobody's":       {"", "", "No Authorization was sent"},
		"the client's":   {"", "Bearer client", "the client's own request"},
		"the proxy's":    {"Bearer proxy", "", "the proxy's configuration"},
		"the proxy wins": {"Bearer proxy", "Bearer client", "the proxy's configuration"},
	} {
		t.Run(name, func(t *testing.T) {
			server := modern(t, map[string]handler{"tools/call": plain(401, "text/plain", "")})
			client := dial(t, server.URL, func(o *Options) { o.Header = authorization(c.configured) })
			err := send(t, client, "tools/call", `{"name":"run"}`, func(r *Request) { r.Header = authorization(c.forwarded) }).
				wantError("upstream_unauthorized", NotDispatched)
			if !strings.Contains(err.Text, c.want) || err.Status != 401 {
				t.Errorf("status %d; the text lacks %q: %s", err.Status, c.want, err.Text)
			}
			if got := server.expect("tools/call", 1)[0].header("Authorization"); c.configured != "" && got != c.configured {
				t.Errorf("the server got %q", got)
			}
		})
	}
}

func authorization(value string) http.Header {
	if value == "" {
		return nil
	}
	return http.Header{"Authorization": {value}}
}

func TestAHeaderThatHTTPDoesNotAllowIsNamedAndNotShown(t *testing.T) {
	for _, header := range []http.Header{{"X-Token": {"a\r\nX-Other: b-value"}}, {"X-Token": {"b-value\x00"}}, {"X Token": {"b-value"}}} {
		server := modern(t, nil)
		client := dial(t, server.URL, func(o *Options) { o.Header = header })
		err := send(t, client, "tools/list", `{}`, nil).wantError("upstream_start", NotDispatched)
		if !strings.Contains(err.Text, "Token") || strings.Contains(err.Text, "b-value") {
			t.Errorf("the text should name the header and keep its value: %s", err.Text)
		}
	}
}

func TestHeadersOfOneConnectionAreNotForwarded(t *testing.T) {
	server := modern(t, nil)
	ask(t, dial(t, server.URL, nil), "tools/list", `{}`)
	client := dial(t, server.URL, nil)
	send(t, client, "tools/list", `{}`, func(r *Request) {
		r.Header = http.Header{"Accept": {"text/html"}, "mcp-method": {"x"}, "Mcp-Param-A": {"x"}, "Mcp-Session-Id": {"x"}, "Last-Event-Id": {"x"},
			"Connection": {"close"}, "Transfer-Encoding": {"gzip"}, "Content-Length": {"1"}, "Traceparent": {"00-1-2-00"}}
	}).result()
	visits := server.expect("tools/list", 2)
	plain, forwarded := visits[0].request.Header, visits[1].request.Header
	if forwarded.Get("Traceparent") != "00-1-2-00" {
		t.Error("traceparent was not forwarded")
	}
	forwarded.Del("Traceparent")
	for name := range forwarded {
		if forwarded.Get(name) != plain.Get(name) && name != "Content-Length" {
			t.Errorf("%s is %q, without forwarding %q", name, forwarded.Get(name), plain.Get(name))
		}
	}
}

func TestACallThatIsClosedUponSaysSo(t *testing.T) {
	server := modern(t, map[string]handler{"tools/call": hang})
	client := dial(t, server.URL, nil)
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	server.await("tools/call", 1)
	doing(t, "Close", func() { client.Close(t.Context()) })
	call.wantError("shutdown", Unknown)
	send(t, client, "tools/list", `{}`, nil).wantError("shutdown", NotDispatched)
}

func TestCloseDoesNotWaitForAServerThatIsStuck(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") // it accepts, and that is all
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	client := dial(t, "http://"+listener.Addr().String(), func(o *Options) { o.ProbeWait = 10 * time.Millisecond })
	call := send(t, client, "tools/call", `{"name":"run"}`, nil)
	doing(t, "Close", func() { client.Close(t.Context()) })
	call.wantError("shutdown", NotDispatched)
}
