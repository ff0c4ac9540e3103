package runner

import (
	"math"

	"golang.org/x/sys/unix"
)

// keepDescriptors has no child inherit what this process has inherited itself.
func keepDescriptors() {
	const first = 3
	if unix.CloseRange(first, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	keepOneByOne(first)
}
