package e2e

import (
	"strings"
	"testing"
)

const (
	tooOpen = "mcp-taskproxy: listening on 0.0.0.0:0, which other machines can reach, and nothing says who may call tools there; " +
		"name a file of tokens with --tokens, or an issuer under auth, or listen on 127.0.0.1, or add --allow-unauthenticated if something else protects it"
	notURL   = "this begins with neither http:// nor https://; write the whole address, such as https://server.example/mcp"
	noHeader = "there is no colon; write 'Name: value'"
)

// The secret in these must not come back: see TestWrongInvocationsKeepSecrets.
var refusedHTTP = []invocation{
	{name: "address and command", Args: []string{"--url", "https://h/", "--", "x"},
		Want: "mcp-taskproxy: both --url and a command after -- are given; keep --url for a server that runs elsewhere, or the command for one to start"},
	{name: "command over the variable's address", Args: []string{"--", "no-such-program"}, Env: []string{"MCP_TASKPROXY_URL=hunter2"},
		Want: `mcp-taskproxy: command "no-such-program" is not in PATH; install it, or write its whole path`},
	{name: "command over the file's address", Args: []string{"--config", "FILE", "--", "no-such-program"}, File: "url: https://h/",
		Want: `mcp-taskproxy: command "no-such-program" is not in PATH; install it, or write its whole path`},
	{name: "address over the file's command", Args: []string{"--config", "FILE", "--url", "https://h/", "--listen", "0.0.0.0:0"}, File: "command: [no-such-program]", Want: tooOpen},
	{name: "variable's address over the file's command", Args: []string{"--config", "FILE", "--listen", "0.0.0.0:0"}, Env: []string{"MCP_TASKPROXY_URL=https://h/"},
		File: "command: [no-such-program]", Want: tooOpen},
	{name: "flag over variable", Args: []string{"--url", "hunter2"}, Env: []string{"MCP_TASKPROXY_URL=https://h/"}, Want: "mcp-taskproxy: --url: " + notURL},
	{name: "address without scheme in a variable", Env: []string{"MCP_TASKPROXY_URL=hunter2"}, Want: "mcp-taskproxy: MCP_TASKPROXY_URL: " + notURL},
	{name: "address with a password", Args: []string{"--url", "https://u:hunter2@h/"},
		Want: "mcp-taskproxy: --url: a name or password does not belong into a URL; remove what stands before the @, and send it with headers or --header"},

	{name: "header without colon", Args: []string{"--url", "https://h/", "--header", "hunter2"}, Want: "mcp-taskproxy: --header: " + noHeader},
	{name: "header that the shell parted", Args: []string{"--url", "https://h/", "--header", "Authorization:", "hunter2"},
		Want: "mcp-taskproxy: a word stands alone in front of --; write a header in quotes, --header 'Name: value', and the server's command after --"},
	{name: "header of the protocol", Args: []string{"--url", "https://h/", "--header", "mcp-session-id: hunter2"},
		Want: "mcp-taskproxy: --header: Mcp-Session-Id belongs to the protocol and is written by the proxy; remove it"},
	{name: "second line of the variable", Args: []string{"--url", "https://h/"}, Env: []string{"MCP_TASKPROXY_HEADER=X-A: a, b\nhunter2"},
		Want: "mcp-taskproxy: MCP_TASKPROXY_HEADER: " + noHeader},
	{name: "two headers of one name", Args: []string{"--url", "https://h/", "--header", "X-A: hunter2", "--header", "x-a: b"},
		Want: "mcp-taskproxy: --header: X-A is there twice; remove one, or join the values with a comma"},
	{name: "secret that is not there", Args: []string{"--config", "FILE"}, File: "url: https://h/\nheaders: {X-A: {env: NO_SUCH_VARIABLE}}",
		Want: "FILE:2:16: headers.X-A: the environment variable NO_SUCH_VARIABLE is not set; set it for the proxy, which in a host's configuration is its own list of variables"},
	{name: "two credentials", Args: []string{"--config", "FILE", "--header", "Authorization: hunter2"}, File: "url: https://h/\nforward_authorization: true",
		Want: "mcp-taskproxy: forward_authorization and a header Authorization of your own exclude each other; remove one"},

	{name: "listening for everybody", Args: []string{"--url", "https://h/", "--listen", "0.0.0.0:0"}, Want: tooOpen},
	{name: "listening for everybody without a server, and with half of TLS", Args: []string{"--listen", "0.0.0.0:0", "--tls-cert", "a"},
		Want: noServer + "\n" + tooOpen + "\nmcp-taskproxy: one file for TLS is missing; write both --tls-cert FILE and --tls-key FILE"},
	{name: "not even meant by the variable", Args: []string{"--url", "https://h/", "--listen", "0.0.0.0:0"}, Env: []string{"MCP_TASKPROXY_ALLOW_UNAUTHENTICATED=false"}, Want: tooOpen},
	{name: "meant by the file, taken back by the flag", Args: []string{"--config", "FILE", "--allow-unauthenticated=false"},
		File: "url: https://h/\nlisten: 0.0.0.0:0\nallow_unauthenticated: true", Want: tooOpen},
	{name: "port only", Args: []string{"--listen", "8080"}, Want: `mcp-taskproxy: --listen: "8080" has no host; write 127.0.0.1:8080`},
	{name: "endpoint of a health check", Env: []string{"MCP_TASKPROXY_ENDPOINT=/readyz"},
		Want: `mcp-taskproxy: MCP_TASKPROXY_ENDPOINT: "/readyz" is used by the proxy itself; write another path, such as /mcp`},
	{name: "no path of tokens", Args: []string{"--tokens="}, Want: "mcp-taskproxy: --tokens: the path is empty; write one"},
	{name: "TLS files that are none", Args: []string{"--url", "https://h/", "--listen", "127.0.0.1:0", "--tls-cert", "FILE", "--tls-key", "FILE"},
		Want: `mcp-taskproxy: FILE and FILE cannot serve TLS (tls: failed to find any PEM data in certificate input); write the PEM files of a certificate chain and of its private key`},
}

func TestWrongInvocationsKeepSecrets(t *testing.T) {
	for _, c := range refusedHTTP {
		t.Run(c.name, func(t *testing.T) {
			if strings.Contains(c.Want, "hunter2") {
				t.Error("the test itself wants the secret shown")
			}
			checkRefused(t, c)
		})
	}
}

func TestConfigCheckSaysWhatTheFileLeavesOpen(t *testing.T) {
	file := "url: https://h.example/hunter2\nheaders: {Authorization: hunter2}\nlisten: 0.0.0.0:1\ntls: {cert: a, key: b}\nforward_authorization: false"
	stderr, status := invoke(t, invocation{Args: []string{"config", "check", "FILE"}, File: file})
	ok, notes, _ := strings.Cut(stderr, "\n")
	if status != 0 || !strings.HasPrefix(ok, "FILE: ok: ") || strings.Contains(stderr, "hunter2") ||
		!strings.HasSuffix(ok, "; url https://h.example; headers [Authorization]; listen 0.0.0.0:1, endpoint /mcp, tls, no auth") {
		t.Errorf("status %d, %q", status, stderr)
	}
	if !strings.HasPrefix(notes, "FILE: note: this file alone is refused: listening on 0.0.0.0:1, ") || strings.Contains(notes, "\n") {
		t.Errorf("notes %q", notes)
	}
}
