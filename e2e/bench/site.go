package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// site is a server of hosts over HTTP, as one of them sees it.
type site struct {
	*peer
	url    string
	header http.Header
	client *http.Client
}

// open waits until somebody listens at the address.
func (p *peer) open(address string) *site {
	p.serves = true
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Since(began) > 30*time.Second {
			p.fail("does not listen", err)
		}
	}
	return &site{peer: p, url: "http://" + address + "/mcp", header: http.Header{}, client: newClient()}
}

func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2000}}
}

// initialize opens a session of the older revisions.
func (s *site) initialize() *site {
	response, body := s.post([]byte(initializeRequest), nil)
	s.check(body)
	if id := response.Header.Get("Mcp-Session-Id"); id != "" {
		s.header.Set("Mcp-Session-Id", id)
	}
	s.header.Set("MCP-Protocol-Version", "2025-11-25")
	s.post([]byte(initializedNotice), nil)
	return s
}

// post returns the whole answer.
func (s *site) post(body []byte, header http.Header) (*http.Response, []byte) {
	response := s.begin(body, header)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	check(err)
	if response.StatusCode >= 300 {
		s.fail(fmt.Sprintf("answered %s: %s", response.Status, text), nil)
	}
	return response, text
}

func (s *site) begin(body []byte, header http.Header) *http.Response {
	r := must(http.NewRequest(http.MethodPost, s.url, bytes.NewReader(body)))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for _, h := range []http.Header{s.header, header} {
		for name, values := range h {
			r.Header[name] = values
		}
	}
	return must(s.client.Do(r))
}

func (s *site) check(body []byte) {
	if !bytes.Contains(body, []byte(`"result":`)) {
		s.fail("answered "+string(body), nil)
	}
}

// statelessHeader goes with a request that opens by its _meta.
func statelessHeader(method, name string) http.Header {
	header := http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {method}}
	if name != "" {
		header.Set("Mcp-Name", name)
	}
	return header
}

func (s *site) ask(line []byte, header http.Header) []byte {
	_, body := s.post(bytes.TrimSuffix(line, []byte("\n")), header)
	s.check(body)
	return body
}

// trips makes n round trips, one at a time, and returns their median in seconds.
func (s *site) trips(n int, next nextLine, header http.Header) sample {
	took := make([]float64, n)
	return s.metered(n, func() float64 {
		for i := range n {
			sent := time.Now()
			s.ask(next(nil, i), header)
			took[i] = time.Since(sent).Seconds()
		}
		slices.Sort(took)
		return took[n/2]
	})
}

// rate has that many hosts ask one question after the other, n in all.
func (s *site) rate(n, hosts int, next nextLine, header http.Header) sample {
	return s.metered(n, func() float64 {
		began := time.Now()
		together(hosts, func(int) {
			for i := range n / hosts {
				s.ask(next(nil, i), header)
			}
		})
		return float64(n/hosts*hosts) / time.Since(began).Seconds()
	})
}

// together runs do n times at once. What one of them fails of, all do.
func together(n int, do func(i int)) {
	var all sync.WaitGroup
	failures := make(chan any, n)
	for i := range n {
		all.Go(func() {
			defer func() { failures <- recover() }()
			do(i)
		})
	}
	all.Wait()
	close(failures)
	for f := range failures {
		if f != nil {
			panic(f)
		}
	}
}
