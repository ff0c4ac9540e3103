package conformance

import (
	"fmt"
	"testing"
)

// neverRun are the checks that the suite lists for the extension, in its
// sep-2663.yaml, and runs in no scenario.
var neverRun = []struct {
	id    string // without the sep-2663- before it
	how   string
	check func(*scene) error
}{
	{"client-handles-polymorphic-result", "the proxy is a client to its server; it declares no tasks there, so no task may come", neverNegotiates},
	{"client-rejects-task-result-on-unsupported", "a server answers prompts/get with a task; the host must not get it as a result", rejectsTaskOfPrompt},
	{"no-task-result-type-on-others", "through the whole life of a task, only the result that creates it has resultType task", onlyCreationIsTask},
	{"failed-status-jsonrpc-only", "isError ends completed, a JSON-RPC error ends failed", failedIsForErrors},
	{"tasks-get-status-cancelled", "a cancelled task says so to tasks/get", cancelledIsTold},
	{"result-type-complete-on-tasks-get", "resultType of tasks/get, working and terminal", onlyCreationIsTask},
	{"input-request-key-unique-per-task", "a tool asks twice under one key; the task asks under two", keysAreUnique},
	{"no-key-reuse-after-response", "the same: an answered key is not seen again", keysAreUnique},
	{"update-ack-empty-result", "the result of tasks/update has no member but resultType and _meta", updateIsAcknowledged},
	{"update-error-unknown-task-id", "tasks/update of no task", unknownTaskIsRefused},
	{"update-ignore-unknown-keys", "an answer to a key that was never issued changes nothing", updateIsAcknowledged},
	{"result-type-complete-on-tasks-update", "resultType of tasks/update", updateIsAcknowledged},
	{"cancel-not-via-cancelled-notification", "notifications/cancelled for the call leaves its task working", notificationCancelsNoTask},
	{"cancel-error-unknown-task-id", "tasks/cancel of no task", unknownTaskIsRefused},
	{"result-type-complete-on-tasks-cancel", "resultType of tasks/cancel", cancelledIsTold},
	{"subscribe-missing-capability-non-declaring", "subscriptions/listen with taskIds, tasks undeclared", listenWantsDeclaration},
	{"no-progress-or-message-on-task-stream", "a listen for a task whose tool reports progress: acknowledgement and notifications/tasks only", streamHasOnlyTasks},
	{"client-emits-mcp-name-on-tasks-methods", "the proxy is a client to its server; it sends no tasks method there", neverNegotiates},
	{"tasks-update-cancel-invalid-task-id-32602", "tasks/update and tasks/cancel of no task", unknownTaskIsRefused},
	{"failed-includes-statusmessage", "a failed task has statusMessage and the error of the tool", failedIsForErrors},
	{"migrate-from-legacy-capabilities", "server/discover has the extension and no capability tasks, no tool has execution", legacyIsGone},
	{"legacy-capability-treated-as-non-declaring", "a host with the old capability alone gets no task, and -32021 for tasks methods", legacyDeclaresNothing},
}

func TestWhatTheSuiteListsAndNeverRuns(t *testing.T) {
	const inTheList = 22
	if len(neverRun) != inTheList {
		t.Fatalf("%d checks, the suite lists %d", len(neverRun), inTheList)
	}
	s := newScene(t)
	var failures []failure
	for _, c := range neverRun {
		t.Run(c.id, func(t *testing.T) {
			if err := c.check(s.in(t)); err != nil {
				failures = append(failures, failure{"sep-2663/" + c.id, fmt.Sprintf("%s: %v", c.how, err)})
			}
		})
	}
	settle(t, "undeclared", failures)
}
