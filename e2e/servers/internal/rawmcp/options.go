package rawmcp

import (
	"flag"
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

	StartDelay time.Duration // before the first line is read
	Banner     bool          // banner, ANSI codes and blank lines on stdout first
	Junk       bool          // a line that is no JSON before every message
	CRLF       bool          // lines end with \r\n
	IgnoreEOF  bool          // goes on living after stdin ended
	IgnoreTerm bool          // ignores SIGTERM
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
	fs.IntVar(&o.ProbeCode, "probe-code", methodNotFound, "error `code` for server/discover")
}
