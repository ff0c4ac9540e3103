package taskstate

import "github.com/dgraph-io/badger/v4"

// upgrade makes a store of formatBefore one of formatVersion. The headers may
// stay as they are (decodeHeader reads both); what the former format lacks is the
// list of tasks. The version changes before the list is made, in one transaction
// with a mark that it is missing: a process of the former version is refused from
// now on, and one that dies while it makes the list leaves the mark for the next.
func (s *Store) upgrade() error {
	s.log.Info().Str("dir", s.dir).Str("from", formatBefore).Str("to", formatVersion).
		Msg("task store: bringing it up to a new format; older versions of this program will refuse it")
	return s.db.Update(func(txn *badger.Txn) error {
		var w writer
		w.set(unlistedKey, nil)
		w.set(formatKey, []byte(formatVersion))
		return w.into(txn)
	})
}
