package conformance

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// expectation is a line of expected-failures.txt: RUN SCENARIO/CHECK REASON.
type expectation struct {
	Run    string // as path.Match reads it
	Check  string
	Reason string
}

// runs are the names that the tests of this package give to what they run.
var runs = []string{
	"server/2026-07-28", "server/2025-11-25",
	"tasks/stateless-http", "tasks/initialize-http", "tasks/stdio",
	"client/2026-07-28", "client/2025-11-25",
	"undeclared",
}

// settle fails the test for each failure that nobody expects in this run, and
// for each expected one that did not come.
func settle(t *testing.T, run string, failures []failure) {
	t.Helper()
	expected := expectedIn(t, run)
	for _, f := range failures {
		if reason, ok := expected[f.Check]; ok {
			t.Logf("%s fails as expected (%s)", f.Check, reason)
			delete(expected, f.Check)
			continue
		}
		t.Errorf("%s: %s", f.Check, f.Detail)
	}
	for check, reason := range expected {
		t.Errorf("%s passes in %s: delete it from expected-failures.txt (%s)", check, run, reason)
	}
}

// expectedIn maps the checks that may fail in a run to the reasons.
func expectedIn(t *testing.T, run string) map[string]string {
	t.Helper()
	all, err := readExpected("expected-failures.txt")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(runs, run) {
		t.Fatalf("%s is not among the runs", run)
	}
	expected := map[string]string{}
	for _, e := range all {
		if ok, _ := path.Match(e.Run, run); ok {
			expected[e.Check] = e.Reason
		}
	}
	return expected
}

func readExpected(file string) ([]expectation, error) {
	data, err := os.ReadFile(file)
	var all []expectation
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		e, wrong := parseExpected(line)
		if wrong != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, wrong)
		}
		all = append(all, e)
	}
	return all, err
}

func parseExpected(line string) (expectation, error) {
	run, rest, _ := strings.Cut(line, " ")
	check, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
	e := expectation{Run: run, Check: check, Reason: strings.TrimSpace(reason)}
	if e.Reason == "" || !strings.Contains(e.Check, "/") {
		return e, fmt.Errorf("want RUN SCENARIO/CHECK REASON, not %q", line)
	}
	if !slices.ContainsFunc(runs, func(run string) bool { ok, _ := path.Match(e.Run, run); return ok }) {
		return e, fmt.Errorf("no run is named %q", e.Run)
	}
	return e, nil
}

func TestExpectedFailuresGiveTheirReason(t *testing.T) {
	if _, err := readExpected("expected-failures.txt"); err != nil {
		t.Error(err)
	}
	for _, line := range []string{"tasks/stdio a/b", "tasks/stdio a because", "tasks/none a/b because", "a/b"} {
		if e, err := parseExpected(line); err == nil {
			t.Errorf("%q was read as %+v", line, e)
		}
	}
}
