// Package taskstate is the durable record of tasks: what was asked, how far it
// has got, how it ended, and how long the end is kept. It knows nothing of the
// protocol; requests and outcomes are opaque bytes that come back exactly as
// they went in.
//
// A task that runs lives in memory and on disk, so reading it costs no disk
// access. A finished one lives on disk only, until its retention is over. Open
// brings the running ones of a process that died back into memory (Running);
// the caller decides what becomes of them. The questions that a task waits to
// have answered (Inputs) are in memory only: they belong to a call, and no call
// survives its process.
//
// # How a change is made
//
// Every change of state is an op. One goroutine, the committer (commit.go),
// takes all ops that wait, decides each against the state as it stands (so that
// of two ends only the first is accepted), writes those accepted to the journal
// (journal.go) with a single sync, and only then makes them visible and answers
// the callers. The lifecycle itself is one table in task.go. A second goroutine,
// the applier (apply.go), gives Badger what is in the journal, a fraction of a
// second later and many changes in one transaction; until then ends are served
// from memory, and drain waits for it where Badger is read for something else. After
// a crash replay.go takes from the journal what Badger lacks.
//
// # Limits and time
//
// A store can be bounded in tasks and in bytes (limit.go). It is then full and says
// so; nothing is given up before its retention is over. Retention is wall time,
// since hosts are told when it ends: by it tasks are served and stamped. What is
// deleted cannot be brought back, so that deletion does not follow a clock that
// was set forward before ten minutes have passed (clock.go); and when one was set
// back, ends that it had dated ahead are kept for their ttl from then on. Across a
// restart a clock that is ahead is believed. A task that runs never expires.
//
// # How a change is heard of
//
// A Watch (watch.go) follows one task. In the critical section that makes a
// change visible, tell.go leaves a snapshot in the bounded queue of each watch;
// a Touch only leaves a mark, for Next to fetch the latest progress.
//
// # What lies on disk
//
// Everything is in one directory, of Badger, which is used nowhere else. Each
// value is sealed with a length and a checksum that covers its key (record.go),
// because Badger may hand out wrong bytes without an error. Beside its files lie
// JOURNAL, empty once the store was closed in order, TALLY (tally.go), by which
// missing changes are noticed, and the directory spilled (spill.go, unspill.go). All are
// closed to other users. A former version of this program does not know the
// journal; if there is anything in it, the tally tells that version that changes
// are missing. The tables are verified whole when the store is opened (verify.go).
//
//	m/format          version of this layout
//	m/unlisted        the list l/ is still to be made (upgrade.go)
//	m/changes         how many transactions there have been (trust.go)
//	m/stored          how many tasks there are (usage.go)
//	m/secret          32 random bytes, made with the store (Secret)
//	m/tagged          all ids have tags by the secret with this hash (id.go)
//	t/ID              the header: everything about a task but its payloads
//	q/ID              the request, until the task is dispatched
//	o/ID              the outcome, once the task is finished
//	r/ID              the task is running; all that Open has to look through
//	l/OWNER TIME ID   the list of an owner's tasks, by hash, latest first (list.go)
//	x/TIME ID         the task may be deleted at TIME; and where it is listed
//	z/x               written and dropped at once to make Badger flush (expire.go)
//
// Payloads have keys of their own so that headers stay small: a large payload
// goes to Badger's value log and a header does not.
//
// The format has a version. A store of the version before is brought up to this
// one when it is opened (upgrade.go); one of a later version is refused. There is
// a store of each former version in testdata.
//
// # When the disk fails
//
// No answer is ever wrong, and what is missing is said. While a store is open,
// memory is right: new tasks are refused, ends are kept, and both recover with the
// disk (room in batch.go: a full one; inPlace in tally.go: a directory that was
// taken away; heal.go: one that cannot write). When it is opened, what cannot be
// trusted is refused with *DamagedError, or, if only a part is missing or in
// doubt, taken up without sending anything that may have been sent before
// (trust.go, Loss). Repair moves a store that cannot be opened aside.
package taskstate
