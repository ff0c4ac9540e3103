//go:build unix

package runner

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"sync"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy"
	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// runner is the one process of a state directory.
type runner struct {
	opts     ServeOptions
	since    time.Time
	tasks    *proxy.Tasks
	listener *net.UnixListener
	ctx      context.Context // of sessions, until they are told to end
	stop     context.CancelFunc
	met      sync.WaitGroup // connections, and the sessions that they began
	ended    chan struct{}  // closed when nothing is left but those who wait for it

	mu       sync.Mutex
	busy     int              // connections and sessions
	used     time.Time        // when the last window went
	sides    map[string]*side // of fronts that are to serve, by session
	sessions map[*session]bool
	changed  *sync.Cond // of sessions
	idle     *time.Timer
}

// idleFor is how long a runner without a session waits for the next one.
const idleFor = 3 * time.Second

// Serve runs the runner of a state directory until it has been idle for a while
// or ctx ends. Whoever starts it holds the directory's start lock until Ready.
func Serve(ctx context.Context, opts ServeOptions) error {
	defer upstream.AdoptOrphans(opts.Log)()
	store, err := openStore(ctx, opts, runnerWait)
	if err != nil {
		opts.Ready(err)
		return err
	}
	rn, err := newRunner(ctx, opts, store)
	opts.Ready(err)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	rn.accept()
	rn.sessionsEnd()
	sweep(opts.Log)
	err = store.Close()
	close(rn.ended)
	rn.met.Wait()
	return err
}

// newRunner has the store already: no other runner is there, so that a socket
// that is there is nobody's.
func newRunner(ctx context.Context, opts ServeOptions, store *taskstate.Store) (*runner, error) {
	path := socketPath(opts.StateDir)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	rn := &runner{
		opts: opts, since: time.Now(), tasks: proxy.NewTasks(store, opts.Log), listener: listener,
		used: time.Now(), ended: make(chan struct{}), sides: map[string]*side{}, sessions: map[*session]bool{},
	}
	rn.changed = sync.NewCond(&rn.mu)
	rn.ctx, rn.stop = context.WithCancel(ctx)
	context.AfterFunc(rn.ctx, func() { _ = listener.Close() }) // which takes the socket away
	rn.idle = time.AfterFunc(idleFor, rn.leave)
	return rn, os.Chmod(path, 0o600)
}

// leave ends a runner that has nothing to do. A front that is just connecting
// finds it gone, and starts another.
func (rn *runner) leave() {
	rn.mu.Lock()
	defer rn.mu.Unlock()
	switch left := idleFor - time.Since(rn.used); {
	case rn.busy > 0: // whoever is the last sets the clock
	case left > 0:
		rn.idle.Reset(left)
	default:
		rn.opts.Log.Info().Msg("nothing to do: the runner ends")
		rn.stop()
	}
}

func (rn *runner) enter() {
	rn.mu.Lock()
	defer rn.mu.Unlock()
	rn.busy++
}

// exit sets the clock. Who only looked keeps nobody up.
func (rn *runner) exit(used bool) {
	rn.mu.Lock()
	defer rn.mu.Unlock()
	if used {
		rn.used = time.Now()
	}
	if rn.busy--; rn.busy == 0 {
		rn.idle.Reset(max(idleFor-time.Since(rn.used), 0))
	}
}

// accept meets whoever connects, until the runner ends.
func (rn *runner) accept() {
	defer rn.listener.Close() // before the next runner has a socket there
	for {
		conn, err := rn.listener.AcceptUnix()
		switch {
		case err == nil:
			rn.enter()
			rn.met.Go(func() { rn.exit(rn.meet(conn)) })
		case rn.ctx.Err() != nil:
			return
		default: // out of descriptors, most likely
			rn.opts.Log.Error().Err(err).Msg("a front could not be let in")
			time.Sleep(100 * time.Millisecond)
		}
	}
}
