package taskstate

import (
	"context"
	"errors"
)

// SetRemote records, durably on return, where the upstream keeps a task of its
// own for a running one, so that it can be asked for it again after a restart.
// remote replaces what was there; UpdatedAt does not move, and no Watch hears of
// it. Errors, which all change nothing: ErrFinished, ErrNotFound, ErrTooLarge for
// more than 64 KiB, ErrNoSpace, ErrClosed, that of ctx if it has ended before the
// call.
func (s *Store) SetRemote(ctx context.Context, id string, remote []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkText(len(remote)); err != nil {
		return err
	}
	o := newOp(opRemote, id)
	o.remote = remote
	err := s.submit(o)
	if errors.Is(err, ErrNotFound) {
		_, err = s.settled(id)
	}
	return err
}
