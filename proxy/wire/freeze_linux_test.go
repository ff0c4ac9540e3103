package wire

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"
)

const freezeEnv = "WIRE_TEST_FREEZE"

// Whoever shares a file with the proxy may have it wait for others. A call that the
// runtime knows nothing of must not wait all the same: the next collection of garbage
// would stop the process for ever, its signals and this test's own limit with it.
func TestFileThatOthersHaveMadeWaitDoesNotStopTheProcess(t *testing.T) {
	for _, what := range []string{"read", "write"} {
		t.Run(what, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestChildThatSharesAFile$")
			cmd.Env = append(os.Environ(), freezeEnv+"="+what)
			if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("collected")) {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
}

func TestChildThatSharesAFile(t *testing.T) {
	what := os.Getenv(freezeEnv)
	if what == "" {
		t.Skip("it is a process of the test above")
	}
	r, w := pipe(t)
	busy := make(chan struct{})
	if what == "read" {
		in := FileReader(r, r)
		waits(t, r)
		go func() { close(busy); _, _ = in.Read(make([]byte, 1)) }()
	} else {
		lw := NewLineWriter(w)
		waits(t, w)
		go func() { fillUp(lw, busy) }()
	}
	<-busy
	for range 100 { // until the other one is where it waits
		runtime.Gosched()
		runtime.GC()
	}
	_, _ = os.Stdout.WriteString("collected\n")
}

// fillUp closes busy when a message has found no room: nobody reads.
func fillUp(lw *LineWriter, busy chan struct{}) {
	for i := 0; ; i++ {
		if i == 64 {
			close(busy)
		}
		if err := lw.OfferMessage(Message{raw: bytes.Repeat([]byte("1"), 1023)}); err != nil {
			return
		}
	}
}

// waits puts a file into blocking mode by a descriptor that somebody else might have.
func waits(t *testing.T, f *os.File) {
	t.Helper()
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	err = raw.Control(func(fd uintptr) { _ = syscall.SetNonblock(int(fd), false) })
	if err != nil {
		t.Fatal(err)
	}
}
