package taskstate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/rs/zerolog"
)

// MaxPayload is the size in bytes of the largest request, outcome or inputs.
const MaxPayload = 32 << 20

const defaultReserve = 64 << 20

// Options are read by Open only.
type Options struct {
	Log zerolog.Logger

	// Node, if not empty, stands in front of the ids that Create gives, with a
	// hyphen behind it: up to 32 of a-z, 0-9 and _. Where several stores serve
	// one public address, requests can be routed by it.
	Node string

	// LockWait is how long Open waits for another process to close the
	// directory; 0 does not wait.
	LockWait time.Duration

	// Reserve is the free disk space in bytes below which Open and Create
	// refuse with ErrNoSpace; 0 is 64 MiB. Half of it is left to the tasks that
	// run: they still end, and expired ones are still deleted. Badger is killed
	// by the system when it runs into the end of a disk.
	Reserve uint64

	// FreeSpace tells the free bytes of the disk that dir is on; nil asks the
	// operating system.
	FreeSpace func(dir string) (uint64, error)

	// MaxTasks is how many tasks are stored at most, running and finished; 0 is no
	// limit. Create refuses more with ErrFull: no task is given up for another
	// before its retention is over.
	MaxTasks int

	// MaxBytes is how many bytes of disk the store may use; 0 is no limit. New
	// tasks may use seven eighths of it and are then refused with ErrFull; results
	// may use the rest (see Finish). It is kept as well as an engine allows that
	// writes ahead and cleans up later: below 64 MiB it is a rough limit.
	MaxBytes int64

	// SweepEvery is how often expired tasks are deleted; 0 is one minute. No
	// expired task is served in between.
	SweepEvery time.Duration

	wall func() time.Time // the clock; nil is that of the system
}

func (o *Options) withDefaults() Options {
	var v Options
	if o != nil {
		v = *o
	}
	v.Reserve = cmp.Or(v.Reserve, defaultReserve)
	v.SweepEvery = cmp.Or(v.SweepEvery, time.Minute)
	if v.wall == nil {
		v.wall = time.Now
	}
	if v.FreeSpace == nil {
		v.FreeSpace = freeSpace
	}
	return v
}

// Store is an open task store. All methods may be called from any goroutine.
type Store struct {
	dir       string
	opts      Options
	log       zerolog.Logger
	badgerLog *badgerLog
	db        *badger.DB
	stored    atomic.Int64 // tasks on disk; set by the committer alone
	meter     meter
	crowded   atomic.Bool  // something was refused by a limit since the last collection
	setBack   atomic.Bool  // the clock was set back, and the sweeper has not seen to it
	freed     atomic.Int64 // tasks deleted since the last collection
	dead      atomic.Int64 // bytes of the value log that may be garbage
	gcAfter   int64        // how many of them start a collection
	healEvery time.Duration
	secret    []byte       // set by Open
	ahead     uint64       // set by Open: the journal has got this far, and does not follow from what Badger has
	tagged    bool         // set by Open: all ids have tags
	logs      []string     // set by Open: the logs that Badger had to replay
	loss      error        // set by Open, see Loss
	tally     *tallyWriter // set by Open

	// Of the committer alone, once Open has returned.
	changes uint64      // commits so far
	revoked []Task      // their Create failed, but they may be on disk
	healed  time.Time   // the last attempt to heal
	suspect atomic.Bool // a write failed; set and reset by the committer, read by all
	why     error       // it failed
	doubt   bool        // what failed may be on disk
	lastTry bool        // to heal, while closing
	clock   clock
	nextDue time.Time // no stored task expires before; zero if that is not known

	mu     sync.Mutex // guards what follows, and is never held across disk access
	live   map[string]*entry
	late   bool  // there may be something dirty or unsaved in live
	queue  []*op // for the committer; bounded by the callers, each waits for its one op
	closed bool
	// watches holds, by task, those that still get something: none of a task
	// that has ended, none once the store is closed.
	watches map[string][]*Watch
	// spilled holds, by running task, the sums of the files that this process has
	// written for it.
	spilled map[string][]string

	wake      chan struct{} // capacity 1: there is something for the committer
	stop      chan struct{} // closed to end the sweeper
	applier   *applier
	journal   *journal // of the committer alone; set by Open
	applying  sync.WaitGroup
	committer sync.WaitGroup
	sweeper   sync.WaitGroup

	// reading is held shared while the disk is read and exclusively while the
	// database closes: Badger unmaps its files then.
	reading   sync.RWMutex
	down      error // why db cannot be used: ErrClosed, or what befell it
	spilling  sync.Mutex
	closeOnce sync.Once
	closeErr  error
}

// entry is a task in memory: a running one, or a finished one that the disk
// would not take. dirty: a Touch is not on disk yet.
type entry struct {
	task    Task
	dirty   bool
	unsaved bool
}

func newStore(dir string, o Options) *Store {
	return &Store{
		dir: dir, opts: o, log: o.Log,
		badgerLog: &badgerLog{log: o.Log},
		meter:     meter{dir: dir},
		gcAfter:   valueLogFileSize / 2,
		healEvery: defaultHealEvery,
		applier:   newApplier(),
		live:      make(map[string]*entry),
		watches:   make(map[string][]*Watch),
		spilled:   make(map[string][]string),
		wake:      make(chan struct{}, 1),
		stop:      make(chan struct{}),
	}
}

// Open opens the store in dir, which it makes (mode 0700) if need be. It fails
// with *HeldError if another process has it open, with ErrNoSpace on a full
// disk, and with *DamagedError if the files are not what was written; if only some
// of what was written is missing, Loss says so. The end of ctx ends the wait for
// the other process, not the store. Close must be called.
func Open(ctx context.Context, dir string, opts *Options) (*Store, error) {
	o := opts.withDefaults()
	if err := checkNode(o.Node); err != nil {
		return nil, err
	}
	s, err := openStore(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	s.start()
	return s, nil
}

func (s *Store) start() {
	s.applying.Go(s.applyLoop)
	s.committer.Go(s.commitLoop)
	s.sweeper.Go(s.sweepLoop)
}

// Close waits for the changes under way, writes what is not on disk yet, ends
// the watches, and closes the database. It is idempotent; a second call waits for
// the first. The error names outcomes that the disk refused to the end and that
// are now lost, and says if the database could not be closed in order: all else is
// in its logs then, and this process holds the directory until it ends.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		close(s.stop)
		s.sweeper.Wait() // it needs the committer
		s.refuseChanges()
		s.committer.Wait()
		s.endWatches()
		s.closeErr = errors.Join(s.lostOutcomes(), s.finish(), s.closeDB())
	})
	return s.closeErr
}

// refuseChanges lets the committer finish what is queued and end.
func (s *Store) refuseChanges() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.wakeCommitter()
}

func (s *Store) lostOutcomes() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for id, e := range s.live {
		if e.unsaved {
			errs = append(errs, fmt.Errorf("task %s: its end (%s) could not be stored", id, e.task.Status))
		}
	}
	return errors.Join(errs...)
}

// Running returns the tasks that are not terminal, oldest first. Right after
// Open these are what a process that died left behind.
func (s *Store) Running() []Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	var tasks []Task
	for _, e := range s.live {
		if !e.task.Status.Terminal() {
			tasks = append(tasks, e.task)
		}
	}
	slices.SortFunc(tasks, func(a, b Task) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return tasks
}
