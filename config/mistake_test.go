package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The error of each file, to the letter, without the name at its head.
var mistakes = []struct{ name, file, want string }{
	{"unknown key, near", "ttl: 1h\nafterr: 5s", `2:1: unknown key "afterr"; did you mean after?`},
	{"unknown key, other case", "TTL: 1h", `1:1: unknown key "TTL"; did you mean ttl?`},
	{"node with capitals", "node: EU", `1:7: node: "EU" is not a node's name; write up to 32 of a-z, 0-9 and _`},
	{"empty node", `node: ""`, `1:7: node: "" is not a node's name; write up to 32 of a-z, 0-9 and _`},
	{"unknown key, of no kind", "colour: red", `1:1: unknown key "colour"; write one of command, url, headers, forward_headers, forward_authorization, listen, endpoint, tls, auth, allow_unauthenticated, origins, hosts, state_dir, node, upstream_era, detach, fallback, older_tasks, tools, limits, log_level, log_payloads, task, after, ttl, poll_interval, max_run, stall, input, input_timeout, approve, fallback_after, keep_alive, upstream_tasks, concurrency`},
	{"unknown key of a later version", "limits: {bandwidth: 64}", `1:10: unknown key "bandwidth"; write one of running, running_per_owner, queued, when_full, stored, store_bytes, result_bytes, large_results, questions, listeners, message_bytes, header_bytes, connections, sessions, session_idle, header_timeout`},
	{"unknown key of a tool", "tools:\n  x: {taks: never}", `2:7: unknown key "taks"; did you mean task?`},
	{"key of another mapping", "tools:\n  x:\n    command: [a]", `3:5: unknown key "command"; write one of task, after, ttl, poll_interval, max_run, stall, input, input_timeout, approve, fallback_after, keep_alive, upstream_tasks, concurrency`},
	{"duplicate key", "ttl: 1h\n\nttl: 2h", `3:1: duplicate key "ttl"; remove it here or in line 1`},
	{"duplicate tool", "tools:\n  a: {}\n  \"a\": {}", `3:3: duplicate key "a"; remove it here or in line 2`},
	{"null key", "~: 1", `1:1: this cannot be a key; write key: value`},
	{"list as a key", "[a]: 1", `1:4: YAML syntax: found an invalid key for this map; check indentation, colons and quotes here`},

	{"bare number", "after: 5", `1:8: after: 5 has no unit; write 5s`},
	{"bare zero", "after: 0", `1:8: after: 0 has no unit; write 0s`},
	{"bare fraction", "ttl: 1.5", `1:6: ttl: 1.5 has no unit; write 1.5s`},
	{"bare number in quotes", `after: "5"`, `1:8: after: 5 has no unit; write 5s`},
	{"bare number in a tool", "tools: {é: {max_run: 60}}", `1:22: tools."é".max_run: 60 has no unit; write 60s`},
	{"negative number", "after: -1", `1:8: after: "-1" is negative; write a duration such as 5s`},
	{"negative duration", "stall: -5s", `1:8: stall: "-5s" is negative; write a duration such as 10m`},
	{"long unit", "after: 5 seconds", `1:8: after: "5 seconds" has an unknown unit; write 5s (units: ms, s, m, h, d)`},
	{"upper case", "ttl: 24H", `1:6: ttl: "24H" has an unknown unit; write 24h (units: ms, s, m, h, d)`},
	{"no such unit", "ttl: 2w", `1:6: ttl: "2w" has an unknown unit; write 24h (units: ms, s, m, h, d)`},
	{"too fine a unit", "after: 10us", `1:8: after: "10us" has an unknown unit; write 5s (units: ms, s, m, h, d)`},
	{"part of a millisecond", "after: 1.0005s", `1:8: after: "1.0005s" is not a whole number of milliseconds; write 1.001s`},
	{"not a duration", "after: soon", `1:8: after: "soon" is not a duration; write a number and a unit, such as 5s (units: ms, s, m, h, d)`},
	{"infinite", "max_run: .inf", `1:10: max_run: ".inf" is not a duration; write a number and a unit, such as 24h (units: ms, s, m, h, d)`},
	{"truth for a duration", "stall: false", `1:8: stall: "false" is not a duration; write a number and a unit, such as 10m (units: ms, s, m, h, d)`},
	{"list for a duration", "after: [5s]", `1:8: after: a list does not belong here; write a duration such as 5s`},
	{"mapping for a duration", "ttl:\n  s: 5", `1:1: ttl: a mapping does not belong here; write a duration such as 24h`},
	{"nothing for a duration", "task: after\nttl:", `2:1: ttl: there is no value; write a duration such as 24h`},
	{"poll_interval of zero", "poll_interval: 0s", `1:16: poll_interval: "0s" is too short; write 1ms or more, such as 1s`},
	{"ttl of zero", "ttl: 0s", `1:6: ttl: "0s" is too short; write 1ms or more, such as 24h`},
	{"after of a week", "after: 7d", `1:8: after: "7d" is too long; write 24h or less`},
	{"more than 64 bits", "max_run: 99999999999999999999h", `1:10: max_run: "99999999999999999999h" is too long; write 365d or less`},
	{"sum above 64 bits", "ttl: 100000d100000d", `1:6: ttl: "100000d100000d" is too long; write 3650d or less`},

	{"unknown mode", "task: alway", `1:7: task: unknown mode "alway"; did you mean always?`},
	{"unknown mode of a tool", "tools:\n  a:\n    task: sometimes", `3:11: tools.a.task: unknown mode "sometimes"; write one of never, after, always, required`},
	{"after without effect", "tools:\n  a:\n    task: never\n    after: 5s", `4:12: tools.a.after has no effect with task: never; remove it, or write task: after`},
	{"after with an inherited mode", "task: always\ntools: {a: {after: 5s}}", `2:20: tools.a.after has no effect with task: always; remove it, or write task: after`},
	{"default after that nothing inherits", "task: never\nafter: 5s\ntools: {a: {task: after, after: 1s}}", `2:8: after has no effect with task: never; remove it, or write task: after`},
	{"default after that before-task elsewhere does not read", "task: always\nafter: 5s\ntools: {a: {input: before-task, after: 1s}}", `2:8: after has no effect with task: always; remove it, or write task: after`},
	{"after before a task that never comes", "task: never\ninput: before-task\nafter: 5s", `3:8: after has no effect with task: never; remove it, or write task: after`},
	{"after of a tool that asks in its task", "task: always\ninput: before-task\ntools: {a: {input: in-task, after: 5s}}", `3:36: tools.a.after has no effect with task: always; remove it, or write task: after`},

	{"unknown input", "input: intask", `1:8: input: unknown value "intask"; did you mean in-task?`},
	{"input of no kind", "tools: {a: {input: host}}", `1:20: tools.a.input: unknown value "host"; write one of in-task, before-task`},
	{"list for input", "input: [in-task]", `1:8: input: a list does not belong here; write in-task or before-task`},
	{"questions without an end", "input_timeout: 0s", `1:16: input_timeout: "0s" is refused, as a question has to end some time; write how long people may take, such as 1h`},
	{"questions of a tool without an end", "tools:\n  a: {input_timeout: 0h0m}", `2:22: tools.a.input_timeout: "0h0m" is refused, as a question has to end some time; write how long people may take, such as 1h`},
	{"bare zero for input_timeout", "input_timeout: 0", `1:16: input_timeout: "0" is refused, as a question has to end some time; write how long people may take, such as 1h`},
	{"negative input_timeout", "input_timeout: -1h", `1:16: input_timeout: "-1h" is negative; write a duration such as 1h`},
	{"input_timeout of years", "input_timeout: 366d", `1:16: input_timeout: "366d" is too long; write 365d or less`},
	{"yes for approve", "approve: yes", `1:10: approve: unknown value "yes"; write one of true, false, destructive`},
	{"mode for approve", "tools:\n  a:\n    approve: always", `3:14: tools.a.approve: unknown value "always"; write one of true, false, destructive`},
	{"slip in approve", "approve: destructiv", `1:10: approve: unknown value "destructiv"; did you mean destructive?`},
	{"truth with a capital", "approve: True", `1:10: approve: unknown value "True"; did you mean true?`},
	{"passthrough for one tool", "tools:\n  a: {upstream_tasks: passthrough}", `2:23: tools.a.upstream_tasks: passthrough is for all tools; write it at the top, or auto or off here`},
	{"a tool that is no part of passthrough", "upstream_tasks: passthrough\ntools:\n  a: {upstream_tasks: off}", `3:23: tools.a.upstream_tasks: the top of the file says passthrough, which is for all tools; remove one`},
	{"a flood of progress", "keep_alive: 10ms", `1:13: keep_alive: "10ms" is too short; write 1s or more, such as 15s, or 0s for off`},
	{"two fallback tools of one name", "fallback: {status: job, cancel: job}", `1:11: fallback: two of the tools have one name; write three names`},
	{"a name that no tool has", "fallback: {status: a b}", `1:20: fallback.status: "a b" is not a tool's name; write up to 64 of . _ - A-Z a-z 0-9`},
	{"a wait of nothing", "fallback: {wait: 0s}", `1:18: fallback.wait: "0s" is too short; write 1s or more, such as 50s`},
	{"an error status of the other tasks", "older_tasks: {error_status: cancelled}", `1:29: older_tasks.error_status: unknown value "cancelled"; write one of failed, completed`},
	{"nothing for approve", "approve:", `1:1: approve: there is no value; write true, false or destructive`},

	{"bad glob", "tools:\n  \"build_[\": {}", `2:3: bad glob "build_["; write *, ? or a closed [a-z], and \ before one of these that is meant as itself`},
	{"empty tool name", `tools: {"": {}}`, `1:9: the name of the tool is empty; write a name or a glob such as build_*`},
	{"tool without settings", "tools:\n  a:", `2:3: tools.a: settings belong here; write {task: always}`},
	{"mode in place of settings", "tools: {a: never}", `1:12: tools.a: settings belong here; write {task: always}`},
	{"tools as a list", "tools: [a]", `1:8: tools: names with their policies belong here; write a line such as greet: {task: never} for each`},
	{"line break in a tool name", `tools: {"a\nb": 1}`, `1:17: tools."a\nb": settings belong here; write {task: always}`},

	{"command as text", "command: npx -y server", `1:10: command: a list belongs here; write the program and its arguments, such as [npx, -y, some-server]`},
	{"empty command", "command: []", `1:10: command: the program is missing; write the program and its arguments, such as [npx, -y, some-server], or remove the line`},
	{"empty program", `command: ["", a]`, `1:10: command: the program is missing; write the program and its arguments, such as [npx, -y, some-server], or remove the line`},
	{"null argument", "command: [ls, ~]", `1:15: command: an argument is text; put it in quotes`},
	{"zero byte in an argument", `command: [ls, "\0"]`, `1:15: command: no system passes on an argument with a zero byte; remove the \0`},
	{"empty state_dir", `state_dir: ""`, `1:12: state_dir: this is not a directory; write a path, or remove the line`},
	{"bare ~", "state_dir: ~", `1:1: state_dir: there is no value; write a directory, in quotes if it is "~"`},
	{"home of another", "state_dir: ~bob/x", `1:12: state_dir: "~bob/x": the home directory of another user is not looked up; write the whole path`},
	{"unknown detach", "detach: always", `1:9: detach: unknown value "always"; write one of auto, never`},
	{"unknown era", "upstream_era: modern", `1:15: upstream_era: unknown era "modern"; write one of auto, initialize, stateless`},
	{"unknown level", "log_level: warning", `1:12: log_level: unknown level "warning"; did you mean warn?`},
	{"level of no kind", "log_level: 3", `1:12: log_level: unknown level "3"; write one of trace, debug, info, warn, error`},
	{"yes for true", "log_payloads: yes", `1:15: log_payloads: "yes" is neither true nor false; write true or false`},
	{"limits as a number", "limits: 32MiB", `1:9: limits: settings belong here; write {message_bytes: 32MiB}`},
	{"bare size", "limits: {message_bytes: 1000000}", `1:25: limits.message_bytes: 1000000 has no unit; write a size such as 32MiB (units: B, KiB, MiB, GiB)`},
	{"decimal size", "limits: {message_bytes: 32MB}", `1:25: limits.message_bytes: "32MB" has an unknown unit; write 32MiB (units: B, KiB, MiB, GiB)`},
	{"part of a size", "limits: {message_bytes: 1.5GiB}", `1:25: limits.message_bytes: "1.5GiB" is not a size; write a whole number and a unit, such as 32MiB (units: B, KiB, MiB, GiB)`},
	{"size of zero", "limits: {message_bytes: 0B}", `1:25: limits.message_bytes: "0B" is too small; write 1KiB or more, such as 32MiB`},
	{"negative size", "limits: {message_bytes: -1MiB}", `1:25: limits.message_bytes: "-1MiB" is negative; write a size such as 32MiB`},
	{"absurd size", "limits: {message_bytes: 99999999999999999999GiB}", `1:25: limits.message_bytes: "99999999999999999999GiB" is too large; write 1GiB or less`},

	{"no space after the colon", "after:5s", `1:1: this is not a setting; write key: value, with a space after the colon`},
	{"no colon", "ttl: 5s\nafter 5s", `2:1: YAML syntax: non-map value is specified; write key: value, with a space after the colon`},
	{"list at the top", "- a", `1:1: this is not a setting; write key: value, with a space after the colon`},
	{"tab", "tools:\n\ta: {}", `2:1: YAML syntax: found character '\t' that cannot start any token; indent with spaces, not tabs`},
	{"open bracket", "command: [a, b", `1:10: YAML syntax: sequence end token ']' not found; close the [ with ]`},
	{"open brace", "tools: {a: {}", `1:8: YAML syntax: could not find flow mapping end token '}'; close the { with }`},
	{"open quote", "after: \"5s", `1:8: YAML syntax: could not find end character of double-quoted text; close the quote`},
	{"indentation", "tools:\n  a: {}\n b: {}", `3:2: YAML syntax: value is not allowed in this context; check indentation, colons and quotes here`},
	{"two documents", "ttl: 1h\n---\nttl: 2h", `2:1: a second YAML document begins; keep one, and remove the --- between them`},
	{"glob without quotes", "tools:\n  *_build: {}", `2:3: a * at the start is a YAML alias, which is not read here; put a name with * in quotes, such as "*_build"`},
	{"anchor", "tools:\n  a: &x {}", `2:6: an & at the start is a YAML anchor, which is not read here; write the value out where it is needed, or put it in quotes`},
	{"merge key", "tools:\n  a: {}\n  <<: {}", `3:3: YAML merge keys are not read here; write the settings out`},
	{"tag", "ttl: !!str 5h", `1:6: a ! at the start is a YAML tag, which is not read here; remove it, or put the value in quotes`},
	{"complex key", "? ttl\n: 5h", `1:1: a ? at the start is a YAML complex key, which is not read here; write key: value`},
	{"directive", "%YAML 1.2\n---\nttl: 5h", `1:1: YAML directives are not read here; remove the line`},
	{"not UTF-8", "ttl: 1h\n# \u00e9 \xe9", `2:5: byte 0xe9 is not text; save the file as UTF-8`},
	{"zero byte", "ttl: 1\x00h", `1:7: byte 0x00 is not text; save the file as UTF-8`},
	{"deep flow", "tools: " + strings.Repeat("[", 100_000), `1:24: nested too deeply; no setting needs more than three levels`},
	{"deep dashes", strings.Repeat("- ", 100_000), `1:33: nested too deeply; no setting needs more than three levels`},
	{"endless keys", strings.Repeat("a: 1\n", 20_000), `6667:4: the file has too many values; shorten it, with globs under tools:`},

	{"several at once, in order", "tools:\n  a: {task: no}\nttl: 0s\nafterr: 1s\n", "2:13: tools.a.task: unknown mode \"no\"; write one of never, after, always, required\n3:6: ttl: \"0s\" is too short; write 1ms or more, such as 24h\n4:1: unknown key \"afterr\"; did you mean after?"},
}

func TestMistakes(t *testing.T) {
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) { checkMistakes(t, m.file, m.want) })
	}
}

func checkMistakes(t *testing.T, file, want string) {
	t.Helper()
	_, err := Parse("F", []byte(file), nil)
	if err == nil {
		t.Fatal("accepted")
	}
	got := strings.ReplaceAll("\n"+err.Error(), "\nF:", "\n")[1:]
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAfterThatSomethingReadsIsNoMistake(t *testing.T) {
	for _, text := range []string{
		"task: never\nafter: 2s\ntools: {a: {task: after}}",
		"tools: {a: {after: 300ms}}",
		"after: 0s",
		"task: always\ninput: before-task\nafter: 2s",
		"tools: {a: {task: required, input: before-task, after: 2s}}",
		"task: always\nafter: 2s\ntools: {a: {input: before-task}}",
		"input: before-task\nafter: 2s\ntask: never\ntools: {a: {task: always}}",
	} {
		if _, err := Parse("F", []byte(text), nil); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
