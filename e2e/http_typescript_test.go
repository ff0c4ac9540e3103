package e2e

import (
	"context"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// met is what peers/http.mjs prints.
type met struct {
	Era, Server, Quick, Text, Asked, Resource string
	Tools, Steps                              int
	Questions                                 []string
}

func TestTypeScriptClientOverHTTP(t *testing.T) {
	for mode, era := range map[string]string{"legacy": "legacy", "auto": "modern"} {
		for _, server := range []string{"legacy", "modern"} {
			t.Run(era+" host, "+server+" server", func(t *testing.T) {
				t.Parallel()
				p, _ := proxyAround(t, server)
				if server == "legacy" {
					p.Upstream = append(p.Upstream, "-version", "2025-11-25")
				}
				tool, answer, questions := "ask", "answered", []string{"Go on?"}
				if era != server { // a question crosses no eras
					tool, answer, questions = "changed", "changed", []string{}
				}
				got := runHTTPDriver(t, mode, p.listen(t).url, tool)
				want := met{
					Era: era, Server: server + "-fixture", Tools: got.Tools, Quick: "released",
					Text: "done after 0.1s", Steps: 10, Resource: "1.0", Asked: answer, Questions: questions,
				}
				if diff := cmp.Diff(want, got); diff != "" || got.Tools == 0 {
					t.Errorf("the client met something else (-want +got):\n%s", diff)
				}
			})
		}
	}
}

func runHTTPDriver(t *testing.T, args ...string) (got met) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	driver := exec.CommandContext(ctx, "node", slices.Concat([]string{filepath.Join(npmPeers(t), "http.mjs")}, args)...)
	driver.WaitDelay = time.Second
	var stderr strings.Builder
	driver.Stderr = &stderr
	out, err := driver.Output()
	if err == nil {
		err = json.Unmarshal(out, &got)
	}
	if err != nil {
		t.Fatalf("%v\n%s\nstderr:\n%s", err, out, cut(stderr.String()))
	}
	return got
}
