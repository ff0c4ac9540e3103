package taskstate

import (
	"encoding/binary"
	"time"
)

const (
	runningPrefix  = "r/"
	expiryPrefix   = "x/"
	sentinelPrefix = "z/"
)

var (
	formatKey = []byte("m/format")
	secretKey = []byte("m/secret")
)

func headerKey(id string) []byte  { return []byte("t/" + id) }
func requestKey(id string) []byte { return []byte("q/" + id) }
func outcomeKey(id string) []byte { return []byte("o/" + id) }
func runningKey(id string) []byte { return []byte(runningPrefix + id) }

// expiryKey sorts by time: the sign bit is turned so that the order of the
// bytes is the order of the numbers.
func expiryKey(at time.Time, id string) []byte {
	k := binary.BigEndian.AppendUint64([]byte(expiryPrefix), uint64(at.UnixNano())^1<<63)
	return append(k, id...)
}

// splitExpiryKey undoes expiryKey.
func splitExpiryKey(k []byte) (at time.Time, id string, ok bool) {
	const head = len(expiryPrefix) + 8
	if len(k) < head+idLen || !wellFormed(string(k[head:])) {
		return time.Time{}, "", false
	}
	n := binary.BigEndian.Uint64(k[len(expiryPrefix):]) ^ 1<<63
	return time.Unix(0, int64(n)).UTC(), string(k[head:]), true
}
