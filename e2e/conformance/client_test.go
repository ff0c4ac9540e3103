package conformance

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// clientScenarios are those without OAuth.
var clientScenarios = map[string][]string{
	"2026-07-28": {
		"tools_call", "request-metadata", "sep-2322-client-request-state", "http-standard-headers", "http-custom-headers",
		"http-invalid-tool-headers", "json-schema-ref-no-deref", "json-schema-2020-12-preservation",
	},
	"2025-11-25": {
		"initialize", "tools_call", "elicitation-sep1034-client-defaults", "sse-retry", "json-schema-2020-12-preservation",
	},
}

func TestClientLosesNoCheck(t *testing.T) {
	fewest := map[string]int{"2026-07-28": 60, "2025-11-25": 15} // checks that the client passes directly
	for revision, scenarios := range clientScenarios {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			client := program("everything-client")
			direct := runClientSuite(t, revision, scenarios, client)
			if passed := passes(direct); passed < fewest[revision] {
				t.Fatalf("%d checks pass directly, expected %d or more", passed, fewest[revision])
			}
			through := fmt.Sprintf("%s -proxy %s -config testdata/never.yaml -client %s", program("viaproxy"), proxyBinary(), client)
			settle(t, "client/"+revision, lost(direct, runClientSuite(t, revision, scenarios, through)))
		})
	}
}

// runClientSuite lets the suite start the command, with the URL of its server
// behind it, for one scenario after the other.
func runClientSuite(t *testing.T, revision string, scenarios []string, command string) []check {
	t.Helper()
	if strings.Contains(binaries+proxyBinary(), " ") {
		t.Fatalf("the suite splits commands at spaces: set TMPDIR and MCP_TASKPROXY_E2E_BINARY to paths without; the command is %q", command)
	}
	var all []check
	for _, scenario := range scenarios {
		all = append(all, runSuite(t, time.Minute, "client", "--command", command, "--scenario", scenario, "--spec-version", revision)...)
	}
	return all
}
