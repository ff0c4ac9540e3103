//go:build linux

package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const httpHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

// lies are responses that say one thing in the head and do another, or say too
// much. None of them is an answer.
var lies = map[string]act{
	"too short a length":    cutOff(httpHead + "Content-Length: 5\r\n\r\n{\"jsonrpc\":\"2.0\"}"),
	"two lengths":           cutOff(httpHead + "Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}    "),
	"length below nothing":  cutOff(httpHead + "Content-Length: -1\r\n\r\n{}"),
	"length and chunks":     cutOff(httpHead + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}"),
	"a chunk that is none":  cutOff(httpHead + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n"),
	"a chunk of an exabyte": cutOff(httpHead + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n{}"),
	"an unknown coding":     cutOff(httpHead + "Transfer-Encoding: gzip\r\n\r\n{}"),
	"no HTTP":               cutOff("SSH-2.0-OpenSSH_9.9\r\n"),
	"a head without end":    cutOff(httpHead + strings.Repeat("X: "+strings.Repeat("x", 1000)+"\r\n", 3000)),
	"deep":                  deepAnswer,
	"stream of nothing":     babbling(": nothing at all\n\n"),
	"stream of empty data":  babbling("data:\n\n"),
	"stream of junk":        babbling("data: {no JSON\n\n"),
	"stream of one line":    babbling("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
	"stream of one event":   babbling("data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"),
	"stream of ids":         babbling("id: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n"),
}

func deepAnswer(w http.ResponseWriter, v visit) {
	nested := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	answering(`{"resultType":"complete","content":[],"x":`+nested+`}`)(w, v)
}

// babbling says the same over and over, 40 megabytes of it, and ends.
func babbling(text string) act {
	return func(w http.ResponseWriter, _ visit) {
		w.Header().Set("Content-Type", "text/event-stream")
		piece := strings.Repeat(text, 1+(64<<10)/len(text))
		for n, err := 0, error(nil); n < 40<<20 && err == nil; n += len(piece) {
			_, err = io.WriteString(w, piece)
		}
	}
}

// Whatever a server's HTTP is worth, the call ends with an error, the next one
// is served, and the proxy stays small.
func TestServerWhoseHTTPLies(t *testing.T) {
	t.Parallel()
	for era, start := range eras {
		t.Run(era, func(t *testing.T) {
			t.Parallel()
			acts := map[string]act{}
			for name, do := range lies {
				acts["tools/call "+name] = do
			}
			p := proxyTo(t, start(t, acts))
			h := p.start(t)
			for name := range lies {
				m := h.ask(plain.toolCall(h.freshID(), name, `{}`))
				if why, outcome := reason(m.Error); why == "" || outcome == "" {
					t.Errorf("%s: %s", name, cut(m.Raw))
				}
				if m := h.ask(plain.toolCall(h.freshID(), "run", `{}`)); m.Error != nil {
					t.Errorf("the call behind %s: %s", name, cut(m.Raw))
				}
			}
			checkPeak(t, h.cmd.Process.Pid)
			if status := h.stop(); status != 0 || strings.Contains(h.stderr(), "panic") {
				t.Errorf("status %d", status)
			}
		})
	}
}
