package e2e

import (
	"path/filepath"
	"testing"
)

func TestConversations(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*", "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, path := range paths {
		c := readConversation(t, path)
		name := filepath.ToSlash(path[len("testdata")+1 : len(path)-len(".txtar")])
		t.Run("proxied/"+name, func(t *testing.T) { playProxied(t, c) })
		if c.Direct {
			t.Run("direct/"+name, func(t *testing.T) { playDirect(t, c) })
		}
	}
}

func playProxied(t *testing.T, c conversation) {
	t.Parallel()
	p, seen := proxyAround(t, c.Server[0], c.Server[1:]...)
	p.Flags, p.Config = c.Flags, c.Config
	a := &actor{t: t, seen: seen, bound: bindings{}, start: func() *host { return p.start(t) }}
	a.play(c.Script)
}

func playDirect(t *testing.T, c conversation) {
	t.Parallel()
	p, seen := proxyAround(t, c.Server[0], c.Server[1:]...)
	a := &actor{t: t, seen: seen, bound: bindings{}, start: func() *host { return startHost(t, p.Upstream...) }}
	a.play(c.Script)
}
