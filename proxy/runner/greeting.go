package runner

import (
	"bufio"
	"encoding/json"
	"errors"
	"net"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// protocol is the version of what fronts and runners say to each other. It is
// raised when an older side could not go on, and only then: members may be added
// at any time, and whoever does not know one ignores it. Settings of a server are
// the exception: see settings.go.
const protocol = 1

// What a connection is for. Each begins with one line from either side, a
// greeting and a welcome; what follows depends.
const (
	wantSide  = "side"  // the runner sends notes; the first welcome names the session
	wantServe = "serve" // MCP, byte for byte, as on standard input and output; but see Passed
	wantList  = "list"  // nothing follows
	wantStop  = "stop"  // the end of the stream, when everything has ended
	// The last two are understood in every version.
)

// greeting is the first line of whoever connects.
type greeting struct {
	Protocol int    `json:"protocol"`
	Version  string `json:"version"` // of the program
	PID      int    `json:"pid"`
	Want     string `json:"want"`
	dir      string // the state directory, for what is said of it
	// Session pairs the connection that serves with its side.
	Session string `json:"session,omitempty"`
	// Server (a [Server], see settings.go) and Command are what to serve; with
	// wantServe only. They may hold secrets.
	Server  json.RawMessage `json:"server,omitempty"`
	Command *command        `json:"command,omitempty"`
	// Passed says that the descriptors of the host's input and output come with
	// the greeting. If it is in the welcome, too, the runner uses them, and what
	// follows is no MCP: a byte, when the front is told to end, and the end of the
	// stream, from the runner when it has let go of them. If it is not, nothing was
	// done with them.
	Passed bool `json:"passed,omitempty"`
}

// command is an upstream.Command as it is: not all that a system takes is text
// that JSON could carry.
type command struct {
	Args, Env [][]byte
	Dir       []byte
}

func commandOf(c upstream.Command) *command {
	return &command{bytesOf(c.Args), bytesOf(c.Env), []byte(c.Dir)}
}

func (c *command) command() upstream.Command {
	return upstream.Command{Args: textsOf(c.Args), Env: textsOf(c.Env), Dir: string(c.Dir)}
}

func bytesOf(texts []string) (all [][]byte) {
	for _, s := range texts {
		all = append(all, []byte(s))
	}
	return all
}

func textsOf(all [][]byte) (texts []string) {
	for _, b := range all {
		texts = append(texts, string(b))
	}
	return texts
}

// welcome is the runner's answer.
type welcome struct {
	Protocol int     `json:"protocol"`
	Version  string  `json:"version"`
	PID      int     `json:"pid"`
	Session  string  `json:"session,omitempty"`
	Passed   bool    `json:"passed,omitempty"`
	Error    string  `json:"error,omitempty"` // then nothing follows
	Listing  *Status `json:"listing,omitempty"`
}

// note is a line on the side of a session.
type note struct {
	Stderr []byte `json:"stderr,omitempty"` // for the front's standard error
	End    bool   `json:"end,omitempty"`    // the session is over in good order
	Error  string `json:"error,omitempty"`  // or because of this
}

// Status is what a runner is doing.
type Status struct {
	PID      int             `json:"pid"`
	Ending   bool            `json:"ending,omitempty"` // it was told to end, or has nothing to do
	Version  string          `json:"version"`
	StateDir string          `json:"state_dir"`
	Since    time.Time       `json:"since"`
	Sessions []SessionStatus `json:"sessions"`
	Tasks    []TaskStatus    `json:"tasks"`
}

// SessionStatus is one host's, or what is left of it while its tasks run.
type SessionStatus struct {
	Front     int       `json:"front"` // process id; 0 once it has gone
	Program   string    `json:"program"`
	Since     time.Time `json:"since"`
	Upstreams []int     `json:"upstreams"` // process ids
}

// TaskStatus is a task that runs.
type TaskStatus struct {
	ID      string           `json:"id"`
	Tool    string           `json:"tool"`
	Status  taskstate.Status `json:"status"`
	Message string           `json:"message,omitempty"`
	Since   time.Time        `json:"since"`
}

// greetingBytes bounds the first line: the environment and the policies are in
// it.
const greetingBytes = 16 << 20

// greetLimit is how long the other side may take for its first line.
const greetLimit = 10 * time.Second

// readLine reads the first line of the other side. What follows it stays in r.
func readLine(conn net.Conn, r *bufio.Reader, into any) error {
	if err := conn.SetReadDeadline(time.Now().Add(greetLimit)); err != nil {
		return err
	}
	var line []byte
	for more := true; more; {
		part, isPrefix, err := r.ReadLine()
		if err != nil {
			return err
		}
		if line, more = append(line, part...), isPrefix; len(line) > greetingBytes {
			return errors.New("the first line is too long")
		}
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

func writeLine(conn net.Conn, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := conn.SetWriteDeadline(time.Now().Add(greetLimit)); err != nil {
		return err
	}
	if _, err := conn.Write(append(text, '\n')); err != nil {
		return err
	}
	return conn.SetWriteDeadline(time.Time{})
}
