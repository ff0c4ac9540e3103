package upstream

import (
	"net/http"
	"strings"
	"testing"
)

func redirect(status int, target string) handler {
	return func(w http.ResponseWriter, _ visit) {
		w.Header().Set("Location", target)
		w.WriteHeader(status)
	}
}

func TestARedirectToAnotherServerIsRefusedAndNamed(t *testing.T) {
	other := modern(t, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := modern(t, map[string]handler{"tools/call": redirect(status, other.URL+"/elsewhere?token=secret")})
		client := dial(t, server.URL, func(o *Options) { o.Header = authorization("Bearer ours") })
		err := send(t, client, "tools/call", `{"name":"run"}`, nil).wantError("upstream_redirected", NotDispatched)
		if !strings.Contains(err.Text, other.URL+"/elsewhere") || strings.Contains(err.Text, "secret") {
			t.Errorf("the text should name the target and no more of it: %s", err.Text)
		}
	}
	if len(other.seen) > 0 {
		t.Errorf("the other server got %d requests", len(other.seen))
	}
}

func TestOtherOriginsThatLookAlikeAreOtherServers(t *testing.T) {
	for _, target := range []string{
		"https://$HOST/", "//127.0.0.1/", "http://$HOST.example/", "http://user@localhost:1/", "http://$HOST@example.com/", "ftp://$HOST/",
	} {
		server := modern(t, nil)
		server.on("tools/call", redirect(307, strings.ReplaceAll(target, "$HOST", strings.TrimPrefix(server.URL, "http://"))))
		client := dial(t, server.URL, nil)
		_, err := send(t, client, "tools/call", `{"name":"run"}`, nil).wait()
		if err == nil || err.Outcome != NotDispatched {
			t.Errorf("%s: %v", target, err)
		}
		server.expect("tools/call", 1)
	}
}

func TestARedirectWithinTheServerIsFollowedIfItKeepsTheRequest(t *testing.T) {
	for status, allowed := range map[int]bool{307: true, 308: true, 301: false, 302: false, 303: false} {
		server := modern(t, nil)
		server.on("tools/call", func(w http.ResponseWriter, v visit) {
			if v.request.URL.Path == "/mcp/" {
				result(`{"content":[]}`)(w, v)
				return
			}
			redirect(status, "/mcp/")(w, v)
		})
		client := dial(t, server.URL+"/mcp", func(o *Options) { o.Header = authorization("Bearer ours") })
		call := send(t, client, "tools/call", `{"name":"run"}`, nil)
		if !allowed {
			call.wantError("upstream_redirected", NotDispatched)
			server.expect("tools/call", 1)
			continue
		}
		call.result()
		if last := server.expect("tools/call", 2)[1]; last.header("Authorization") != "Bearer ours" || last.header("Mcp-Name") != "run" {
			t.Errorf("the repeated request has the headers %v", last.request.Header)
		}
	}
}

func TestRedirectsWithoutEndAreGivenUp(t *testing.T) {
	server := modern(t, map[string]handler{"tools/call": redirect(307, "/")})
	send(t, dial(t, server.URL, nil), "tools/call", `{"name":"run"}`, nil).wantError("upstream_redirected", NotDispatched)
	if n := len(server.visits("tools/call")); n > 10 {
		t.Errorf("it was followed %d times", n)
	}
}

func TestARedirectToNowhereIsSaid(t *testing.T) {
	for _, target := range []string{"", "http://[::1"} {
		server := modern(t, map[string]handler{"tools/call": redirect(307, target)})
		send(t, dial(t, server.URL, nil), "tools/call", `{"name":"run"}`, nil).wantError("upstream_redirected", NotDispatched)
	}
}
