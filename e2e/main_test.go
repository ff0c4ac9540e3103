package e2e

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// binaries is the directory of everything that TestMain built.
var binaries string

const everythingServer = "github.com/modelcontextprotocol/go-sdk/examples/server/everything"

// TestMain has the proxy be one process wherever a test does not say otherwise:
// most are about what it does, and not about which process does it.
func TestMain(m *testing.M) {
	_ = os.Setenv("MCP_TASKPROXY_DETACH", "never") // the name is a good one
	manyAtOnce()
	dir, err := os.MkdirTemp("", "taskproxy-e2e-")
	if err == nil {
		binaries = dir
		err = buildAll()
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e: cannot build what the tests run:", err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// manyAtOnce runs more tests at a time than there are processors, unless -parallel says
// otherwise: they wait for other processes most of the time.
func manyAtOnce() {
	chosen, each := false, 3
	flag.Parse()
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if raceEnabled {
		each = 2
	}
	if !chosen {
		_ = flag.Set("test.parallel", strconv.Itoa(each*runtime.GOMAXPROCS(0)))
	}
}

func buildAll() error {
	fixtures := filepath.Join(binaries, "fixtures")
	if err := os.Mkdir(fixtures, 0o700); err != nil {
		return err
	}
	if err := build(fixtures, "./servers/...", everythingServer); err != nil {
		return err
	}
	if os.Getenv("MCP_TASKPROXY_E2E_BINARY") != "" {
		return nil
	}
	proxy := filepath.Join(binaries, executable("mcp-taskproxy"))
	if raceEnabled {
		return build(proxy, "-race", "..")
	}
	return build(proxy, "..")
}

// build runs go build in the directory of this package.
func build(output string, args ...string) error {
	args = append([]string{"build", "-buildvcs=false", "-o", output}, args...)
	out, err := exec.Command("go", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("go %q: %w\n%s", args, err, out)
	}
	return nil
}

func executable(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

// proxyBinary is the path of the proxy under test.
func proxyBinary(t testing.TB) string {
	t.Helper()
	path := os.Getenv("MCP_TASKPROXY_E2E_BINARY")
	if path == "" {
		path = filepath.Join(binaries, executable("mcp-taskproxy"))
	}
	return existing(t, path)
}

// fixture is the path of a program of servers/, or of the Go SDK's server "everything".
func fixture(t testing.TB, name string) string {
	t.Helper()
	return existing(t, filepath.Join(binaries, "fixtures", executable(name)))
}

func existing(t testing.TB, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("TestMain did not build it: %v", err)
	}
	return path
}
