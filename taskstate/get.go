package taskstate

// Get returns the task as it stands: a running one from memory, a finished one
// with its outcome from disk. An unknown or expired one is ErrNotFound; one that
// cannot be read any more is *DamagedError.
func (s *Store) Get(id string) (Task, error) {
	return s.getIf(anyones, id)
}

// GetOwned is Get for one who may see a single owner's tasks: another owner's is
// ErrNotFound. No more is read of that one than its header, so that neither its size nor
// damage to the rest shows (Tasks extension, Security Considerations, Auth binding: each
// request is checked). Whose a task was cannot be told any more if the header itself is
// damaged or lost: that is *DamagedError for anybody who holds the id, which nobody can
// guess. Its text names files: it is for a log, and not for such a caller.
func (s *Store) GetOwned(owner, id string) (Task, error) {
	return s.getIf(func(of string) bool { return of == owner }, id)
}

// anyones is for a caller who may see all tasks.
func anyones(owner string) bool { return true }

// getIf is Get for tasks that may be seen, which is told before their payloads are
// read.
func (s *Store) getIf(may func(owner string) bool, id string) (Task, error) {
	t, found, err := s.getLive(id)
	switch {
	case err != nil:
		return Task{}, err
	case found && may(t.Owner):
		return t, nil
	case found || !s.issued(id):
		return Task{}, ErrNotFound
	}
	return s.getStored(id, s.endedIf(may))
}

// InMemory reports whether [Store.Get] need not read from disk, where it may have to
// wait for what is being written.
func (s *Store) InMemory(id string) bool {
	_, found, err := s.getLive(id)
	return found || err != nil
}

func (s *Store) getLive(id string) (Task, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.findLive(id)
}

// holds reports whether the task is in memory, also after its time: it runs, or
// Badger does not have its end yet.
func (s *Store) holds(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.live[id]
	return ok
}

// findLive is getLive with s.mu held.
func (s *Store) findLive(id string) (Task, bool, error) {
	if s.closed {
		return Task{}, false, ErrClosed
	}
	e, ok := s.live[id]
	if !ok {
		return Task{}, false, nil
	}
	if e.task.expired(s.now()) {
		return Task{}, false, ErrNotFound
	}
	return e.task, true, nil
}
