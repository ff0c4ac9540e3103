package proxy

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// approval is the question whether a call may be sent.
type approval struct{}

// gate has somebody confirm the call before it is sent, if the policy asks for
// that. Until then it may be a task, too.
func (r *run) gate() {
	if r.policy.Approve == ApproveAlways {
		r.seekApproval()
		return
	}
	switch {
	case r.recovered: // it may have been asking when the former process ended
		_ = r.publish(nil)
	case r.taskID != "":
	case r.atOnce():
		if !r.storeFirst() {
			return
		}
	case r.mayBecomeTask():
		r.arm(r.req, r.patience())
	}
	destructive, req := false, r.req
	r.apart(func(ctx context.Context) error {
		destructive = r.isDestructive(ctx, req)
		return nil
	}, func(error) {
		if destructive {
			r.seekApproval()
		} else {
			r.clear()
		}
	})
}

// clear lets the call be sent.
func (r *run) clear() {
	r.cleared = true
	r.address(r.message) // as the newest request would have it
	r.proceed()
}

// seekApproval asks. Where nobody can be asked nothing is sent.
func (r *run) seekApproval() {
	form := []string{"elicitation", "form"}
	switch {
	case declares(r.capabilities(), form):
		r.inputs.add(r.approvalKey(), approvalRequest(r.tool, wire.Get(r.message.Params(), "arguments")), approval{})
		r.present()
	case r.req.retries():
		r.conclude(failure(missingCapability(form, fmt.Sprintf("Calls of tool %.100q have to be confirmed", r.tool), upstream.NotDispatched)))
	default: // its era has no error for it
		r.conclude(unapproved(r.tool, "the client cannot ask anybody: it did not declare elicitation"))
	}
}

// approvalKey is a new one for a new process: nobody knows whether the former
// question was answered.
func (r *run) approvalKey() string {
	if r.recovered {
		return "approval-" + strings.ToLower(rand.Text()[:8])
	}
	return "approval-1"
}

func (approval) answered(r *run, result []byte) {
	switch action, _ := wire.String(wire.Get(result, "action")); action {
	case "accept":
		r.log().Info().Msg("the call was confirmed")
		r.clear()
	case "decline":
		r.conclude(unapproved(r.tool, "it was declined"))
	default:
		r.conclude(unapproved(r.tool, "it was not confirmed"))
	}
}

func (approval) unanswered(r *run, why string) {
	r.conclude(unapproved(r.tool, "nobody has confirmed it. "+strings.TrimSuffix(why, ".")))
}

func (approval) declined() {}

// unapproved is a result and no error: it is meant for the model (revision
// 2026-07-28, Tools, Error Handling).
func unapproved(tool, why string) answer {
	text := fmt.Sprintf("The call of %.100q was not sent to the server, because %s. Calls of this tool have to be confirmed by a person; nothing was done.", tool, why)
	result := wire.Set(wire.Set(nil, "isError", []byte("true")), "content", wire.Array([][]byte{textContent(text)}))
	return answer{message: wire.Result(noID, result)}
}

// approvalRequest shows what is to be done. To accept the form is to confirm.
func approvalRequest(tool string, arguments []byte) []byte {
	text := fmt.Sprintf("May the tool %.200q be called with these arguments?\n\n%s\n\nAccept to send the call to the server, decline to drop it.", tool, shown(arguments))
	params := wire.Set(nil, "requestedSchema", []byte(`{"type":"object","properties":{}}`))
	params = wire.Set(params, "message", wire.Quote(text))
	return wire.Set(wire.Set(nil, "params", params), "method", []byte(`"elicitation/create"`))
}

// shown is the arguments for a person to read. What is too long to be read says
// that there is more.
func shown(arguments []byte) string {
	if arguments == nil {
		return "(none)"
	}
	var text bytes.Buffer
	_ = json.Indent(&text, arguments, "", "  ") // the message was valid JSON
	if rest := text.Len() - maxShown; rest > 0 {
		return strings.ToValidUTF8(string(text.Bytes()[:maxShown]), "") + fmt.Sprintf("… (%d more bytes, which are not shown)", rest)
	}
	return text.String()
}

const maxShown = 16 << 10
