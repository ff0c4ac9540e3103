package conformance

import (
	"os"
	"strings"
	"testing"
	"time"
)

func TestTasksOverEachKindOfUpstream(t *testing.T) {
	tests := []struct {
		name     string
		upstream func(t *testing.T) []string // what the proxy stands before
	}{
		{"stateless-http", func(t *testing.T) []string { return plainOverHTTP(t, "-stateless=true") }},
		{"initialize-http", func(t *testing.T) []string { return plainOverHTTP(t, "-stateless=false") }},
		{"stdio", func(*testing.T) []string { return []string{"--", program("plain")} }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			proxy := proxyBefore(t, "testdata/tasks.yaml", test.upstream(t)...)
			settle(t, "tasks/"+test.name, missed(t, runTasksScenarios(t, proxy)))
		})
	}
}

func plainOverHTTP(t *testing.T, flag string) []string {
	t.Helper()
	return []string{"--url", serve(t, false, program("plain"), "-http", "ADDR", flag).URL()}
}

// runTasksScenarios runs them one by one: as a set they do not move the suite's
// exit status, and with a --spec-version they are left out silently.
func runTasksScenarios(t *testing.T, s *server) []check {
	t.Helper()
	var all []check
	for _, scenario := range scenariosOf(tasksChecks(t)) {
		all = append(all, runSuite(t, 2*time.Minute, "server", "--url", s.URL(), "--scenario", scenario)...)
	}
	return all
}

// missed returns the checks of tasks-checks.txt that did not pass, and whatever else failed.
func missed(t *testing.T, checks []check) []failure {
	t.Helper()
	scores := tally(checks)
	var all []failure
	for _, key := range tasksChecks(t) {
		if s := scores[key]; s.passed == 0 || s.failed > 0 {
			all = append(all, failure{key, "it did not pass\n" + s.detail})
		}
		delete(scores, key)
	}
	for key, s := range scores {
		if s.failed > 0 {
			all = append(all, failure{key, s.detail})
		}
	}
	return all
}

// tasksChecks are the keys of tasks-checks.txt.
func tasksChecks(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("tasks-checks.txt")
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			keys = append(keys, line)
		}
	}
	return keys
}

// scenariosOf is each scenario once, in order.
func scenariosOf(keys []string) []string {
	var names []string
	for _, key := range keys {
		name, _, _ := strings.Cut(key, "/")
		if len(names) == 0 || names[len(names)-1] != name {
			names = append(names, name)
		}
	}
	return names
}
