package e2e

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// peer is a process at the other end of two pipes, with nothing in between that costs time.
type peer struct {
	b   *testing.B
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func startPeer(b *testing.B, argv ...string) *peer {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	p := &peer{b: b, in: in, out: bufio.NewReaderSize(out, 64<<10), cmd: cmd}
	b.Cleanup(p.close)
	return p
}

func (p *peer) close() {
	_ = p.in.Close()
	_ = p.cmd.Wait()
}

func (p *peer) send(line string) {
	if _, err := io.WriteString(p.in, line); err != nil {
		p.b.Fatal(err)
	}
}

func (p *peer) receive() string {
	line, err := p.out.ReadString('\n')
	if err != nil {
		p.b.Fatal(err)
	}
	return line
}

func (p *peer) initialize() {
	p.send(request("0", "initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`) + "\n")
	p.receive()
	p.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n")
}

// BenchmarkRoundTrip compares the proxy with a byte copier and with nothing in
// between, around the same echo server and in one run. In flight once, it
// reports the median; what the proxy adds is its median less the direct one.
func BenchmarkRoundTrip(b *testing.B) {
	echo := fixture(b, "echo")
	ways := []struct {
		name string
		argv func(b *testing.B) []string
	}{
		{"direct", func(*testing.B) []string { return []string{echo} }},
		{"copier", func(b *testing.B) []string { return []string{fixture(b, "copier"), "--", echo} }},
		{"proxy", func(b *testing.B) []string {
			return []string{proxyBinary(b), "--log-level", "error", "--state-dir", b.TempDir(), "--", echo}
		}},
	}
	for _, size := range []int{200, 4 << 10} {
		for _, flight := range []int{1, 16} {
			for _, way := range ways {
				b.Run(fmt.Sprintf("%dB/%d-in-flight/%s", size, flight, way.name), func(b *testing.B) {
					p := startPeer(b, way.argv(b)...)
					p.initialize()
					p.roundTrips(size, flight)
				})
			}
		}
	}
}

func (p *peer) roundTrips(size, flight int) {
	padding := strings.Repeat("x", max(0, size-len(toolCall("1000000", "echo", `{"x":""}`))))
	line := func(i int) string { return toolCall(fmt.Sprint(1_000_000+i), "echo", `{"x":"`+padding+`"}`) + "\n" }
	sent := make([]time.Time, p.b.N)
	took := make([]time.Duration, p.b.N)
	p.b.ResetTimer()
	for i := range p.b.N + flight {
		if done := i - flight; done >= 0 {
			p.receive()
			took[done] = time.Since(sent[done])
		}
		if i < p.b.N {
			sent[i] = time.Now()
			p.send(line(i))
		}
	}
	p.b.StopTimer()
	slices.Sort(took)
	p.b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
	p.b.ReportMetric(float64(p.b.N)/p.b.Elapsed().Seconds(), "calls/s")
}

// BenchmarkStartToFirstAnswer starts the proxy on a state directory that holds
// 10,000 finished tasks and asks for one of them.
func BenchmarkStartToFirstAnswer(b *testing.B) {
	const stored = 10_000
	dir := b.TempDir()
	id := fillStore(b, dir, stored)
	b.ResetTimer()
	for range b.N {
		p := startPeer(b, proxyBinary(b), "--log-level", "error", "--state-dir", dir, "--", fixture(b, "echo"))
		p.send(declared.request("1", "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)) + "\n")
		answer := p.receive()
		b.StopTimer()
		if !strings.Contains(answer, `"completed"`) {
			b.Fatalf("not the answer: %s", answer)
		}
		p.close()
		b.StartTimer()
	}
}

// fillStore runs that many quick calls as tasks and returns the id of the last.
func fillStore(b *testing.B, dir string, tasks int) string {
	b.Helper()
	config := filepath.Join(b.TempDir(), "config.yaml")
	if err := os.WriteFile(config, []byte("task: always\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	p := startPeer(b, proxyBinary(b), "--log-level", "error", "--config", config, "--state-dir", dir, "--", fixture(b, "echo"))
	const flight = 64
	var last message
	for i := range tasks + flight {
		if i >= flight {
			last, _ = parseMessage(strings.TrimSpace(p.receive()))
		}
		if i < tasks {
			p.send(declared.toolCall(fmt.Sprint(i), "echo", `{}`) + "\n")
		}
	}
	p.completed(last.text("taskId"))
	p.close()
	return last.text("taskId")
}

// completed asks until the task is: the calls run behind their handles.
func (p *peer) completed(id string) {
	for n := 0; ; n++ {
		p.send(declared.request(fmt.Sprintf(`"c%d"`, n), "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id)) + "\n")
		answer := p.receive()
		if strings.Contains(answer, `"completed"`) {
			return
		}
		if !strings.Contains(answer, `"working"`) {
			p.b.Fatalf("not the answer: %s", answer)
		}
	}
}
