package e2e

import (
	"path/filepath"
	"runtime"
	"testing"
)

// transport is a way in which a conversation can be held.
type transport struct {
	name string
	// http says that the host is over HTTP, not on stdio.
	http bool
	// server is what speaks for the fixture over HTTP; nil if it is a child
	// process of the proxy.
	server func(testing.TB, []string) string
	sparse bool // only for conversations that ask for pairs
	// detached says that the host's process is a front, and the proxy's work is
	// done by a runner.
	detached bool
	short    bool // also with -short
}

var transports = []transport{
	{name: "proxied", short: true},
	{name: "forwarded", detached: true, sparse: true},
	{name: "host over http", http: true},
	{name: "server over http", server: startModernFront},
	{name: "server over sse", server: startSSEFront, sparse: true},
	{name: "both over http", short: true, http: true, server: startModernFront, sparse: true},
	{name: "http and sse", http: true, server: startSSEFront, sparse: true},
}

// startModernFront speaks the fixture's own era over Streamable HTTP.
func startModernFront(t testing.TB, argv []string) string {
	if argv[0] == fixture(t, "modern") {
		return startAloneFront(t, argv)
	}
	return startSessionFront(t, argv)
}

func TestConversations(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, path := range paths {
		c := readConversation(t, path)
		name := filepath.ToSlash(path[len("testdata")+1 : len(path)-len(".txtar")])
		for _, way := range transports {
			if testing.Short() && !way.short {
				continue // the whole is played without the race detector
			}
			if !way.sparse || c.Pairs && (c.Server[0] == "legacy" || way.detached || way.name == "both over http") {
				t.Run(way.name+"/"+name, func(t *testing.T) { playProxied(t, c, way) })
			}
		}
		if c.Direct {
			t.Run("direct/"+name, func(t *testing.T) { playDirect(t, c) })
		}
	}
}

func playProxied(t *testing.T, c conversation, way transport) {
	if c.Stdio != "" && way.http {
		t.Skip("the host must be on stdio: " + c.Stdio)
	}
	if c.Child != "" && way.server != nil {
		t.Skip("the server must be a process: " + c.Child)
	}
	if way.detached {
		mayDetach(t, c)
	}
	t.Parallel()
	p, seen := proxyAround(t, c.Server[0], c.Server[1:]...)
	p.Flags, p.Config = c.Flags, c.Config
	if way.server != nil {
		p.URL, p.Host.Apart = way.server(t, p.Upstream), true
	}
	start := p.start
	if way.http {
		start = p.startHTTP
	}
	a := &actor{t: t, seen: seen, bound: bindings{}, start: func() *host { return start(t) }}
	if way.detached {
		p.detached(t)
		a.kill = func() { p.killRunner(t); a.h.wait() }
	}
	a.play(c.Script)
}

func mayDetach(t *testing.T, c conversation) {
	if runtime.GOOS == "windows" {
		t.Skip("runners are for systems with Unix sockets and sessions")
	}
	if c.Alone != "" {
		t.Skip("the proxy must be one process: " + c.Alone)
	}
}

func playDirect(t *testing.T, c conversation) {
	t.Parallel()
	p, seen := proxyAround(t, c.Server[0], c.Server[1:]...)
	a := &actor{t: t, seen: seen, bound: bindings{}, start: func() *host { return startHost(t, p.Upstream...) }}
	a.play(c.Script)
}
