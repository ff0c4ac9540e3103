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
		name := stateName(c.command, c.dir)
		if other := seen[name]; other != "" {
			t.Errorf("%v in %s: %s, like %s", c.command, c.dir, name, other)
		}
		seen[name] = strings.Join(c.command, "|") + " in " + c.dir
		if again := stateName(c.command, c.dir); again != name {
			t.Errorf("%s, then %s", name, again)
		}
	}
}

func TestStateNamesAreSafe(t *testing.T) {
	safe := regexp.MustCompile(`^[a-z0-9_][a-z0-9_.-]*-[0-9a-f]{8}$`)
	for program, want := range map[string]string{
		"npx": "npx", "/usr/bin/Python3.12": "python3.12", `C:\tools\Server.EXE`: "server", "..": "server", "": "server",
		"./é/my server": "my-server", strings.Repeat("x", 300): strings.Repeat("x", 32), "über": "ber", "a/": "server",
	} {
		got := stateName([]string{program}, "/d")
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
	got, err := DefaultStateDir([]string{"/bin/npx", "x"}, "/d")
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
