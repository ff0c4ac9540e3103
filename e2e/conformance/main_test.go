package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// binaries is the directory of everything that TestMain built.
var binaries string

const goSDK = "github.com/modelcontextprotocol/go-sdk/conformance/"

// TestMain has the proxy be one process, also where the host is on stdio: nothing
// is to outlive a test.
func TestMain(m *testing.M) {
	_ = os.Setenv("MCP_TASKPROXY_DETACH", "never") // the name is a good one
	dir, err := os.MkdirTemp("", "taskproxy-conformance-")
	if err == nil {
		binaries = dir
		err = buildAll()
	}
	code := 1
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance: cannot build what the tests run:", err)
	} else {
		code = m.Run()
	}
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// buildAll takes the programs of the Go SDK at the version of go.mod.
func buildAll() error {
	err := build(binaries+string(filepath.Separator), "../servers/plain", "./viaproxy", goSDK+"everything-server", goSDK+"everything-client")
	if err != nil || os.Getenv("MCP_TASKPROXY_E2E_BINARY") != "" {
		return err
	}
	proxy := filepath.Join(binaries, executable("mcp-taskproxy"))
	if raceEnabled {
		return build(proxy, "-race", "../..")
	}
	return build(proxy, "../..")
}

// build runs go build in the directory of this package.
func build(output string, args ...string) error {
	args = append([]string{"build", "-buildvcs=false", "-o", output}, args...)
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
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

// program is the path of something that TestMain built.
func program(name string) string {
	return filepath.Join(binaries, executable(name))
}

// proxyBinary is the path of the proxy under test.
func proxyBinary() string {
	if path := os.Getenv("MCP_TASKPROXY_E2E_BINARY"); path != "" {
		return path
	}
	return program("mcp-taskproxy")
}
