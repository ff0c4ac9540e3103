package taskstate

import "errors"

// Holder returns the process that has the store in dir open; 0 if none has, or dir is
// none. Anybody may ask, at any time: a store that is being opened waits a moment
// longer for it.
func Holder(dir string) int {
	unlock, err := lockDir(dir)
	var held *HeldError
	if errors.As(err, &held) {
		return held.PID
	}
	if err == nil {
		unlock()
	}
	return 0
}
