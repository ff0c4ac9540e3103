package main

import (
	"fmt"
	"net"
)

func measureWeb(l *lab) {
	for _, size := range []int{200, 4 << 10, 64 << 10} {
		l.part(func() { l.web(size) })
	}
}

// web compares hosts over HTTP of a server on stdio, in a session of 2025-11-25.
func (l *lab) web(size int) {
	server := l.built("answer")
	sites := map[string]*site{}
	at := func(name string, argv func(address, port string) []string) {
		address := l.address()
		_, port, _ := net.SplitHostPort(address)
		sites[name] = l.start(argv(address, port)).open(address).initialize()
	}
	at("ours", func(address, _ string) []string { return l.through([]string{"--listen", address}, server) })
	if !l.quick { // the peers are many megabytes
		at("mcp-proxy", func(_, port string) []string {
			return must(l.npm("mcp-proxy", "--host", "127.0.0.1", "--port", port, "--server", "stream", "--", server))
		})
		at("supergateway", func(_, port string) []string {
			return must(l.npm("supergateway", "--stdio", server, "--outputTransport", "streamableHttp", "--stateful", "--port", port, "--logLevel", "none"))
		})
	}
	var ways []way
	q, n := call(size, "", ""), l.n(300, 3)
	for name, s := range sites {
		ways = append(ways, way{name, func() sample { return s.trips(n, q.line, nil) }})
	}
	r := compare(l.n(9, 1), ways...)
	for _, name := range []string{"mcp-proxy", "supergateway"} {
		if s := sites[name]; s != nil {
			l.against(name, sizeText(size), r, sites["ours"].peer, s.peer)
		}
	}
	l.add(sizeText(size), seconds(r.value("ours"))+", "+seconds(r.cpu("ours"))+" of processor", "", "", goal{})
}

// against reports how many times slower, busier and larger a peer is.
func (l *lab) against(name, size string, r results, ours, theirs *peer) {
	ratio := r.ratio(name, "ours")
	l.add(size, seconds(r.value("ours")), name+" "+seconds(r.value(name)), times(ratio), atLeast(ratio, 3, " ×"))
	ratio = r.cpuRatio(name, "ours")
	l.add(size, seconds(r.cpu("ours"))+" of processor a call", name+" "+seconds(r.cpu(name)), times(ratio), atLeast(ratio, 4, " ×"))
	mine, other := must(memory(ours.pid(), "VmRSS")), must(memory(theirs.pid(), "VmRSS"))
	l.add(size, bytesText(mine)+" resident", name+" "+bytesText(other), times(other/mine), atLeast(other/mine, 5, " ×"))
}

func measureRemote(l *lab) {
	for _, size := range []int{200, 4 << 10, 64 << 10} {
		l.part(func() { l.remote(size) })
	}
}

// remote compares hosts on stdio of a server over HTTP.
func (l *lab) remote(size int) {
	address := l.address()
	direct := l.start([]string{l.built("answer"), "-listen", address}).open(address).initialize()
	url := fmt.Sprintf("http://%s/mcp", address)
	hosts := map[string]*peer{"ours": l.start(l.through([]string{"--url", url})).initialize()}
	if !l.quick {
		hosts["mcp-remote"] = l.start(must(l.npm("mcp-remote", url, "--transport", "http-only", "--allow-http"))).initialize()
		hosts["supergateway"] = l.start(must(l.npm("supergateway", "--streamableHttp", url, "--logLevel", "none"))).initialize()
	}
	q, n := call(size, "", ""), l.n(300, 3)
	ways := []way{{"direct", func() sample { return direct.trips(n, q.line, nil) }}}
	for name, p := range hosts {
		ways = append(ways, way{name, func() sample { return p.trips(n, q.line) }})
	}
	r := compare(l.n(9, 1), ways...)
	for _, name := range []string{"mcp-remote", "supergateway"} {
		if p := hosts[name]; p != nil {
			l.against(name, sizeText(size), r, hosts["ours"], p)
		}
	}
	l.add(sizeText(size), seconds(r.value("ours")), "direct HTTP "+seconds(r.value("direct")), times(r.ratio("ours", "direct")), goal{})
}
