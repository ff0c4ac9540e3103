package proxy

import (
	"testing"
	"unicode/utf8"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// oddTexts are what stands in the strings of messages that are no text: bytes that
// are not UTF-8, which JSON-RPC messages must be (revision 2026-07-28, Transports),
// halves of surrogate pairs, and NUL.
var oddTexts = map[string]string{
	"not UTF-8":       "a\xff\xfe\xc3(\xed\xa0\x80z",
	"a lone escape":   `a\ud800z\udc00\ud800`,
	"NUL":             `a\u0000z`,
	"cut at the end":  "a\xe6\x97",
	"all of it, long": "\xff\xfe",
}

// The server's words go on as they are. What the proxy itself says, in which hosts
// and later processes find them again, is text whatever they are.
func TestOddTextStaysAndSpoilsNothingOfOurs(t *testing.T) {
	for name, odd := range oddTexts {
		result := `{"content":[{"type":"text","text":"` + odd + `"}],"isError":true,"_meta":{"` + odd + `":"` + odd + `"}}`
		bubble(t, func(t *testing.T, store *disk) {
			r := newRig(t, store, upstream.Initialize, Policy{Task: Always})
			task := r.endsWith(result, "")
			switch listed, _, err := r.proxy.ListTasks("", "", 10); {
			case string(task.Outcome) != result:
				t.Errorf("%s: stored is %q", name, task.Outcome)
			case task.StatusMessage == "" || !utf8.ValidString(task.StatusMessage):
				t.Errorf("%s: statusMessage is %q", name, task.StatusMessage)
			case err != nil || len(listed) != 1 || listed[0].StatusMessage != task.StatusMessage:
				t.Errorf("%s: listed are %v, %v", name, listed, err)
			}
		})
	}
}

func TestOddTextThatIsTooLargeSpoilsNothingOfOurs(t *testing.T) {
	for name, odd := range oddTexts {
		for len(odd) < 2*most {
			odd += odd
		}
		result := `{"content":[{"type":"text","text":"` + odd + `"}],"isError":true}`
		for _, large := range []LargeResults{Truncate, Spill} {
			bubble(t, func(t *testing.T, store *disk) {
				r := newRig(t, store, upstream.Initialize, Policy{Task: Always})
				task := r.endsWith(result, large)
				if task.Status != taskstate.Completed || !utf8.Valid(task.Outcome) || !utf8.ValidString(task.StatusMessage) {
					t.Errorf("%s, %s: %s with %.200q, and says %.100q", name, large, task.Status, task.Outcome, task.StatusMessage)
				}
			})
		}
	}
}
