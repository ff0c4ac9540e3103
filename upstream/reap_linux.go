package upstream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// kin is what this program knows of its children and theirs. There is one, because the kernel has one parent and one
// subreaper per process. Its lock also keeps everything that waits for adopted processes, and everything that opens a
// pidfd for a moment, apart.
var kin = struct {
	sync.Mutex
	families map[*family]bool // from before the child starts until nothing of it is left
	oldest   uint64           // start time of the first child ever
	pidfds   bool             // os keeps pidfds of its children, so adopted ones can be told apart
}{families: map[*family]bool{}}

// AdoptOrphans makes the process the parent of its descendants that lose theirs (a child subreaper), so that an upstream
// that makes itself a daemon is still found when it is stopped, and collects those that die, so that no zombie stays. It
// never collects a child that os or os/exec started: that one's exit status is its owner's.
//
// main calls it once, before the first upstream starts. A program that starts something that shall outlive it must not.
// The returned function ends this; call it last, after KillOrphans. On systems other than Linux it does nothing: there,
// only what stays in the upstream's process group is found.
func AdoptOrphans(log zerolog.Logger) (stop func()) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		log.Warn().Err(err).Msg("cannot adopt orphans: daemons started by an upstream may survive it")
	}
	died := make(chan os.Signal, 1)
	signal.Notify(died, unix.SIGCHLD)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range died {
			reapOrphans()
			<-time.After(lookEvery) // many deaths, one look
		}
	}()
	return sync.OnceFunc(func() {
		signal.Stop(died) // after it nothing sends any more
		close(died)
		<-done
		_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	})
}

// KillOrphans kills every adopted process that is left, with its descendants, and waits for them. main calls it when all
// upstreams are stopped, before it exits. It returns an error that names those that are left when ctx ends or after five
// seconds. Processes that this program inherited or that os or os/exec started are not touched.
func KillOrphans(ctx context.Context, log zerolog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	f := &family{log: log, sweep: true, reaped: true, members: map[int]uint64{}, sessions: map[int]bool{}}
	if left := f.kill(ctx); left != nil {
		return fmt.Errorf("processes left behind by upstreams cannot be killed: %v", left)
	}
	return nil
}

// Adopts says that AdoptOrphans does something.
const Adopts = true

// KillChildren is KillOrphans for a process that waits for no child any more: all that are left are meant, whoever
// started them.
func KillChildren(ctx context.Context, log zerolog.Logger) error {
	kin.Lock()
	kin.pidfds = true // there is no child of ours that an adopted one could be taken for
	kin.Unlock()
	return KillOrphans(ctx, log)
}

// adoptedLocked are the children of this process that nothing in it started.
func adoptedLocked(table procTable) (adopted []procEntry) {
	if !kin.pidfds {
		return nil
	}
	for pid, e := range table {
		if e.ppid == self && !isRootLocked(pid) {
			adopted = append(adopted, e)
		}
	}
	if len(adopted) == 0 {
		return nil // the rule, and it spares reading our descriptors
	}
	return withoutHeld(adopted)
}

func isRootLocked(pid int) bool {
	for f := range kin.families {
		if f.root.pid == pid && !f.reaped {
			return true
		}
	}
	return false
}

// withoutHeld drops those that someone will wait for. The check that the process is still the same comes last: a child
// that was waited for between the table and the list of pidfds is in neither.
func withoutHeld(entries []procEntry) (adopted []procEntry) {
	held, ok := heldByPidfd()
	if !ok {
		return nil
	}
	for _, e := range entries {
		if now, ok := readProcEntry(e.pid); ok && now.start == e.start && !held[e.pid] {
			adopted = append(adopted, e)
		}
	}
	return adopted
}

func reapOrphans() {
	kin.Lock()
	defer kin.Unlock()
	for _, e := range adoptedLocked(readProcTable()) {
		if e.state == 'Z' {
			reap(e.pid)
		}
	}
}

// reap waits for one dead process, by pid: waiting for any would take the exit status of children of others.
func reap(pid int) bool {
	got, err := unix.Wait4(pid, nil, unix.WNOHANG, nil)
	return got == pid || errors.Is(err, unix.ECHILD)
}
