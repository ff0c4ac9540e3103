package upstream

import (
	"net"
	"strings"
	"testing"
)

func TestWhyAServerCannotBeReachedIsSaidOnce(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	said := send(t, dial(t, "http://"+address, nil), "tools/list", `{}`, nil).wantError("upstream_unreachable", NotDispatched)
	if n := strings.Count(said.Text, "connection refused"); n != 1 {
		t.Errorf("it is said %d times: %s", n, said.Text)
	}
}

func TestWhatWasTriedIsNotRepeated(t *testing.T) {
	text := "The upstream server at http://x cannot be reached: refused."
	for _, test := range []struct{ tried, want string }{
		{"initialize: cannot be reached: refused", ""},
		{"server/discover: answered with HTTP 404|initialize: cannot be reached: refused", "server/discover: answered with HTTP 404|initialize"},
		{"initialize: answered with HTTP 404", "initialize: answered with HTTP 404"},
	} {
		if got := strings.Join(without(strings.Split(test.tried, "|"), text), "|"); got != test.want {
			t.Errorf("%q, want %q", got, test.want)
		}
	}
}
