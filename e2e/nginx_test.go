package e2e

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The configuration in examples/nginx, run by the real nginx: whatever belongs
// to one of two proxies reaches that one, whoever asks.
func TestNginxBringsTasksAndSessionsToTheirNode(t *testing.T) {
	t.Parallel()
	nodes := map[string]*listening{}
	for _, node := range []string{"a", "b"} {
		p, _ := proxyAround(t, "legacy")
		p.Config = fmt.Sprintf("node: %s\ntask: always\n", node)
		nodes[node] = p.listen(t)
	}
	front := startNginx(t, nodes["a"].port(), nodes["b"].port())
	tasks := map[string]string{} // by node
	for n := 0; len(tasks) < 2 && n < 100; n++ {
		id := front.do(t, asClient(n, "tools/call", `{"name":"release","arguments":{}}`)).text("taskId")
		node, _, _ := strings.Cut(id, "-")
		tasks[node] = id
	}
	if tasks["a"] == "" || tasks["b"] == "" {
		t.Fatalf("the clients' tasks were spread so: %v", tasks)
	}
	for node, id := range tasks {
		for n := range 10 { // clients of either node
			got := front.do(t, asClient(n, "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)))
			if got.text("taskId") != id {
				t.Errorf("client %d asks for the task of node %s: %s", n, node, cut(got.Body))
			}
		}
	}
	for range 4 {
		id := front.openSession(t)
		listed := front.do(t, rawRequest{Body: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, Header: inSession(id)})
		if node, _, _ := strings.Cut(id, "-"); nodes[node] == nil || listed.Status != http.StatusOK {
			t.Errorf("session %s: status %d, %s", id, listed.Status, cut(listed.Body))
		}
	}
}

// asClient is a request of one of several clients, which differ in what they
// send as Authorization.
func asClient(n int, method, params string) rawRequest {
	return rawRequest{
		Body:   stateless{Tasks: true}.request("1", method, params),
		Header: http.Header{"Authorization": {fmt.Sprintf("Bearer %d", n)}},
	}
}

// port is where the proxy listens.
func (l *listening) port() string {
	_, port, _ := net.SplitHostPort(strings.TrimSuffix(strings.TrimPrefix(l.url, "http://"), "/mcp"))
	return port
}

// startNginx runs the example with other ports.
func startNginx(t *testing.T, a, b string) *listening {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if os.Getenv("CI") == "" {
			t.Skip("nginx is not installed; it is in the Debian package nginx-light, which .ci/run installs")
		}
		t.Fatal(err)
	}
	example, err := os.ReadFile("../examples/nginx/nginx.conf")
	if err != nil {
		t.Fatal(err)
	}
	dir, front := t.TempDir(), freePort(t)
	conf := strings.NewReplacer("127.0.0.1:8080", "127.0.0.1:"+front, "127.0.0.1:8081", "127.0.0.1:"+a, "127.0.0.1:8082", "127.0.0.1:"+b).Replace(string(example))
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	l := &listening{url: "http://127.0.0.1:" + front + "/mcp"}
	l.host = startHost(t, program, "-p", dir, "-c", file, "-e", "stderr", "-g", "daemon off; master_process off;")
	l.await("nginx to listen", func() bool {
		c, err := net.Dial("tcp", "127.0.0.1:"+front)
		if err != nil {
			return false
		}
		return c.Close() == nil
	})
	return l
}

// freePort is one that nobody listened on a moment ago.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
