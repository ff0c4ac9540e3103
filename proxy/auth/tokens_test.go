package auth

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

func hashOf(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }

func lineFor(name, token string) string { return name + " sha256:" + hashOf(token) + "\n" }

func writeTokens(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	replace(t, path, text)
	return path
}

// replace puts a new file in the place of the old one, as one should.
func replace(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestTokensOfOneNameAreOneOwner(t *testing.T) {
	s := serve(t, Options{TokensFile: writeTokens(t, "\ufeff# who may come in\r\n\r\n"+
		lineFor("alice", "old-token-1")+lineFor("alice", "new-token-2")+"  bob\tsha256:"+strings.ToUpper(hashOf("bobs-token-3")))})
	old, new, bob := s.bearer(t, "old-token-1"), s.bearer(t, "new-token-2"), s.bearer(t, "bobs-token-3")
	if old.status != 200 || old.body != new.body {
		t.Errorf("the owner changed with the token: %v, %v", old, new)
	}
	if bob.status != 200 || bob.body == old.body {
		t.Errorf("two names are one owner, or one is none: %v, %v", old, bob)
	}
}

func TestBadTokensFilesNameTheLineAndTheRemedy(t *testing.T) {
	const secret = "the-token-itself"
	for name, c := range map[string]struct{ text, want string }{
		"empty":                 {"", ":1: there is no token"},
		"comments only":         {"# alice\n\n", ":2: there is no token"},
		"the token itself":      {secret + "\n", ":1: not a name and a hash"},
		"name and token":        {"\nalice " + secret + "\n", ":2: the second word does not begin with sha256:"},
		"token as hash":         {"alice sha256:" + secret + "\n", ":1: what follows sha256:"},
		"a digit short":         {lineFor("alice", "x")[:76], ":1: what follows sha256:"},
		"a digit more":          {strings.TrimSpace(lineFor("alice", "x")) + "0", ":1: what follows sha256:"},
		"output of sha256sum":   {strings.TrimSpace(lineFor("alice", "x")) + "  -\n", ":1: not a name and a hash"},
		"hash of nothing":       {lineFor("alice", ""), ":1: this is the hash of nothing"},
		"one token, two owners": {lineFor("alice", "x") + lineFor("bob", "x"), ":2: this token has another name"},
		"much too large":        {strings.Repeat("#\n", maxTokensFile), "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			path := writeTokens(t, c.text)
			_, err := New(t.Context(), &Options{TokensFile: path, Key: testKey})
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error %v, want the path and %q", err, c.want)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error quotes the token: %v", err)
			}
		})
	}
}

func TestATokensFileMustBeOneThatCanBeReadAgain(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing")} {
		if _, err := New(t.Context(), &Options{TokensFile: path, Key: testKey}); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one that names it", path, err)
		}
	}
}

func TestTheTokensFileIsReadAgainWhenItChanges(t *testing.T) {
	path := writeTokens(t, lineFor("alice", "first-token"))
	s := serve(t, Options{TokensFile: path})
	owner := s.bearer(t, "first-token").body
	steps := []struct {
		name, text string // no text: the file is deleted
		good, bad  string
		log        string
	}{
		{"replaced", lineFor("alice", "second-token"), "second-token", "first-token", "read again"},
		{"malformed", "alice second-token\n", "second-token", "first-token", "tokens:1: the second word"},
		{"deleted", "", "second-token", "first-token", "no such file"},
		{"back", lineFor("alice", "third-token"), "third-token", "second-token", "read again"},
	}
	for _, step := range steps {
		if step.text == "" {
			os.Remove(path)
		} else {
			replace(t, path, step.text)
		}
		before := strings.Count(s.log.String(), step.log)
		for range 3 {
			s.clock.advance(lookEvery)
			if got := s.bearer(t, step.good); got.status != 200 || got.body != owner {
				t.Errorf("%s: status %d, owner %q; want %q", step.name, got.status, got.body, owner)
			}
			s.wantStatus(t, step.name, step.bad, 401)
		}
		if n := strings.Count(s.log.String(), step.log) - before; n != 1 && runtime.GOOS != "windows" {
			t.Errorf("%s: %q is in the log %d times, want once:\n%s", step.name, step.log, n, s.log.String())
		}
	}
}

func TestTheTokensFileIsLookedAtOnceASecond(t *testing.T) {
	path := writeTokens(t, lineFor("alice", "first-token"))
	s := serve(t, Options{TokensFile: path})
	s.wantStatus(t, "before", "first-token", 200)
	replace(t, path, lineFor("alice", "second-token"))
	s.wantStatus(t, "within the second", "first-token", 200)
	s.clock.advance(lookEvery)
	s.wantStatus(t, "after it", "first-token", 401)
}

// A file system's clock goes in steps: two changes in one of them look alike.
func TestAChangeInTheInstantOfTheLastOneIsSeen(t *testing.T) {
	path := writeTokens(t, lineFor("alice", "first-token"))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s := serve(t, Options{TokensFile: path})
	if err := os.WriteFile(path, []byte(lineFor("alice", "other-token")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	s.clock.advance(lookEvery)
	s.wantStatus(t, "after the change", "other-token", 200)
}

func TestATokensFileOpenToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no mode bits on Windows")
	}
	for mode, want := range map[os.FileMode]string{0o600: "", 0o400: "", 0o640: "warn", 0o644: "warn", 0o660: "warn", 0o602: "error", 0o666: "error"} {
		path := writeTokens(t, lineFor("alice", "x"))
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		var log lockedBuffer
		_, err := New(t.Context(), &Options{TokensFile: path, Key: testKey, Log: zerolog.New(&log)})
		if (err != nil) != (want == "error") || err == nil && strings.Contains(log.String(), `"warn"`) != (want == "warn") {
			t.Errorf("mode %o: error %v, log %s; want %q", mode, err, log.String(), want)
		}
	}
}
