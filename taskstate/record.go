package taskstate

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A record is what stands under a key: one byte of version, four of length, the
// body, four of CRC32C. Badger has returned empty and foreign bytes without an
// error, so nothing is believed that does not check.
const (
	recordVersion  = 1
	recordHead     = 1 + 4
	recordOverhead = recordHead + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errBadRecord = errors.New("unreadable record")

// seal wraps body for storage under key, and under no other key.
func seal(key, body []byte) []byte {
	rec := make([]byte, 0, len(body)+recordOverhead)
	rec = append(rec, recordVersion)
	rec = binary.BigEndian.AppendUint32(rec, uint32(len(body)))
	rec = append(rec, body...)
	return binary.BigEndian.AppendUint32(rec, checksum(key, rec))
}

// unseal returns the body of rec, which shares its memory, or an error that
// wraps errBadRecord.
func unseal(key, rec []byte) ([]byte, error) {
	if len(rec) < recordOverhead {
		return nil, fmt.Errorf("%w: %d bytes", errBadRecord, len(rec))
	}
	if rec[0] != recordVersion {
		return nil, fmt.Errorf("%w: version %d", errBadRecord, rec[0])
	}
	end := len(rec) - 4
	if n := binary.BigEndian.Uint32(rec[1:]); int64(n) != int64(end-recordHead) {
		return nil, fmt.Errorf("%w: %d bytes where %d were written", errBadRecord, end-recordHead, n)
	}
	if binary.BigEndian.Uint32(rec[end:]) != checksum(key, rec[:end]) {
		return nil, fmt.Errorf("%w: wrong checksum", errBadRecord)
	}
	return rec[recordHead:end:end], nil
}

// checksum covers the key and its length, so that a value which turns up under
// a foreign key does not check.
func checksum(key, rec []byte) uint32 {
	var n [2]byte
	binary.BigEndian.PutUint16(n[:], uint16(len(key)))
	sum := crc32.Update(0, castagnoli, n[:])
	sum = crc32.Update(sum, castagnoli, key)
	return crc32.Update(sum, castagnoli, rec)
}
