// Package config is what a user can say: the YAML file, its checks, and the
// plain data that comes out of them.
//
// [Load] reads one file and either returns a [Config] in which every value is
// valid, or an error with one line for each mistake,
//
//	FILE:LINE:COL: what is wrong; what to write instead
//
// so that nobody else needs to check a setting again. [ParseDuration],
// [ParseURL], [ParseHeader], [ParseListen] and the like apply the same rules to
// flags and environment variables; [Config.Check] is for what can only be said
// when these are merged with the file. Everything here is called once, at the
// start, and nothing is kept: a Config is a value that its owner may copy.
//
// The values of headers and the path and query of a URL may be secrets: they
// are in no error, and a Config prints without them.
package config

import "time"

// Mode says when a call of a tool becomes a task.
type Mode string

// The modes, as the file spells them.
const (
	Never    Mode = "never"    // always answer directly
	After    Mode = "after"    // answer directly up to Policy.After, then make a task
	Always   Mode = "always"   // make a task at once
	Required Mode = "required" // as Always; a host that declares no tasks is refused
)

// Input says where the questions go that the server asks during a call that may
// become a task.
type Input string

// The values of Input, as the file spells them.
const (
	InTask     Input = "in-task"     // the call becomes a task at once, and the host answers it there
	BeforeTask Input = "before-task" // the call itself asks, as long as it is no task
)

// Approve says which calls a person confirms before they reach the server.
type Approve string

// The values of Approve, as the file spells them.
const (
	ApproveNever       Approve = "false"
	ApproveAlways      Approve = "true"
	ApproveDestructive Approve = "destructive" // those of tools that do not say that they destroy nothing
)

// UpstreamTasks says what becomes of tasks that the server itself makes.
type UpstreamTasks string

// The values of UpstreamTasks, as the file spells them.
const (
	TasksAuto        UpstreamTasks = "auto"        // they become tasks of the proxy
	TasksOff         UpstreamTasks = "off"         // the server is never asked for any
	TasksPassthrough UpstreamTasks = "passthrough" // the proxy makes none itself: for all tools or none
)

// Policy is how calls of one tool are treated. Durations are whole
// milliseconds, the unit of the protocol's ttlMs and pollIntervalMs.
type Policy struct {
	Task         Mode
	After        time.Duration // read in mode After, and in Always and Required with BeforeTask; 0 means at once
	TTL          time.Duration // how long a finished task is kept
	PollInterval time.Duration // how often the host is asked to poll
	MaxRun       time.Duration // a task that runs longer is ended; 0 is off
	Stall        time.Duration // a task silent for longer is ended; 0 is off
	Input        Input
	InputTimeout time.Duration // a question open for longer is taken as declined; never 0
	Approve      Approve
	// FallbackAfter is how long a host without tasks waits before it gets a ticket
	// in the place of the answer; 0 is off.
	FallbackAfter time.Duration
	// KeepAlive is after how much silence a host that asked for progress, and waits
	// for its answer, hears that the call is still at work; 0 is off.
	KeepAlive     time.Duration
	UpstreamTasks UpstreamTasks
	Concurrency   int // calls of the tool at work at a time; 0 is off
}

// ToolPolicy is the policy of the tools whose names match Pattern, an exact
// name or a glob in the syntax of [path.Match].
type ToolPolicy struct {
	Pattern string
	Policy  Policy // complete: what the file leaves out comes from Config.Policy
}

// Config is everything that the file can say, with defaults filled in.
type Config struct {
	Command              []string // program and arguments of the wrapped server; empty if the file names none
	URL                  string   // the server's address where it is spoken to over HTTP; never beside Command
	Headers              []Header // sent with every request to URL: see HeaderValues
	ForwardHeaders       []string // canonical names that are passed on from a host's requests to URL
	ForwardAuthorization bool     // whether Authorization is passed on, too
	Listen               Listen   // serving hosts over HTTP
	StateDir             string   // empty if the file names none: see DefaultStateDir
	UpstreamEra          string   // auto, initialize or stateless
	Detach               string   // auto: tasks go on when the host is gone; never: they end with it
	Fallback             Fallback // for hosts without tasks, where the policy has FallbackAfter
	OlderTasks           OlderTasks
	Policy               Policy // for every tool that no entry of Tools matches
	Tools                []ToolPolicy
	Node                 string // stands in front of the ids of tasks and sessions; empty for none
	Running              int    // tasks at work at a time; 0 is off
	RunningPerOwner      int    // and of one owner, where owners are told apart; 0 is off
	Queued               int    // calls that wait for their turn
	WhenFull             string // queue, or reject what finds no place
	Stored               int    // tasks that are kept, running ones included; 0 is off
	StoreBytes           int64  // on disk, in the state directory
	ResultBytes          int64  // the largest result that a task gives as it is
	LargeResults         string // spill, truncate or reject: what becomes of a larger one
	Questions            int    // calls that wait for their hosts to come back with answers
	Listeners            int    // subscriptions, and tasks in them, that a session may listen to
	MessageBytes         int64  // the longest message that is read, in bytes
	LogLevel             string // trace, debug, info, warn or error
	LogPayloads          bool   // whether arguments and results may appear in logs
}

// Default is the configuration of an empty file.
func Default() Config {
	return Config{
		UpstreamEra: "auto",
		Detach:      "auto",
		Fallback:    Fallback{Result: "task_result", Status: "task_status", Cancel: "task_cancel", Wait: 50 * time.Second},
		OlderTasks:  OlderTasks{ErrorStatus: "failed"},
		Listen: Listen{
			Endpoint: "/mcp", HeaderBytes: 64 << 10, Connections: 1024,
			Sessions: 64, SessionIdle: 10 * time.Minute, HeaderTimeout: 10 * time.Second,
		},
		Policy: Policy{
			Task: After, After: 5 * time.Second,
			TTL: 24 * time.Hour, PollInterval: time.Second, MaxRun: 24 * time.Hour,
			Input: InTask, InputTimeout: time.Hour, Approve: ApproveNever, UpstreamTasks: TasksAuto,
		},
		Running: 64, RunningPerOwner: 16, Queued: 256, WhenFull: "queue",
		Stored: 10000, StoreBytes: 1 << 30, ResultBytes: 16 << 20, LargeResults: "spill", Questions: 1000, Listeners: 4096,
		MessageBytes: 32 << 20,
		LogLevel:     "info",
	}
}

// Options are what wins over the file. A nil *Options is none.
type Options struct {
	// After, if not nil, makes "after this long" the default policy, as if the
	// file had said so at its top: tools that say nothing else inherit it.
	After *time.Duration
	// FallbackAfter, if not nil, is likewise the default.
	FallbackAfter *time.Duration
}
