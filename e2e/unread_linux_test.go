package e2e

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var spilledLink = regexp.MustCompile(`mcp-taskproxy://results/[A-Z0-9]+/[0-9a-f]+`)

// A host asks for large results many times over, in a few bytes each, and reads the
// answers late: few of them are in memory at a time, other requests are served
// meanwhile, and in the end all have come.
func TestLargeResultsThatAreReadLate(t *testing.T) {
	const asked, most = 200, 400 << 10 // KB; all at once would be more than a gigabyte
	for _, kind := range []string{"kept whole", "spilled"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			p, seen := proxyAround(t, "legacy")
			p.Config = alwaysTasks
			if kind == "spilled" {
				p.Config += "limits: {result_bytes: 1MiB}\n"
			}
			h := p.start(t)
			id := taskOf(t, h.ask(declared.toolCall("1", "flood", `{"bytes":5000000}`)))
			request := declared.request("7", "tasks/get", fmt.Sprintf(`{"taskId":%q}`, id))
			if m := finishTask(h, id, "completed"); kind == "spilled" {
				request = declared.request("7", "resources/read", `{"uri":`+raw(spilledLink.FindString(m.Raw))+`}`)
			}
			h.stop()
			cmd, in, out := late(t, p)
			_, err := fmt.Fprint(in, strings.Repeat(request+"\n", asked)+plain.toolCall("8", "release", `{"gate":"g"}`)+"\n")
			mustDo(t, err)
			h.await("the call behind them", func() bool { return seen.count("call release") == 1 })
			answers := bufio.NewReaderSize(out, 1<<20)
			for n := 0; n < asked; {
				line, err := answers.ReadString('\n')
				if err != nil {
					t.Fatalf("after %d answers: %v", n, err)
				}
				if strings.Contains(line, `"id":7`) && len(line) < 5_000_000 {
					t.Fatalf("%s", cut(line))
				}
				if strings.Contains(line, `"id":7`) {
					n++
				}
			}
			checkPeakIs(t, cmd.Process.Pid, most)
		})
	}
}

// late is a proxy whose output is read by whoever calls it, when he does.
func late(t *testing.T, p *proxied) (cmd *exec.Cmd, in, out *os.File) {
	t.Helper()
	argv := p.argv(t)
	cmd = exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(raceOptions(), os.Environ()...)
	theirIn, in, err := os.Pipe()
	mustDo(t, err)
	out, theirOut, err := os.Pipe()
	mustDo(t, err)
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	mustDo(t, cmd.Start())
	_ = theirIn.Close()
	_ = theirOut.Close()
	t.Cleanup(func() { _ = in.Close(); _ = out.Close(); _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, in, out
}
