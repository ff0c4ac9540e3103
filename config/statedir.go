package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// ExpandHome replaces a leading ~ by the user's home directory, as hosts that
// start a command without a shell do not. The error does not say which setting
// or flag it was.
func ExpandHome(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok {
		return path, nil
	}
	if rest != "" && !os.IsPathSeparator(rest[0]) {
		return "", fmt.Errorf("%s: the home directory of another user is not looked up; write the whole path", quoted(path))
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("%s: the home directory is unknown (%v); write the whole path", quoted(path), err)
	}
	return filepath.Join(home, rest), nil
}

// fromFile resolves a relative path from the directory of the file that names
// it: hosts start the proxy in directories of their own choice.
func fromFile(file, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(filepath.Dir(file), path)
}

// DefaultStateDir is where the tasks of one upstream server are kept if nobody
// says otherwise. It is one for each server and working directory dir, and
// another one where hosts are served over HTTP, as one process alone holds it. Where hosts and server are both spoken to over HTTP, dir
// does not matter: such a process may be started from anywhere.
//
//	$XDG_STATE_HOME/mcp-taskproxy/NAME-HASH   or ~/.local/state/...
//	~/Library/Application Support/...         on macOS
//	%LocalAppData%\...                        on Windows
//
// The error is for a user whose home directory is unknown.
func (c Config) DefaultStateDir(dir string) (string, error) {
	root, err := StateRoot()
	if err != nil {
		return "", err
	}
	return filepath.Join(root, c.stateName(dir)), nil
}

// StateRoot is where the directories of [Config.DefaultStateDir] are.
func StateRoot() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		home = ""
	}
	root := stateRoot(runtime.GOOS, os.Getenv, home)
	if root == "" {
		return "", errors.New("no home directory to keep tasks in; set --state-dir or state_dir")
	}
	return filepath.Join(root, "mcp-taskproxy"), nil
}

// stateRoot is "" if there is no home. A relative XDG_STATE_HOME is ignored,
// as the XDG base directory specification asks.
func stateRoot(goos string, getenv func(string) string, home string) string {
	if goos == "windows" && getenv("LocalAppData") != "" {
		return getenv("LocalAppData")
	}
	if xdg := getenv("XDG_STATE_HOME"); goos != "windows" && filepath.IsAbs(xdg) {
		return xdg
	}
	if home == "" {
		return ""
	}
	switch goos {
	case "windows":
		return filepath.Join(home, "AppData", "Local")
	case "darwin":
		return filepath.Join(home, "Library", "Application Support")
	}
	return filepath.Join(home, ".local", "state")
}

// Fingerprint tells one upstream server from others without giving away how:
// by its URL, or by its command line, taken as written, and the directory dir
// that it runs in.
func (c Config) Fingerprint(dir string) string { return digest(c.server(dir)) }

// server begins with a path for a command, and with a word for a URL.
func (c Config) server(dir string) []string {
	if c.URL != "" {
		return []string{"url", c.URL}
	}
	return append([]string{dir}, c.Command...)
}

func digest(parts []string) string {
	h := sha256.New()
	for _, s := range parts {
		fmt.Fprintf(h, "%d:%s", len(s), s) // with lengths: ["a b"] and ["a", "b"] differ
	}
	return hex.EncodeToString(h.Sum(nil))
}

func (c Config) stateName(dir string) string {
	parts := c.server(dir)
	if c.Listen.Address != "" {
		parts = append([]string{"listen"}, parts...)
	} else if c.URL != "" {
		parts = append(parts, dir)
	}
	return c.serverName() + "-" + digest(parts)[:8]
}

func (c Config) serverName() string {
	if u, err := url.Parse(c.URL); err == nil && c.URL != "" {
		return safeName(u.Hostname())
	}
	if len(c.Command) > 0 {
		return safeName(c.Command[0])
	}
	return "server"
}

// safeName makes the program's name fit for a directory on every system.
func safeName(program string) string {
	base := program[strings.LastIndexAny(program, `/\`)+1:]
	base = strings.TrimSuffix(strings.ToLower(base), ".exe")
	base = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '.' {
			return c
		}
		return '-'
	}, base)
	base = strings.Trim(base[:min(len(base), 32)], "-.")
	if base == "" {
		return "server"
	}
	return base
}
