package config

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHeadersOfFlagsReplaceThoseOfTheFile(t *testing.T) {
	file, _ := ParseHeaders([]string{"X-A: file", "X-B: file"})
	flags, err := ParseHeaders([]string{"x-b: flag, more", "X-Url:https://h:1/ "})
	if err != nil {
		t.Fatal(err)
	}
	got, err := HeaderValues(MergeHeaders(file, flags))
	want := http.Header{"X-A": {"file"}, "X-B": {"flag, more"}, "X-Url": {"https://h:1/"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if file[1].value.text != "file" || len(file) != 2 {
		t.Error("merging changed what it read from")
	}
}

func TestWrongHeadersOfFlagsSayWhatToWrite(t *testing.T) {
	for text, want := range map[string]string{
		"hunter2":                `there is no colon; write 'Name: value'`,
		": hunter2":              `this is not the name of a header; write letters, digits and dashes, such as X-Tenant`,
		"Bearer hunter2: x":      `this is not the name of a header; write letters, digits and dashes, such as X-Tenant`,
		"X-A:":                   `X-A: the value is empty; write one, or remove the header`,
		"X-A: hunter2\nX-B: c":   `X-A: the value has a line break or another control character; write it on one line`,
		"content-length: 5":      `Content-Length belongs to the protocol and is written by the proxy; remove it`,
		"connection: keep-alive": `Connection belongs to one connection and is written by the HTTP client; remove it`,
	} {
		if _, err := ParseHeaders([]string{text}); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := ParseHeaders([]string{"X-A: hunter2", "x-a: hunter2"}); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("twice: %v", err)
	}
}

func TestSecretsComeFromVariablesAndFiles(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CONFIG_TEST_TOKEN", "e")
	writeFile(t, filepath.Join(dir, "token"), "f\r\n\n")
	c, err := Parse(filepath.Join(dir, "c.yaml"), []byte("headers: {A: {env: CONFIG_TEST_TOKEN, prefix: 'Bearer '}, B: {file: token}}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := HeaderValues(c.Headers)
	if diff := cmp.Diff(http.Header{"A": {"Bearer e"}, "B": {"f"}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}

func TestMissingSecretsNameTheirPlace(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CONFIG_TEST_TOKEN", "hunter2\x01")
	writeFile(t, filepath.Join(dir, "empty"), "\n")
	writeFile(t, filepath.Join(dir, "lines"), "hunter2\nhunter2")
	writeFile(t, filepath.Join(dir, "long"), strings.Repeat("hunter2", maxSecret))
	name := filepath.Join(dir, "c.yaml")
	c, err := Parse(name, []byte("headers:\n  A: {env: CONFIG_TEST_NONE}\n  B: {file: none}\n  C: {file: empty}\n  D: {file: lines}\n  E: {file: long}\n  F: {env: CONFIG_TEST_TOKEN}"), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = HeaderValues(c.Headers)
	got := strings.Split(strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""), "\n")
	for i, want := range []string{
		"c.yaml:2:6: headers.A: the environment variable CONFIG_TEST_NONE is not set; ", "c.yaml:3:6: headers.B: open none: ",
		"c.yaml:4:6: headers.C: the value is empty; ", "c.yaml:5:6: headers.D: the value has a line break ",
		`c.yaml:6:6: headers.E: "long" is longer than 64 KiB; `, "c.yaml:7:6: headers.F: the value has a line break or another control character; ",
	} {
		if i >= len(got) || !strings.HasPrefix(got[i], want) || strings.Contains(got[i], "hunter2") {
			t.Errorf("%q, want %s", got, want)
		}
	}
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
