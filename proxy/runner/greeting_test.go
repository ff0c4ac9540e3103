//go:build unix

package runner

import (
	"bufio"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// answered is a connection to somebody who takes one line and says this.
func answered(t *testing.T, answer string) *net.UnixConn {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = bufio.NewReader(conn).ReadString('\n')
		_, _ = io.WriteString(conn, answer)
	}()
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(); _ = l.Close(); <-done })
	return conn
}

func TestAnswersOfARunner(t *testing.T) {
	const skewed = `{"protocol":9,"version":"v9","pid":7}` + "\n"
	for name, test := range map[string]struct {
		want, answer string
		lost         bool
		fact         string // of the error; none if there is none
	}{
		"a welcome":                    {want: wantSide, answer: `{"protocol":1,"pid":7,"session":"s","later":{}}` + "\n"},
		"a refusal":                    {want: wantServe, answer: `{"protocol":1,"error":"no room"}` + "\n", fact: "no room"},
		"another version":              {want: wantSide, answer: skewed, fact: "mcp-taskproxy stop --state-dir /d"},
		"another version, to end it":   {want: wantStop, answer: skewed},
		"another version, to look":     {want: wantList, answer: skewed},
		"a refusal by another version": {want: wantSide, answer: `{"protocol":9,"error":"too old"}` + "\n", fact: "too old"},
		"nothing":                      {want: wantSide, lost: true, fact: "does not answer"},
		"half a line":                  {want: wantSide, answer: `{"protocol":1`, lost: true, fact: "does not answer"},
		"something else":               {want: wantSide, answer: "220 ready\n", lost: true, fact: "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := answered(t, test.answer)
			w, err := greet(conn, bufio.NewReader(conn), greeting{Want: test.want, dir: "/d"})
			var lost *lostError
			if errors.As(err, &lost) != test.lost {
				t.Errorf("%v: another runner is looked for: %v", err, !test.lost)
			}
			if test.fact == "" && (err != nil || w.PID != 7) {
				t.Errorf("%+v, %v", w, err)
			}
			if test.fact != "" && (err == nil || !strings.Contains(err.Error(), test.fact)) {
				t.Errorf("%v, want %q", err, test.fact)
			}
		})
	}
}

// What follows the first line is the host's, and must be there to the byte.
func TestFirstLineEndsWhereItEnds(t *testing.T) {
	conn := answered(t, `{"pid":1}`+"\n"+`{"jsonrpc":`)
	if err := writeLine(conn, greeting{}); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(conn)
	var w welcome
	if err := readLine(conn, r, &w); err != nil || w.PID != 1 {
		t.Fatalf("%+v, %v", w, err)
	}
	if rest, err := io.ReadAll(r); string(rest) != `{"jsonrpc":` || err != nil {
		t.Errorf("%q, %v is left", rest, err)
	}
}

func TestFirstLineHasALimit(t *testing.T) {
	r := bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", greetingBytes+100<<10)), 64<<10)
	var w welcome
	if err := readLine(answered(t, ""), r, &w); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("%v", err)
	}
}

// Arguments and variables need not be text.
func TestCommandsKeepTheirBytes(t *testing.T) {
	want := upstream.Command{Args: []string{"a\xff\x00b", ""}, Env: []string{"E=\xfe\n"}, Dir: "/d\x80"}
	if diff := cmp.Diff(want, commandOf(want).command()); diff != "" {
		t.Error(diff)
	}
}
