package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// plain marks the bytes that may stand in a string as they are.
var plain = func() (t [256]bool) {
	for c := 0x20; c < 256; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

const (
	nearby = 128 // most strings end sooner
	window = 512 // a multiple of farStep
)

// scanPlain returns the position of the next byte that is not plain.
func scanPlain(b []byte, i int) int {
	if near := i + nearby; near < len(b) {
		if i = scanNear(b[:near], i); i < near {
			return i
		}
		i = scanFar(b, i)
	}
	return scanNear(b, i)
}

func scanNear(b []byte, i int) int {
	for ; i+8 <= len(b); i += 8 {
		if marks := markSpecial(binary.LittleEndian.Uint64(b[i:])); marks != 0 {
			return i + bits.TrailingZeros64(marks)/8
		}
	}
	for i < len(b) && plain[b[i]] {
		i++
	}
	return i
}

// markSpecial sets the high bit of the lowest byte of w that is not plain, and
// none if all are. Bits above that one mean nothing: a subtraction borrows from
// the bytes above the one it finds, never from those below.
func markSpecial(w uint64) uint64 {
	quote, backslash := w^each*'"', w^each*'\\'
	return markControls(w) | ((quote-each)&^quote|(backslash-each)&^backslash)&(each*0x80)
}

// markControls does the same for control characters.
func markControls(w uint64) uint64 { return (w - each*0x20) &^ w & (each * 0x80) }

const each = 0x0101010101010101

// scanFar comes close to the next byte that is not plain, and not beyond it.
// IndexByte is several times faster than a loop; it looks at a window at a time, so
// that text with many backslashes and no quote is not searched again and again.
func scanFar(b []byte, i int) int {
	for {
		n := scanControls(before(before(b[i:min(i+window, len(b))], '\\'), '"'))
		i += n
		if n < window {
			return i
		}
	}
}

func before(b []byte, c byte) []byte {
	if n := bytes.IndexByte(b, c); n >= 0 {
		return b[:n]
	}
	return b
}

const farStep = 32

// scanControls returns the position of a step that holds control characters, or that
// of a rest too short for one.
func scanControls(b []byte) (i int) {
	for ; i+farStep <= len(b); i += farStep {
		s := b[i : i+farStep : i+farStep]
		marks := markControls(binary.LittleEndian.Uint64(s)) | markControls(binary.LittleEndian.Uint64(s[8:])) |
			markControls(binary.LittleEndian.Uint64(s[16:])) | markControls(binary.LittleEndian.Uint64(s[24:]))
		if marks != 0 {
			break
		}
	}
	return i
}
