package taskstate

import "crypto/rand"

// idLen is the length of the text that crypto/rand.Text gives: 26 letters and
// digits of base32, 130 bits.
const idLen = 26

// newID returns an identifier that cannot be guessed (Tasks extension,
// Security: ids are the only thing between one caller and another's task).
func newID() string { return rand.Text() }

// wellFormed reports whether id could be one of ours, so that what a stranger
// sends never becomes a key.
func wellFormed(id string) bool {
	if len(id) != idLen {
		return false
	}
	for _, c := range []byte(id) {
		if (c < 'A' || c > 'Z') && (c < '2' || c > '7') {
			return false
		}
	}
	return true
}
