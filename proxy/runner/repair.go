package runner

import (
	"errors"

	"github.com/mcp-taskproxy/mcp-taskproxy/taskstate"
)

// Repair moves aside a store that cannot be opened because it is damaged, and
// returns where it is now; empty for one that needs no repair, or is open in
// another process. Only whoever runs this program can want it: the tasks of that
// store are not served any more.
func Repair(stateDir string) (moved string, err error) {
	moved, err = taskstate.Repair(stateDir)
	if held := (*taskstate.HeldError)(nil); errors.As(err, &held) {
		return "", nil
	}
	return moved, err
}

// Holder returns the process that has the store of a state directory open, a runner or
// not; 0 if none has.
func Holder(dir string) int { return taskstate.Holder(dir) }
