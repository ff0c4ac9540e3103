package host

import (
	"slices"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// statelessVersions are the revisions whose requests stand by themselves,
// newest first.
var statelessVersions = []string{"2026-07-28"}

// Keys of _meta (revision 2026-07-28, Base Protocol, _meta).
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaInfo         = "io.modelcontextprotocol/clientInfo"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
	metaLogLevel     = "io.modelcontextprotocol/logLevel"
	metaServerInfo   = "io.modelcontextprotocol/serverInfo"
	metaSubscription = "io.modelcontextprotocol/subscriptionId"
	metaRelatedTask  = "io.modelcontextprotocol/related-task" // 2025-11-25 only
	metaProxy        = "mcp-taskproxy/proxy"
	metaProgress     = "mcp-taskproxy/progress"
	metaTask         = "mcp-taskproxy/task"
)

const tasksExtension = "io.modelcontextprotocol/tasks"

// sender is what a request says of whoever sent it. It holds for that request
// alone (revision 2026-07-28, Base Protocol, Statelessness).
type sender struct {
	caller   upstream.Caller
	tasks    bool // the Tasks extension is declared
	logLevel int  // index in upstream.LogLevels, -1 for none
}

// opensStateless reports whether a message carries per-request _meta.
func opensStateless(m wire.Message) bool {
	meta := wire.Get(m.Params(), "_meta")
	return meta != nil && (wire.Get(meta, metaVersion) != nil || wire.Get(meta, metaCapabilities) != nil)
}

// readSender checks the required keys (revision 2026-07-28, Base Protocol,
// Per-request protocol fields): a missing one is -32602, another version than
// ours -32022 with those that we know.
func readSender(m wire.Message) (sender, *wire.Error) {
	var of [4][]byte
	wire.GetEach(wire.Get(m.Params(), "_meta"), of[:], metaVersion, metaCapabilities, metaInfo, metaLogLevel)
	version, ok := wire.String(of[0])
	if !ok {
		return sender{}, missingMeta(metaVersion, "a string, the revision of the request")
	}
	if !slices.Contains(statelessVersions, version) {
		return sender{}, unsupportedVersion(version)
	}
	capabilities := of[1]
	if !wire.IsObject(capabilities) {
		return sender{}, missingMeta(metaCapabilities, "an object, empty if there are none")
	}
	s := sender{logLevel: -1, caller: upstream.Caller{
		Stateless: true, Info: of[2], Capabilities: capabilities, LogLevel: of[3],
	}}
	s.tasks = wire.IsObject(wire.Lookup(capabilities, "extensions", tasksExtension))
	return s, s.readLogLevel()
}

func (s *sender) readLogLevel() *wire.Error {
	if s.caller.LogLevel == nil {
		return nil
	}
	level, _ := wire.String(s.caller.LogLevel)
	if s.logLevel = slices.Index(upstream.LogLevels[:], level); s.logLevel < 0 {
		return wire.Errorf(wire.CodeInvalidParams, "params._meta[%q] must be one of %q", metaLogLevel, upstream.LogLevels)
	}
	return nil
}

func missingMeta(key, what string) *wire.Error {
	return wire.Errorf(wire.CodeInvalidParams,
		"params._meta[%q] is required: %s. (A client of a revision before %s sends initialize first.)", key, what, statelessVersions[0])
}

func unsupportedVersion(requested string) *wire.Error {
	text := "Unsupported protocol version"
	if slices.Contains(initializeVersions, requested) {
		text += ": that revision opens with initialize"
	}
	return &wire.Error{Code: wire.CodeUnsupportedVersion, Message: text, Data: struct {
		Supported []string `json:"supported"`
		Requested string   `json:"requested"`
	}{supportedVersions(), requested}}
}

func supportedVersions() []string {
	return slices.Concat(statelessVersions, initializeVersions)
}
