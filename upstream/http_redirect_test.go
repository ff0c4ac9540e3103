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

// outcomeOfRedirect: 303 is what a server says when it has done what it was
// asked.
func outcomeOfRedirect(status int) Outcome {
	if status == http.StatusSeeOther {
		return Unknown
	}
	return NotDispatched
}

func TestARedirectToAnotherServerIsRefusedAndNamed(t *testing.T) {
	other := modern(t, nil)
	for _, status := range []int{301, 302, 303, 307, 308} {
		server := modern(t, map[string]handler{"tools/call": redirect(status, other.URL+"/elsewhere?token=secret")})
		client := dial(t, server.URL, func(o *Options) { o.Header = authorization("Bearer ours") })
		err := send(t, client, "tools/call", `{"name":"run"}`, nil).wantError("upstream_redirected", outcomeOfRedirect(status))
		if !strings.Contains(err.Text, other.URL) || strings.Contains(err.Text, "elsewhere") || strings.Contains(err.Text, "secret") {
			t.Errorf("the text should name the other server and no more of the target: %s", err.Text)
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
		server.on("prompts/get", func(w http.ResponseWriter, v visit) {
			if v.request.URL.Path == "/mcp/" {
				result(`{"messages":[]}`)(w, v)
				return
			}
			redirect(status, "/mcp/")(w, v)
		})
		client := dial(t, server.URL+"/mcp", func(o *Options) { o.Header = authorization("Bearer ours") })
		get := send(t, client, "prompts/get", `{"name":"run"}`, nil)
		if !allowed {
			get.wantError("upstream_redirected", outcomeOfRedirect(status))
			server.expect("prompts/get", 1)
			continue
		}
		get.result()
		if last := server.expect("prompts/get", 2)[1]; last.header("Authorization") != "Bearer ours" || last.header("Mcp-Name") != "run" {
			t.Errorf("the repeated request has the headers %v", last.request.Header)
		}
		send(t, client, "prompts/get", `{"name":"run"}`, nil).result() // straight to where the endpoint is now
		server.expect("prompts/get", 3)
	}
}

// A server may have done the work before it redirects.
func TestACallIsNotSentTwiceForARedirect(t *testing.T) {
	server := modern(t, map[string]handler{"tools/call": redirect(307, "/mcp/")})
	client := dial(t, server.URL+"/mcp", nil)
	send(t, client, "tools/call", `{"name":"run"}`, nil).wantError("upstream_redirected", Unknown)
	server.expect("tools/call", 1)
}

func TestRedirectsWithoutEndAreGivenUp(t *testing.T) {
	server := modern(t, map[string]handler{"prompts/list": redirect(307, "/")})
	send(t, dial(t, server.URL, nil), "prompts/list", `{}`, nil).wantError("upstream_redirected", NotDispatched)
	if n := len(server.visits("prompts/list")); n > 10 {
		t.Errorf("it was followed %d times", n)
	}
}

func TestARedirectToNowhereIsSaid(t *testing.T) {
	for _, target := range []string{"", "http://[::1"} {
		for _, status := range []int{303, 307} {
			server := modern(t, map[string]handler{"tools/call": redirect(status, target)})
			send(t, dial(t, server.URL, nil), "tools/call", `{"name":"run"}`, nil).wantError("upstream_redirected", outcomeOfRedirect(status))
		}
	}
}
