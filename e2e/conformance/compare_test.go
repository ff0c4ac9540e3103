package conformance

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// failure is a check, by its key, that should have passed.
type failure struct{ Check, Detail string }

// lost returns the checks that do worse through the proxy than directly. The
// suite repeats some ids: of each, no fewer may pass and no more may fail.
func lost(direct, proxied []check) []failure {
	before, after := tally(direct), tally(proxied)
	var all []failure
	for _, key := range order(slices.Concat(direct, proxied)) {
		b, a := before[key], after[key]
		if a.passed < b.passed || a.failed > b.failed {
			all = append(all, failure{key, fmt.Sprintf("directly %d pass and %d fail, through the proxy %d and %d\n%s",
				b.passed, b.failed, a.passed, a.failed, a.detail)})
		}
	}
	return all
}

// score is how often an id was checked, and what the failures say.
type score struct {
	passed, failed int
	detail         string
}

func tally(checks []check) map[string]score {
	all := map[string]score{}
	for _, c := range checks {
		s := all[c.key()]
		switch c.Status {
		case "SUCCESS":
			s.passed++
		case "FAILURE", "WARNING":
			s.failed++
			s.detail += c.String() + "\n"
		case "SKIPPED":
			s.detail += c.String() + "\n"
		}
		all[c.key()] = s
	}
	return all
}

// order is each key once, where it first stands.
func order(checks []check) []string {
	var keys []string
	seen := map[string]bool{}
	for _, c := range checks {
		if !seen[c.key()] {
			seen[c.key()] = true
			keys = append(keys, c.key())
		}
	}
	return keys
}

func TestComparisonNoticesEveryKindOfLoss(t *testing.T) {
	result := func(statuses ...string) (checks []check) {
		for _, s := range statuses {
			checks = append(checks, check{Scenario: "s", ID: "c", Status: s})
		}
		return checks
	}
	tests := []struct {
		name            string
		direct, proxied []check
		want            int
	}{
		{"nothing", result("SUCCESS"), result("SUCCESS"), 0},
		{"it fails", result("SUCCESS"), result("FAILURE"), 1},
		{"it warns", result("SUCCESS"), result("WARNING"), 1},
		{"it is skipped", result("SUCCESS"), result("SKIPPED"), 1},
		{"it is absent", result("SUCCESS"), nil, 1},
		{"one of two fails", result("SUCCESS", "SUCCESS"), result("SUCCESS", "FAILURE"), 1},
		{"one of two is absent", result("SUCCESS", "SUCCESS"), result("SUCCESS"), 1},
		{"one more fails", result("SUCCESS", "FAILURE"), result("SUCCESS", "FAILURE", "FAILURE"), 1},
		{"it is new, and fails", nil, result("FAILURE"), 1},
		{"it failed directly too", result("FAILURE"), result("FAILURE"), 0},
		{"it was mended", result("FAILURE"), result("SUCCESS"), 0},
		{"a log line less", result("SUCCESS", "INFO"), result("SUCCESS"), 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := lost(test.direct, test.proxied); len(got) != test.want {
				t.Errorf("%d lost, want %d: %v", len(got), test.want, got)
			}
		})
	}
}

func TestScenarioIsReadFromTheNameOfItsDirectory(t *testing.T) {
	var got []string
	for _, dir := range []string{"server-server-stateless-2026-11-29T21-49-37-299Z", "sse-retry-2026-11-29T21-49-37-299Z", "short"} {
		got = append(got, scenarioOf(dir))
	}
	if diff := cmp.Diff([]string{"server-stateless", "sse-retry", ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
