package runner

import (
	"io"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/host"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// Server is an upstream server and how its calls are treated: plain data, which
// a front hands over to its runner.
type Server struct {
	Policies proxy.Policies
	Limits   proxy.Limits
	// Upstream is the server as a child process, unless URL names one that
	// runs elsewhere and is spoken to over HTTP.
	Upstream upstream.Command
	URL      string
	// Header goes with every request to URL. It holds secrets: it is never
	// stored or logged.
	Header http.Header
	// ForwardHeaders are canonical names: what a host's request says under
	// them is passed on to URL, for its owner only.
	ForwardHeaders []string
	// ForwardAuthorization does the same for Authorization.
	ForwardAuthorization bool
	// Era overrides the order in which the upstream server's eras are tried;
	// nil follows the host.
	Era *upstream.Era
	// Passthrough leaves tasks to the host and the server.
	Passthrough bool
	// OlderTasks and Fallback are how hosts see their tasks that know those of
	// revision 2025-11-25, or none at all.
	OlderTasks host.OlderTasks
	Fallback   host.Fallback
	// Identity tells this upstream server from others that use the same state
	// directory.
	Identity string
	// MessageBytes limits one message in either direction.
	MessageBytes int
	// Listeners limits the subscriptions of a session.
	Listeners int
	// LogLevel is the least severe that is logged, as zerolog names it.
	LogLevel    string
	LogPayloads bool
}

// Options is all that a run needs to know.
type Options struct {
	Server
	Storage
	// Listen, if not nil, serves hosts over HTTP; else there is one host, on
	// In and Out.
	Listen *Listen
	In     io.Reader
	Out    io.Writer
	// Stderr takes the server's standard error.
	Stderr io.Writer
	// Version is this program's own.
	Version string
	Log     zerolog.Logger
}

// Listen is where and for whom hosts are served over HTTP.
type Listen struct {
	Address         string // host:port; port 0 is any free one
	Endpoint        string // the path of the MCP endpoint, such as /mcp
	TLSCert, TLSKey string // PEM files; both, or none for plain HTTP
	Auth            Auth
	// Origins are whole origins, scheme://host[:port]; Hosts are names or
	// addresses without a port. Both are in lower case, and allowed besides
	// loopback's own.
	Origins, Hosts []string
	HeaderBytes    int           // the longest head of one request
	Connections    int           // open at a time
	Sessions       int           // upstream sessions at a time
	SessionIdle    time.Duration // until an unused session is closed
	HeaderTimeout  time.Duration // for a request's head to arrive
}

// Auth is how hosts show who they are: a token of TokensFile, or a JWT of
// Issuer. If both are empty, everybody is the one local owner.
type Auth struct {
	TokensFile                string
	Issuer, Audience, JWKSURL string // JWKSURL is found through Issuer if empty
	Scopes                    []string
	Resource                  string // this server's public URL; empty derives it from each request
}
