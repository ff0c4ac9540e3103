package config

import (
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

func TestStateRootOfEverySystem(t *testing.T) {
	abs := filepath.Join(t.TempDir(), "xdg")
	home := filepath.Join("h", "u")
	for _, c := range []struct {
		name, goos, xdg, local, home, want string
	}{
		{"linux", "linux", "", "", home, filepath.Join(home, ".local", "state")},
		{"linux with XDG", "linux", abs, "", home, abs},
		{"relative XDG", "linux", "state", "", home, filepath.Join(home, ".local", "state")},
		{"macOS", "darwin", "", "", home, filepath.Join(home, "Library", "Application Support")},
		{"Windows", "windows", abs, "local", home, "local"},
		{"Windows without LocalAppData", "windows", abs, "", home, filepath.Join(home, "AppData", "Local")},
		{"no home", "linux", "", "", "", ""},
		{"no home with XDG", "linux", abs, "", "", abs},
	} {
		env := map[string]string{"XDG_STATE_HOME": c.xdg, "LocalAppData": c.local}
		if got := stateRoot(c.goos, func(k string) string { return env[k] }, c.home); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestServersDoNotShareAStateDirectory(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct {
		dir     string
		command []string
	}{
		{"/a", []string{"npx", "-y", "x"}}, {"/b", []string{"npx", "-y", "x"}}, {"/a", []string{"npx", "-y x"}},
		{"/a", []string{"npx", "-yx"}}, {"/a", []string{"npx", "-y", "x", ""}}, {"/an", []string{"px", "-y", "x"}},
	} {
		name := Config{Command: c.command}.stateName(c.dir)
		if other := seen[name]; other != "" {
			t.Errorf("%v in %s: %s, like %s", c.command, c.dir, name, other)
		}
		seen[name] = strings.Join(c.command, "|") + " in " + c.dir
		if again := (Config{Command: c.command}).stateName(c.dir); again != name {
			t.Errorf("%s, then %s", name, again)
		}
	}
}

func TestServersOverHTTPDoNotShareAStateDirectory(t *testing.T) {
	command, listen := []string{"npx", "x"}, Listen{Address: "127.0.0.1:0"}
	seen := map[string]bool{}
	for _, c := range []struct {
		dir string
		Config
	}{
		{"/a", Config{Command: command}}, {"/a", Config{Command: command, Listen: listen}}, {"/b", Config{Command: command, Listen: listen}},
		{"/a", Config{URL: "https://h/mcp"}}, {"/b", Config{URL: "https://h/mcp"}}, {"/a", Config{URL: "https://h/mcp?tenant=a"}},
		{"/a", Config{URL: "https://h/mcp", Listen: listen}}, {"/a", Config{URL: "http://h/mcp", Listen: listen}},
		{"url", Config{Command: []string{"https://h/mcp"}}}, {"/a", Config{Command: []string{"https://h/mcp"}}},
	} {
		name := c.stateName(c.dir)
		if seen[name] {
			t.Errorf("%v %v in %s: %s is another's", c.Command, c.Config, c.dir, name)
		}
		seen[name] = true
	}
}

func TestServerIsItselfFromEveryDirectoryAndPort(t *testing.T) {
	c := Config{URL: "https://h.example/mcp?a=b", Listen: Listen{Address: "127.0.0.1:1"}}
	moved := c
	moved.Listen.Address = "127.0.0.1:2"
	if c.Fingerprint("/a") != c.Fingerprint("/b") {
		t.Error("a URL is another server in another directory")
	}
	if name := c.stateName("/a"); name != moved.stateName("/b") || !strings.HasPrefix(name, "h.example-") {
		t.Errorf("%s, then %s", name, moved.stateName("/b"))
	}
	stdio := Config{URL: c.URL}
	if stdio.Fingerprint("/a") != c.Fingerprint("/a") {
		t.Error("a URL is another server for another host")
	}
}

// What is on disk today must be found tomorrow.
func TestStateNameOfACommandIsKept(t *testing.T) {
	if got := (Config{Command: []string{"npx", "-y", "x"}}).stateName("/a"); got != "npx-fe74f19b" {
		t.Error(got)
	}
}

func TestStateNamesAreSafe(t *testing.T) {
	safe := regexp.MustCompile(`^[a-z0-9_][a-z0-9_.-]*-[0-9a-f]{8}$`)
	for program, want := range map[string]string{
		"npx": "npx", "/usr/bin/Python3.12": "python3.12", `C:\tools\Server.EXE`: "server", "..": "server", "": "server",
		"./é/my server": "my-server", strings.Repeat("x", 300): strings.Repeat("x", 32), "über": "ber", "a/": "server",
	} {
		got := Config{Command: []string{program}}.stateName("/d")
		if !safe.MatchString(got) || got[:len(got)-9] != want {
			t.Errorf("%q: %s, want %s-...", program, got, want)
		}
	}
}

func TestDefaultStateDirIsOnePerServer(t *testing.T) {
	root := t.TempDir()
	t.Setenv("XDG_STATE_HOME", root)
	t.Setenv("LocalAppData", root)
	if runtime.GOOS == "windows" {
		t.Setenv("XDG_STATE_HOME", "")
	}
	got, err := Config{Command: []string{"/bin/npx", "x"}}.DefaultStateDir("/d")
	if err != nil || filepath.Dir(got) != filepath.Join(root, "mcp-taskproxy") {
		t.Errorf("%s, %v", got, err)
	}
}

func TestTildeIsExpanded(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for in, want := range map[string]string{"~": home, "~/a": filepath.Join(home, "a"), "/~": "/~", "a~": "a~", "": ""} {
		if got, err := ExpandHome(in); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	if got, err := ExpandHome("~bob"); err == nil {
		t.Errorf("~bob: %q", got)
	}
}
