package upstream

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/mirror"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Header names of Streamable HTTP, besides those of package mirror.
const (
	headerSession = "Mcp-Session-Id"
	headerEventID = "Last-Event-Id"
)

const (
	acceptBoth   = "application/json, text/event-stream"
	acceptStream = "text/event-stream"
)

// notToForward are the headers that belong to one connection or to the
// protocol on it: neither a host nor the configuration sets them.
var notToForward = map[string]bool{
	"Accept": true, "Accept-Encoding": true, "Connection": true, "Content-Encoding": true, "Content-Length": true,
	"Content-Type": true, "Expect": true, "Host": true, "Keep-Alive": true, "Proxy-Connection": true, "Te": true,
	"Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
	headerSession: true, mirror.HeaderVersion: true, mirror.HeaderMethod: true, mirror.HeaderName: true, headerEventID: true,
}

// headers are what every request carries: what its owner forwards, then what
// the configuration says, which wins.
func (h *httpClient) headers(forwarded http.Header, accept string) http.Header {
	all := http.Header{"User-Agent": {"mcp-taskproxy"}}
	for _, some := range []http.Header{forwarded, h.static} {
		for name, values := range some {
			name = http.CanonicalHeaderKey(name)
			if !notToForward[name] && !strings.HasPrefix(name, mirror.HeaderPrefix) {
				all[name] = values
			}
		}
	}
	all.Set("Accept", accept)
	return all
}

// checkHeader refuses what would end the header or begin another. It names the
// header and keeps the value, which may be secret, to itself.
func checkHeader(all http.Header) error {
	for name, values := range all {
		for _, value := range values {
			if strings.IndexFunc(value, isControl) >= 0 || !mirror.IsToken(name) {
				return fmt.Errorf("the header %q has a name or a value that HTTP does not allow; correct it where it is set", name)
			}
		}
	}
	return nil
}

func isControl(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }

// repeat sets the headers that say what the message says of itself.
func repeat(all http.Header, m wire.Message) {
	said, ok := wire.String(wire.Lookup(m.Params(), "_meta", metaVersion))
	if !ok {
		said = version
	}
	all.Set(mirror.HeaderVersion, said)
	all.Set(mirror.HeaderMethod, mirror.Encode(m.Method()))
	if name, _, ok := mirror.Name(m); ok {
		all.Set(mirror.HeaderName, mirror.Encode(name))
	}
}
