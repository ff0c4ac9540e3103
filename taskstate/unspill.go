package taskstate

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A file is spilled before the end that names it is stored, so that no end names one
// that is not there. The files of a running task are noted in memory for its end to
// see to. A process that dies in between leaves a file that nobody has noted: the
// first sweep of the next one deletes it.

// noteSpilled has the end of the task see to a file. It reports false if that has been.
func (s *Store) noteSpilled(id, sum string) (runs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.live[id]
	runs = ok && !e.task.Status.Terminal()
	if runs && !slices.Contains(s.spilled[id], sum) {
		s.spilled[id] = append(s.spilled[id], sum)
	}
	return runs
}

// dropUnnamed deletes a file that could not be noted, unless it was there before.
func (s *Store) dropUnnamed(id, sum string) {
	if s.unnamed(id, sum) {
		s.removeSpilled(id + "." + sum)
	}
}

// keepNamed deletes the files of a task that has ended, but those that its end names.
func (s *Store) keepNamed(id string, end []byte) {
	s.mu.Lock()
	sums := s.spilled[id]
	delete(s.spilled, id)
	s.mu.Unlock()
	for _, sum := range sums {
		if !holdsSum(end, sum) {
			s.removeSpilled(id + "." + sum)
		}
	}
}

// dropNamed deletes the files that an end names which was refused.
func (s *Store) dropNamed(id string, end []byte) {
	s.mu.Lock()
	var drop, keep []string
	for _, sum := range s.spilled[id] {
		if holdsSum(end, sum) {
			drop = append(drop, sum)
		} else {
			keep = append(keep, sum)
		}
	}
	if s.spilled[id] = keep; len(keep) == 0 {
		delete(s.spilled, id)
	}
	s.mu.Unlock()
	for _, sum := range drop {
		s.removeSpilled(id + "." + sum)
	}
}

func holdsSum(end []byte, sum string) bool { return bytes.Contains(end, []byte(sum)) }

// removeSpilled leaves what it cannot delete to the sweeps: of the next process, or
// once the task is gone.
func (s *Store) removeSpilled(name string) {
	err := os.Remove(filepath.Join(s.dir, spillDir, name))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn().Err(err).Msg("task store: a spilled result is not deleted")
	}
}

// sweepSpilled deletes the files that are over, and what a process that died has left
// half written.
func (s *Store) sweepSpilled(over func(id, sum string) bool) {
	entries, err := os.ReadDir(filepath.Join(s.dir, spillDir))
	if err != nil {
		return // there was none yet
	}
	for _, e := range entries {
		s.sweepFile(e.Name(), over)
	}
}

// sweepFile holds off Spill, so that no file is half written, or not noted yet.
func (s *Store) sweepFile(name string, over func(id, sum string) bool) {
	s.spilling.Lock()
	defer s.spilling.Unlock()
	if id, sum, whole := strings.Cut(name, "."); !whole || over(id, sum) {
		s.removeSpilled(name)
	}
}

// gone reports whether there is no such task any more.
func (s *Store) gone(id, _ string) bool {
	if !wellFormed(id) {
		return true
	}
	if s.holds(id) { // also one whose time seems to be over: the clock may be wrong
		return false
	}
	_, err := s.getStored(id, readAny)
	return errors.Is(err, ErrNotFound)
}

// unnamed reports whether no end names a file, and none will. After a loss that is not
// known: the end that named it may be what was lost.
func (s *Store) unnamed(id, sum string) bool {
	if s.loss != nil || !wellFormed(id) {
		return s.gone(id, sum)
	}
	if end, noted, live := s.endInMemory(id, sum); live {
		return !noted && !holdsSum(end, sum)
	}
	t, err := s.getStored(id, readTask)
	return errors.Is(err, ErrNotFound) || err == nil && !holdsSum(t.Outcome, sum)
}

// endInMemory returns the end of a task in memory, nil while it runs, and whether its
// end is to see to a file.
func (s *Store) endInMemory(id, sum string) (end []byte, noted, live bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.live[id]; ok {
		return e.task.Outcome, slices.Contains(s.spilled[id], sum), true
	}
	return nil, false, false
}
