package e2e

import (
	"os/exec"
	"strings"
	"testing"
)

const module = "github.com/mcp-taskproxy/mcp-taskproxy"

// mayImport is the direction of the packages: what each may import of this
// module. What is not listed may import nothing of it.
var mayImport = map[string][]string{
	"":             {"config", "proxy", "proxy/host", "proxy/runner", "upstream"},
	"proxy/runner": {"proxy", "proxy/auth", "proxy/host", "proxy/wire", "taskstate", "upstream"},
	"proxy/host":   {"proxy", "proxy/mirror", "proxy/wire", "taskstate", "upstream"},
	"proxy":        {"proxy/wire", "taskstate", "upstream"},
	"proxy/mirror": {"proxy/wire"},
	"upstream":     {"proxy/mirror", "proxy/wire"},
	"taskstate":    {"proxy/wire"},
	"config":       {"proxy/wire"},
}

// onlyIn names the one package that may import a library.
var onlyIn = map[string]string{
	"github.com/dgraph-io/badger": "taskstate",
	"github.com/urfave/cli":       "",
}

func TestImportsOnlyRunDownwards(t *testing.T) {
	packages := 0
	for line := range strings.Lines(goList(t)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		name := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
		if strings.HasPrefix(name, "e2e") || strings.HasPrefix(name, "examples") {
			continue // they stand outside: checked below to import nothing of ours
		}
		packages++
		for _, imported := range strings.Fields(imports) {
			checkImport(t, name, imported)
		}
	}
	if packages < 6 {
		t.Fatalf("go list named %d packages, expected the whole module", packages)
	}
}

// madeOfOurs are the exceptions: programs that the proxy is compared with, which show
// what its own edge can do at best.
var madeOfOurs = map[string]string{"e2e/bench/peer/table": "/proxy/wire", "e2e/bench/peer/durable": "/proxy/wire"}

func TestExamplesAndEndToEndTestsImportNothingOfOurs(t *testing.T) {
	for line := range strings.Lines(goList(t)) {
		path, imports, _ := strings.Cut(strings.TrimSpace(line), " ")
		name := strings.TrimPrefix(path, module+"/")
		if !strings.HasPrefix(name, "e2e") && !strings.HasPrefix(name, "examples") {
			continue
		}
		root, _, _ := strings.Cut(name, "/")
		for _, imported := range strings.Fields(imports) {
			rest, ours := strings.CutPrefix(imported, module)
			if ours && !strings.HasPrefix(rest, "/"+root) && madeOfOurs[name] != rest {
				t.Errorf("%s imports %s: it must drive the binary only", name, imported)
			}
		}
	}
}

func checkImport(t *testing.T, name, imported string) {
	t.Helper()
	if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
		if !contains(mayImport[name], ours) {
			t.Errorf("%q imports %s, which is against the direction of the packages", name, ours)
		}
	}
	for library, owner := range onlyIn {
		if strings.HasPrefix(imported, library) && name != owner {
			t.Errorf("%q imports %s, which only %q may", name, imported, owner)
		}
	}
}

func contains(list []string, s string) bool {
	for _, e := range list {
		if e == s {
			return true
		}
	}
	return false
}

func goList(t *testing.T) string {
	t.Helper()
	cmd := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, module+"/...")
	cmd.Dir = ".."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	return string(out)
}
