package taskstate

import (
	"context"
	"errors"
)

// SetInputs says which questions of a running task are open: it is then
// InputRequired and asks inputs instead of what it asked before; nil or empty,
// it is Working (Tasks extension, Task Status: input_required while the
// task cannot go on without answers). The status is durable on return and
// UpdatedAt has moved; the questions are kept in memory only. On a task that
// works already, nil changes nothing. Errors, which all change nothing:
// ErrFinished, ErrNotFound, ErrTooLarge for more than MaxPayload, ErrNoSpace,
// ErrClosed, that of ctx if it has ended before the call.
func (s *Store) SetInputs(ctx context.Context, id string, inputs []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := checkPayload("inputs", inputs); err != nil {
		return err
	}
	o := newOp(opInput, id)
	if len(inputs) > 0 {
		o.inputs = inputs
	}
	err := s.submit(o)
	switch {
	case errors.Is(err, errMoot):
		return nil
	case errors.Is(err, ErrNotFound):
		_, err = s.settled(id)
	}
	return err
}
