package upstream

import (
	"net/http"
	"testing"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// A server that answers on the stream for its own messages, and leaves the one
// of the request open, does not fill the proxy with open requests.
func TestARequestThatIsAnsweredElsewhereIsLetGo(t *testing.T) {
	gone := make(chan struct{})
	asked := make(chan string, 1)
	server := legacy(t, map[string]handler{
		"tools/list": func(w http.ResponseWriter, v visit) {
			openStream(w)
			asked <- string(v.message.ID())
			<-v.request.Context().Done()
			close(gone)
		},
		"GET": func(w http.ResponseWriter, v visit) {
			out := openStream(w)
			select {
			case id := <-asked:
				out.message(wire.Result([]byte(id), []byte(`{"tools":[]}`)))
			case <-v.request.Context().Done():
			}
			<-v.request.Context().Done()
		},
	})
	client := dial(t, server.URL, nil)
	send(t, client, "tools/list", `{}`, nil).result()
	within(t, "the request's own stream ends", gone)
}
