package config

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const everyServerKey = `
url: https://server.example:8443/mcp?tenant=a
headers:
  authorization: {env: UPSTREAM_TOKEN, prefix: "Bearer "}
  X-Key: {file: secrets/key}
  X-Number: 42
forward_headers: [x-tenant, traceparent]
forward_authorization: false
listen: "[::1]:0"
endpoint: /tools/mcp
tls: {cert: tls/cert.pem, key: /etc/key.pem}
auth:
  issuer: https://id.example/
  audience: api://proxy
  jwks_url: http://localhost:9000/keys
  scopes: [mcp.read, "mcp:write"]
  resource: https://proxy.example/tools/mcp
allow_unauthenticated: true
origins: ["https://App.example", "vscode-webview://x:81"]
hosts: [Proxy.example, "[2001:DB8::1]"]
limits: {header_bytes: 16KiB, connections: 10, sessions: 2, session_idle: 1m, header_timeout: 2s}
`

func TestEveryKeyOfServersAndHostsIsRead(t *testing.T) {
	want := Default()
	want.URL = "https://server.example:8443/mcp?tenant=a"
	at := func(line, column int, path string) mistake {
		return mistake{"/etc/p/f.yaml", place{line, column}, path + ": "}
	}
	want.Headers = []Header{
		{"Authorization", secret{env: "UPSTREAM_TOKEN", prefix: "Bearer ", at: at(4, 18, "headers.authorization")}},
		{"X-Key", secret{file: "/etc/p/secrets/key", at: at(5, 10, "headers.X-Key")}},
		{"X-Number", secret{text: "42", at: at(6, 13, "headers.X-Number")}},
	}
	want.ForwardHeaders = []string{"X-Tenant", "Traceparent"}
	want.Listen = Listen{
		Address: "[::1]:0", Endpoint: "/tools/mcp", TLS: TLS{"/etc/p/tls/cert.pem", "/etc/key.pem"},
		Auth: Auth{
			Issuer: "https://id.example/", Audience: "api://proxy", JWKSURL: "http://localhost:9000/keys",
			Scopes: []string{"mcp.read", "mcp:write"}, Resource: "https://proxy.example/tools/mcp",
		},
		AllowUnauthenticated: true,
		Origins:              []string{"https://app.example", "vscode-webview://x:81"},
		Hosts:                []string{"proxy.example", "2001:db8::1"},
		HeaderBytes:          16 << 10, Connections: 10, Sessions: 2, SessionIdle: time.Minute, HeaderTimeout: 2 * time.Second,
	}
	got, err := Parse("/etc/p/f.yaml", []byte(everyServerKey), nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(Header{}, secret{}, mistake{}, place{})); diff != "" {
		t.Error(diff)
	}
}

// The error of each file, to the letter, without the name at its head.
var serverMistakes = []struct{ name, file, want string }{
	{"url with a password", "url: https://u:hunter2@h/", `1:6: url: a name or password does not belong into a URL; remove what stands before the @, and send it with headers or --header`},
	{"url with a fragment", "url: https://h/#hunter2", `1:6: url: what follows # is never sent to a server; remove it`},
	{"url without scheme", "url: server.example/mcp", `1:6: url: this begins with neither http:// nor https://; write the whole address, such as https://server.example/mcp`},
	{"url with a port for a scheme", "url: localhost:8080", `1:6: url: this begins with neither http:// nor https://; write the whole address, such as https://server.example/mcp`},
	{"url of another protocol", "url: wss://h/hunter2", `1:6: url: this begins with neither http:// nor https://; write the whole address, such as https://server.example/mcp`},
	{"url without host", "url: https:///mcp", `1:6: url: the host is missing; write the whole address, such as https://server.example/mcp`},
	{"url with a space", `url: "https://h/a hunter2"`, `1:6: url: a URL has no spaces, line breaks or control characters; write https://server.example/mcp`},
	{"url with a word for a port", "url: https://u:hunter2", `1:6: url: this is not a URL; write https://server.example/mcp`},
	{"url with port 0", "url: https://h:0/", `1:6: url: this is not a URL; write https://server.example/mcp`},
	{"url and command", "command: [x]\nurl: https://h/", `2:6: url: the file names a command, too; keep one, the server that is started or the one that runs elsewhere`},

	{"headers as text", `headers: "Authorization: hunter2"`, `1:10: headers: a mapping belongs here; write names with their values, such as Authorization: {env: UPSTREAM_TOKEN, prefix: "Bearer "}`},
	{"value for a name", "headers: {Bearer hunter2: x}", `1:11: headers: this is not the name of a header; write letters, digits and dashes, such as X-Tenant`},
	{"header of the connection", "headers: {transfer-encoding: chunked}", `1:11: headers: Transfer-Encoding belongs to one connection and is written by the HTTP client; remove it`},
	{"header of the protocol", "headers: {MCP-Session-Id: x}", `1:11: headers: Mcp-Session-Id belongs to the protocol and is written by the proxy; remove it`},
	{"resumption", "headers: {last-event-id: x}", `1:11: headers: Last-Event-Id belongs to the protocol and is written by the proxy; remove it`},
	{"host", "headers: {Host: x}", `1:11: headers: Host is taken from url; remove it`},
	{"header twice", "headers:\n  X-A: a\n  x-a: b", `3:3: headers: X-A is there twice, in other letters; remove one`},
	{"empty value", `headers: {X-A: ""}`, `1:16: headers.X-A: the value is empty; write one, or remove the header`},
	{"no value", "headers:\n  X-A:", `2:3: headers.X-A: there is no value; write text, {env: NAME} or {file: FILE}`},
	{"line break in a value", `headers: {X-A: "hunter2\r\nX-B: c"}`, `1:16: headers.X-A: the value has a line break or another control character; write it on one line`},
	{"variable in a text", `headers: {X-A: "Bearer ${TOKEN}"}`, `1:16: headers.X-A: variables in a text are not read; write {env: NAME, prefix: TEXT}`},
	{"two sources", "headers: {X-A: {env: A, file: b}}", `1:16: headers.X-A: one source belongs here; write {env: NAME} or {file: FILE}`},
	{"no source", "headers: {X-A: {prefix: a}}", `1:16: headers.X-A: one source belongs here; write {env: NAME} or {file: FILE}`},
	{"value in the place of a source", "headers: {X-A: {hunter2: }}", `1:17: headers.X-A: neither env, file nor prefix stands here; write {env: NAME, prefix: TEXT} or {file: FILE, prefix: TEXT}`},
	{"variable with a dollar", "headers: {X-A: {env: $hunter2}}", `1:22: headers.X-A.env: this is not the name of an environment variable; write letters, digits and _, without $`},

	{"forwarded credential", "forward_headers: [authorization]", `1:19: forward_headers: this is a credential of each host; remove it, and write forward_authorization: true if the server is the one to check it`},
	{"forwarded header of the protocol", "forward_headers: [X-A, Mcp-Method]", `1:24: forward_headers: Mcp-Method belongs to the protocol and is written by the proxy; remove it`},
	{"forwarded twice", "forward_headers: [X-A, x-a]", `1:24: forward_headers: "X-A" is there twice; remove one`},
	{"forwarded text", "forward_headers: X-A", `1:18: forward_headers: a list belongs here; write [X-Tenant, traceparent]`},
	{"two credentials", "headers: {authorization: a}\nforward_authorization: true", `2:24: forward_authorization: headers sets Authorization, too; keep one, the credential of each host or your own`},
}

var listenMistakes = []struct{ name, file, want string }{
	{"port only", "listen: 8080", `1:9: listen: "8080" has no host; write 127.0.0.1:8080`},
	{"host only", "listen: localhost", `1:9: listen: "localhost" is not HOST:PORT; write 127.0.0.1:8080 or [::1]:8080 for this machine, 0.0.0.0:8080 for every network`},
	{"star for a host", `listen: "*:8080"`, `1:9: listen: "*:8080" is not HOST:PORT; write 127.0.0.1:8080 or [::1]:8080 for this machine, 0.0.0.0:8080 for every network`},
	{"named port", "listen: localhost:http", `1:9: listen: "localhost:http" has no port from 0 to 65535 at its end; write 127.0.0.1:8080`},
	{"large port", "listen: localhost:65536", `1:9: listen: "localhost:65536" has no port from 0 to 65535 at its end; write 127.0.0.1:8080`},
	{"URL to listen on", "listen: http://localhost:80/mcp", `1:9: listen: "http://localhost:80/mcp" is more than HOST:PORT; write 127.0.0.1:8080, and choose the path with endpoint`},
	{"IPv6 without quotes", "listen: [::1]", `1:9: listen: a list does not belong here; write HOST:PORT, in quotes if it begins with [, such as 127.0.0.1:8080`},

	{"endpoint without slash", "endpoint: mcp", `1:11: endpoint: "mcp" does not begin with /; write a path such as /mcp`},
	{"endpoint with a query", "endpoint: /mcp?a", `1:11: endpoint: "/mcp?a" is not a plain path; write one such as /mcp, without %, ? and #`},
	{"endpoint with a wildcard", `endpoint: "/{x}"`, `1:11: endpoint: "/{x}" is not a plain path; write one such as /mcp, without %, ? and #`},
	{"endpoint with a slash at its end", "endpoint: /mcp/", `1:11: endpoint: "/mcp/" is not the shortest form of the path; write /mcp`},
	{"endpoint of the health check", "endpoint: /healthz", `1:11: endpoint: "/healthz" is used by the proxy itself; write another path, such as /mcp`},
	{"endpoint among metadata", "endpoint: /.well-known/mcp", `1:11: endpoint: "/.well-known/mcp" is used by the proxy itself; write another path, such as /mcp`},

	{"half of tls", "tls: {cert: a.pem}", `1:6: tls: one file is missing; write {cert: FILE, key: FILE}`},
	{"empty file", `tls: {cert: "", key: b}`, `1:13: tls.cert: this is not a file; write a path, or remove the line`},
	{"tokens and issuer", "auth: {tokens: t, issuer: https://i, audience: https://a}", `1:16: auth.tokens: nothing else has an effect beside it; keep tokens alone, or issuer and what belongs to it`},
	{"tokens and scopes", "auth: {tokens: t, scopes: [a]}", `1:16: auth.tokens: nothing else has an effect beside it; keep tokens alone, or issuer and what belongs to it`},
	{"no issuer", "auth: {audience: https://a}", `1:7: auth: nothing says whose tokens count; write {tokens: FILE}, or {issuer: URL, audience: URL}`},
	{"empty auth", "auth: {}", `1:7: auth: nothing says whose tokens count; write {tokens: FILE}, or {issuer: URL, audience: URL}`},
	{"no audience", "auth: {issuer: https://i}", `1:7: auth: without an audience, tokens that were issued for other servers would count; write how they name this one, audience: URL`},
	{"issuer that can be forged", "auth: {issuer: http://i, audience: https://a}", `1:16: auth.issuer: plain http:// is trusted on this machine only; write https://`},
	{"audience that is no URL", "auth: {issuer: https://i, audience: me}", `1:37: auth.audience: this is not a URL; write what the tokens name as this server, such as https://server.example/mcp`},
	{"scopes in one text", `auth: {issuer: https://i, audience: https://a, scopes: ["a b"]}`, `1:57: auth.scopes: "a b" is not one scope; write each by itself, without spaces, quotes and backslashes`},

	{"every origin", `origins: ["*"]`, `1:11: origins: "*" is not a whole origin; write scheme://host or scheme://host:port, such as https://app.example, for each`},
	{"origin with a slash", "origins: [https://a/]", `1:11: origins: "https://a/" is not a whole origin; write scheme://host or scheme://host:port, such as https://app.example, for each`},
	{"origin with its own port", `origins: ["https://a:443"]`, `1:11: origins: "https://a:443": browsers leave out port 443; write https://a`},
	{"opaque origin", `origins: ["null"]`, `1:11: origins: "null" is not a whole origin; write scheme://host or scheme://host:port, such as https://app.example, for each`},
	{"host with a port", `hosts: ["a:80"]`, `1:9: hosts: "a:80" is not a host; write a name such as proxy.example, without scheme and port, for each`},
	{"host with a star", `hosts: ["*.a"]`, `1:9: hosts: "*.a" is not a host; write a name such as proxy.example, without scheme and port, for each`},
	{"empty host", `hosts: [""]`, `1:9: hosts: the name is empty; write one such as proxy.example, or remove it`},

	{"no connection", "limits: {connections: 0}", `1:23: limits.connections: "0" is no number from 1 to 65536; write one, such as 1024`},
	{"endless sessions", "limits: {sessions: many}", `1:20: limits.sessions: "many" is no number from 1 to 4096; write one, such as 64`},
	{"short head", "limits: {header_bytes: 1KiB}", `1:24: limits.header_bytes: "1KiB" is too small; write 4KiB or more, such as 64KiB`},
	{"long head", "limits: {header_bytes: 1GiB}", `1:24: limits.header_bytes: "1GiB" is too large; write 1MiB or less`},
	{"idle without unit", "limits: {session_idle: 10}", `1:24: limits.session_idle: 10 has no unit; write 10s`},
	{"no time for the head", "limits: {header_timeout: 0s}", `1:26: limits.header_timeout: "0s" is too short; write 100ms or more, such as 10s`},
}

func TestMistakesAboutServersAndHosts(t *testing.T) {
	for _, m := range append(serverMistakes, listenMistakes...) {
		t.Run(m.name, func(t *testing.T) { checkMistakes(t, m.file, m.want) })
		if strings.Contains(m.want, "hunter2") {
			t.Errorf("%s: the test itself wants the secret shown", m.name)
		}
	}
}

func TestSecretsAreNotPrinted(t *testing.T) {
	headers, err := ParseHeaders([]string{"Authorization: Bearer hunter2"})
	if err != nil {
		t.Fatal(err)
	}
	c := Config{URL: "https://h.example/hunter2?key=hunter2", Headers: headers, Policy: Default().Policy}
	for _, text := range []string{
		c.String(), fmt.Sprint(c), fmt.Sprintf("%+v", c), fmt.Sprint(headers), fmt.Sprintf("%+v %#v %q", headers, headers, headers), c.stateName("/d"),
	} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("printed: %s", text)
		}
	}
	if !strings.Contains(c.String(), "url https://h.example; headers [Authorization]") {
		t.Errorf("%v", c)
	}
}
