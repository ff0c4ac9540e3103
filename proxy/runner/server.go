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
	socket   fs.FileInfo     // of the listener, or of the link to it
	ctx      context.Context // of sessions, until they are told to end
	stop     context.CancelFunc
	over     context.Context // ends when nothing is left but those who wait for it
	finish   context.CancelFunc
	met      sync.WaitGroup // connections, and the sessions that they began

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
	sign(opts.StateDir)
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
	rn.met.Go(rn.accept)
	<-rn.ctx.Done()
	rn.sessionsEnd()
	sweep(opts.Log)
	err = store.Close()
	rn.hangUp()
	rn.met.Wait()
	return err
}

// newRunner has the store already: no other runner is there.
func newRunner(ctx context.Context, opts ServeOptions, store *taskstate.Store) (*runner, error) {
	listener, err := listenUnix(opts.StateDir)
	if err != nil {
		return nil, err
	}
	socket, err := os.Lstat(socketPath(opts.StateDir))
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	rn := &runner{
		opts: opts, since: time.Now(), tasks: proxy.NewTasks(store, opts.Log), listener: listener, socket: socket,
		used: time.Now(), sides: map[string]*side{}, sessions: map[*session]bool{},
	}
	rn.changed = sync.NewCond(&rn.mu)
	rn.ctx, rn.stop = context.WithCancel(ctx)
	rn.over, rn.finish = context.WithCancel(context.Background())
	rn.idle = time.AfterFunc(idleFor, rn.leave)
	return rn, nil
}

// hangUp comes when the store is closed: until then whoever wants the runner to
// stop can wait for that. The next runner may have the store, and a socket of its
// own in this one's place; while nobody can start one, that does not change.
func (rn *runner) hangUp() {
	unlessLocked(rn.opts.StateDir, func() {
		path := socketPath(rn.opts.StateDir)
		if now, err := os.Lstat(path); err == nil && os.SameFile(now, rn.socket) {
			_ = removeSocket(path)
		}
	})
	_ = rn.listener.Close()
	rn.finish()
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

// accept meets whoever connects, until nothing is left.
func (rn *runner) accept() {
	for {
		conn, err := rn.listener.AcceptUnix()
		switch {
		case err == nil:
			rn.enter()
			rn.met.Go(func() { rn.exit(rn.meet(conn)) })
		case errors.Is(err, net.ErrClosed):
			return
		default: // out of descriptors, most likely
			rn.opts.Log.Error().Err(err).Msg("a front could not be let in")
			time.Sleep(100 * time.Millisecond)
		}
	}
}
