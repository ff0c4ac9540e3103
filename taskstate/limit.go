package taskstate

import "time"

const (
	// shortEnd is the size in bytes of an end that is stored however full the
	// store is: no more of them can come than there are tasks that run.
	shortEnd = 4 << 10
	// keptBack is the part of MaxBytes (one in so many) that new tasks may not
	// use, so that those that run can store what they were run for.
	keptBack = 8
)

// admission is what a batch may still store.
type admission struct {
	tasks           int64 // in the store once the batch is written, as far as it is decided
	bytes           int64
	maxTasks, maxBy int64
}

func (s *Store) admission(batch []*op) *admission {
	a := &admission{tasks: s.stored.Load() + delta(batch, opExpire), maxTasks: int64(s.opts.MaxTasks), maxBy: s.opts.MaxBytes}
	if a.maxBy > 0 {
		a.bytes = s.meter.now()
	}
	return a
}

// admit decides whether an op fits, and counts it if so. What is neither a new
// task nor the end of one always fits, and so does a short end.
func (a *admission) admit(o *op) error {
	switch {
	case o.kind == opCreate && a.maxTasks > 0 && a.tasks >= a.maxTasks:
		return &LimitError{Limit: limitStored, Value: a.maxTasks, Used: a.tasks}
	case o.kind == opCreate && a.maxBy > 0 && a.bytes+o.size() > a.maxBy-a.maxBy/keptBack,
		o.kind == opFinish && a.maxBy > 0 && a.bytes+o.size() > a.maxBy && o.endSize() > shortEnd:
		return &LimitError{Limit: limitBytes, Value: a.maxBy, Used: a.bytes}
	}
	if o.kind == opCreate {
		a.tasks++
	}
	a.bytes += o.size()
	return nil
}

func (o *op) endSize() int { return len(o.outcome.Payload) + len(o.outcome.StatusMessage) }

// delta is by how many tasks the ops of one kind change the store.
func delta(ops []*op, kind opKind) (n int64) {
	for _, o := range ops {
		switch {
		case o.kind != kind:
		case kind == opCreate:
			n++
		case kind == opExpire:
			for _, x := range o.gone {
				if x.counted {
					n--
				}
			}
		}
	}
	return n
}

// expireFirst looks up what the batch is to delete, and puts a deletion before
// new tasks that would find no room although the time of others is over. Only
// the committer looks, so that nothing is deleted, and counted, twice.
func (s *Store) expireFirst(batch []*op, unwell error) []*op {
	if unwell != nil {
		return batch
	}
	now, looked := s.deleteBy(), false
	for _, o := range batch {
		if o.kind == opExpire && looked {
			continue // the one before has it all
		}
		looked = looked || o.kind == opExpire
		s.lookUp(o, now)
	}
	if looked || now.Before(s.nextDue) || !s.tooMany(batch) {
		return batch
	}
	o := newOp(opExpire, "")
	s.lookUp(o, now)
	return append([]*op{o}, batch...)
}

func (s *Store) tooMany(batch []*op) bool {
	return s.opts.MaxTasks > 0 && s.stored.Load()+delta(batch, opCreate) > int64(s.opts.MaxTasks)
}

// lookUp fills in what an op of the sweeper is to delete or to move.
func (s *Store) lookUp(o *op, now time.Time) {
	switch o.kind {
	case opExpire:
		o.gone, o.err = s.due(latest(now, o.until))
	case opRedate:
		if o.err = s.drain(); o.err == nil {
			o.moved, o.next, o.err = s.misdated(o.from)
		}
	}
}

// noteExpiry keeps nextDue right: something may be due before what was stored.
func (s *Store) noteExpiry(ops []*op) {
	for _, o := range ops {
		switch o.kind {
		case opRedate:
			s.nextDue = time.Time{}
		case opFinish, opRetry:
			if o.due.Before(s.nextDue) {
				s.nextDue = o.due
			}
		}
	}
}

// due returns what has expired, and remembers until when there is nothing more.
func (s *Store) due(now time.Time) ([]expiredTask, error) {
	if err := s.drain(); err != nil { // what is deleted by now must not be found again
		return nil, err
	}
	gone, next, err := s.expired(now, sweepChunk)
	s.nextDue = next
	return gone, err
}
