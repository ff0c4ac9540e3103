package taskstate

import (
	"crypto/sha256"
	"encoding/binary"
	"time"
)

const (
	headerPrefix   = "t/"
	listPrefix     = "l/"
	runningPrefix  = "r/"
	expiryPrefix   = "x/"
	sentinelPrefix = "z/"
)

var (
	formatKey   = []byte("m/format")
	secretKey   = []byte("m/secret")
	taggedKey   = []byte("m/tagged")
	unlistedKey = []byte("m/unlisted")
	changesKey  = []byte("m/changes")
	storedKey   = []byte("m/stored")
	epochKey    = []byte("m/epoch")
)

func headerKey(id string) []byte  { return []byte(headerPrefix + id) }
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

// ownerHash is how much of its hash stands for an owner, whose name may be long.
const ownerHash = 16

// listKey is where the task of owner at a position is listed; without a
// position, what the keys of all its tasks begin with.
func listKey(owner string, position []byte) []byte {
	sum := sha256.Sum256([]byte(owner))
	k := append([]byte(listPrefix), sum[:ownerHash]...)
	return append(k, position...)
}

// listPosition sorts by the time of creation, latest first.
func listPosition(t Task) []byte {
	p := binary.BigEndian.AppendUint64(nil, ^(uint64(t.CreatedAt.UnixNano()) ^ 1<<63))
	return append(p, t.ID...)
}

// positionID is the task at a position.
func positionID(p []byte) (id string, ok bool) {
	if len(p) < 8 || !wellFormed(string(p[8:])) {
		return "", false
	}
	return string(p[8:]), true
}
