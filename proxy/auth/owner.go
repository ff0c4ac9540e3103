package auth

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// ownerName hashes what an owner is known by. It is keyed, so that a state
// directory or a log does not say by itself whose tasks it holds: names can be
// guessed. Each part goes in with its length: ("a", "bc") is not ("ab", "c").
func ownerName(key []byte, parts ...string) string {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}
