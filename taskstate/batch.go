package taskstate

import (
	"cmp"
	"time"
)

// stage is the critical section: it decides every op of a batch, in order, and
// returns those to be written: none if the disk is unwell. The space is asked for
// once a batch.
func (s *Store) stage(batch []*op, unwell error) []*op {
	create, other := s.room(batch)
	if unwell = cmp.Or(unwell, s.tally.inPlace(), s.journal.inPlace(), s.catchUp()); unwell != nil {
		create, other = unwell, unwell
	}
	now, a := s.now(), s.admission(batch)
	s.mu.Lock()
	defer s.mu.Unlock()
	staged := make(map[string]Task)
	var write []*op
	for _, o := range batch {
		if s.decide(o, staged, now); !o.refused {
			s.limit(o, a)
		}
		if o.refused {
			continue
		}
		if o.err = other; o.kind == opCreate {
			o.err = create
		}
		if o.err == nil {
			write = append(write, o)
		}
		if o.err == nil || o.kind == opFinish { // the first end stands even if the disk does not take it
			staged[o.id] = o.task
		}
	}
	return write
}

// decide checks the condition of one op. staged holds the tasks that earlier ops
// of the batch change.
func (s *Store) decide(o *op, staged map[string]Task, now time.Time) {
	switch o.kind {
	case opCreate:
		return
	case opExpire, opRedate:
		o.refused = len(o.gone)+len(o.moved) == 0
		return
	}
	e, ok := s.live[o.id]
	if !ok {
		o.refused, o.err = true, ErrNotFound
		return
	}
	cur, ok := staged[o.id]
	if !ok {
		cur = e.task
	}
	if o.err = o.stage(cur, e.unsaved, now); o.err != nil {
		o.refused = true
	} else if o.kind == opTouch {
		e.dirty = false
	}
}

// limit refuses an op that is beyond the limits of the store.
func (s *Store) limit(o *op, a *admission) {
	if o.err = a.admit(o); o.err != nil {
		o.refused = true
		s.crowded.Store(true) // the sweeper sees to it
	}
}

// room says whether the disk has room for a batch: for new tasks, and for
// everything else, which may use half of the reserve.
func (s *Store) room(batch []*op) (create, other error) {
	free, err := s.opts.FreeSpace(s.dir)
	if err != nil {
		return err, err
	}
	var size uint64
	for _, o := range batch {
		size += uint64(o.size())
	}
	if need := s.opts.Reserve + size; free < need {
		create = noSpace(s.dir, free, need)
	}
	if need := s.opts.Reserve/2 + size; free < need {
		other = noSpace(s.dir, free, need)
	}
	return create, other
}

// publish makes visible what was written, and deals with what was not.
func (s *Store) publish(batch []*op, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range batch {
		switch {
		case o.refused:
		case o.err == nil && err == nil:
			s.show(o)
		default:
			o.err = cmp.Or(o.err, err)
			s.keep(o)
		}
	}
}

// show makes a durable change visible. A Touch may have changed a running task
// since it was staged, so that only what the op itself changes is set.
func (s *Store) show(o *op) {
	switch o.kind {
	case opCreate:
		s.live[o.id] = &entry{task: o.task}
	case opDispatch:
		if e, ok := s.live[o.id]; ok {
			e.task = o.apply(e.task, time.Time{})
			s.addDead(o.dropped)
		}
	case opRemote:
		if e, ok := s.live[o.id]; ok {
			e.task = o.apply(e.task, time.Time{})
		}
	case opInput:
		if e, ok := s.live[o.id]; ok {
			e.task = o.apply(e.task, o.task.UpdatedAt)
			s.tell(e.task)
		}
	case opFinish, opRetry: // it stays in memory until Badger has it
		if e, ok := s.live[o.id]; ok {
			e.task, e.dirty, e.unsaved = o.task, false, false
		}
		s.addDead(o.dropped)
		s.tell(o.task)
	case opExpire:
		for _, g := range o.gone {
			if g.counted {
				s.freed.Add(1)
				s.addDead(g.size)
			}
		}
	}
}

// keep saves from a failed write what would be lost: an end stays in memory,
// where it is served from, and is tried again.
func (s *Store) keep(o *op) {
	e, ok := s.live[o.id]
	if !ok {
		return
	}
	switch o.kind {
	case opTouch:
		e.dirty, s.late = true, true
	case opRetry:
		s.late = true
	case opFinish:
		s.log.Error().Err(o.err).Str("task", o.id).Str("status", string(o.task.Status)).
			Msg("task store: the end of a task is kept in memory only, until the disk takes it")
		e.task, e.unsaved, e.dirty = o.task, true, false
		s.late = true
		s.tell(o.task)
		o.err = nil
	}
}

// addDead counts the bytes of a payload that is no longer needed, if it was
// large enough for the value log.
func (s *Store) addDead(size int64) {
	if size+recordOverhead >= valueThreshold {
		s.dead.Add(size)
	}
}
