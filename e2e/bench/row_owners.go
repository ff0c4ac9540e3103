package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

func measureOwners(l *lab) {
	for _, n := range []int{l.n(10, 2), l.n(100, 3), l.n(1000, 4)} {
		l.part(func() { l.owners(n) })
	}
}

// owners has many of them take turns: each has a session of its own with the
// server, and sees its own task.
func (l *lab) owners(n int) {
	upstream, address := l.address(), l.address()
	l.start([]string{l.built("answer"), "-listen", upstream}).open(upstream)
	flags := append(l.config("tools: {slow: {task: always}}\nlimits: {sessions: 2000, running: 0, running_per_owner: 0}\n"), "--listen", address,
		"--url", "http://"+upstream+"/mcp", "--tokens", l.file("tokens", tokens(n)))
	s := l.start(l.through(flags)).open(address)
	first := must(memory(s.pid(), "VmRSS"))
	ask := ownersInTurn(s, n)
	ask(n) // so that each has a session
	r := compare(l.n(9, 1), way{"ours", func() sample {
		const calls = 300
		return s.metered(calls, func() float64 { return ask(calls) })
	}})
	each := (must(memory(s.pid(), "VmRSS")) - first) / float64(n)
	l.add(fmt.Sprintf("%d owners", n), fmt.Sprintf("a call %s, %s of processor", seconds(r.value("ours")), seconds(r.cpu("ours"))), "", "", goal{})
	l.add(fmt.Sprintf("%d owners", n), bytesText(each)+" resident for each, session included", "", "", goal{})
}

func token(i int) string { return fmt.Sprintf("token-of-owner-%06d", i) }

func tokens(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "owner%d sha256:%x\n", i, sha256.Sum256([]byte(token(i))))
	}
	return text.String()
}

// ownersInTurn returns what makes some calls, of one owner after the other, and
// returns their median in seconds.
func ownersInTurn(s *site, n int) func(calls int) float64 {
	q, next := call(200, meta, ""), 0
	return func(calls int) float64 {
		took := make([]float64, calls)
		for i := range took {
			header := statelessHeader("tools/call", "echo")
			header["Authorization"] = []string{"Bearer " + token(next%n)}
			next++
			began := time.Now()
			s.ask(q.line(nil, next), http.Header(header))
			took[i] = time.Since(began).Seconds()
		}
		slices.Sort(took)
		return took[calls/2]
	}
}
