package rawmcp

import (
	"flag"
	"strings"
	"time"
)

// Options says how the server misbehaves and what it writes down. Zero values
// mean a well-behaved server.
type Options struct {
	Version      string // initialize era: the one revision it speaks
	SilentProbe  bool   // initialize era: no answer to anything before initialize
	GarbageProbe bool   // initialize era: answers server/discover with a line that is no JSON
	ExitOnProbe  bool   // initialize era: exits with status 3 when it meets server/discover
	ProbeCode    int    // initialize era: error code for server/discover
	Eager        int    // initialize era: list changes right behind the answer to initialize
	RefuseCode   int    // initialize era: error code for a tool that wants a task and is called plainly
	Queue        bool   // initialize era: what a task asks waits for tasks/result
	Listen       bool   // stateless era: subscriptions/listen tells of tasks

	StartDelay time.Duration // before the first line is read
	Banner     bool          // banner, ANSI codes and blank lines on stdout first
	Junk       bool          // a line that is no JSON before every message
	CRLF       bool          // lines end with \r\n
	IgnoreEOF  bool          // goes on living after stdin ended
	IgnoreTerm bool          // ignores SIGTERM
	Tasks      string        // it makes tasks of its own: the support that tools have, optional, required or forbidden
	TasksOf    string        // tools with another support: TOOL=SUPPORT,…
	Poll       time.Duration // how often its tasks are to be asked for
	Effects    string        // file that gets one line for every tools/call and every cancellation
	Log        string        // file that gets every line received, raw
}

// Register defines the flags that fill o.
func (o *Options) Register(fs *flag.FlagSet) {
	fs.DurationVar(&o.StartDelay, "start-delay", 0, "wait this long before reading")
	fs.BoolVar(&o.Banner, "banner", false, "print a banner on stdout first")
	fs.BoolVar(&o.Junk, "junk", false, "print a junk line before every message")
	fs.BoolVar(&o.CRLF, "crlf", false, "end lines with \\r\\n")
	fs.BoolVar(&o.IgnoreEOF, "ignore-eof", false, "stay after stdin ended")
	fs.BoolVar(&o.IgnoreTerm, "ignore-term", false, "ignore SIGTERM")
	fs.StringVar(&o.Tasks, "tasks", "", "make tasks of calls; the `support` that tools have: optional, required or forbidden")
	fs.StringVar(&o.TasksOf, "tasks-of", "", "tools with another support, as `TOOL=SUPPORT,…`")
	fs.DurationVar(&o.Poll, "poll", 50*time.Millisecond, "how often its tasks are to be asked for")
	fs.StringVar(&o.Effects, "effects", "", "append a line for every tools/call to this `file`")
	fs.StringVar(&o.Log, "log", "", "append every line received to this `file`")
}

// RegisterInitialize defines the flags of the initialize era.
func (o *Options) RegisterInitialize(fs *flag.FlagSet) {
	fs.StringVar(&o.Version, "version", "2024-11-05", "the `revision` it speaks")
	fs.BoolVar(&o.SilentProbe, "silent-probe", false, "answer nothing before initialize")
	fs.BoolVar(&o.GarbageProbe, "garbage-probe", false, "answer server/discover with garbage")
	fs.BoolVar(&o.ExitOnProbe, "exit-on-probe", false, "exit with status 3 on server/discover")
	fs.IntVar(&o.Eager, "eager", 0, "report this many list changes right behind the answer to initialize")
	fs.IntVar(&o.RefuseCode, "refuse-code", methodNotFound, "error `code` for a plain call of a tool that wants a task")
	fs.BoolVar(&o.Queue, "queue", false, "have the questions of tasks wait for tasks/result")
	fs.IntVar(&o.ProbeCode, "probe-code", methodNotFound, "error `code` for server/discover")
}

// RegisterStateless defines the flags of the stateless era.
func (o *Options) RegisterStateless(fs *flag.FlagSet) {
	fs.BoolVar(&o.Listen, "listen", false, "tell of tasks on subscriptions")
}

// support is what the server does of tasks for a tool: "forbidden" where it
// makes none.
func (o *Options) support(tool string) string {
	if o.Tasks == "" {
		return "forbidden"
	}
	for pair := range strings.SplitSeq(o.TasksOf, ",") {
		if name, support, _ := strings.Cut(pair, "="); name == tool {
			return support
		}
	}
	return o.Tasks
}
