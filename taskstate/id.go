package taskstate

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
)

// An id is 26 letters and digits of base32: 80 bits at random, and a tag of 50 that
// only this store can make of them.
const (
	idLen  = 26
	tagLen = 10
)

// newID returns an identifier that cannot be guessed (Tasks extension,
// Security: ids are the only thing between one caller and another's task),
// behind the name of the node that gave it, if it has one.
func (s *Store) newID() string {
	id := rand.Text()[:idLen-tagLen]
	if node := s.opts.Node; node != "" {
		id = node + "-" + id
	}
	return id + s.tag(id)
}

func (s *Store) tag(id string) string {
	mac := hmac.New(sha256.New, s.secret)
	mac.Write([]byte("id of a task: " + id))
	return base32.StdEncoding.EncodeToString(mac.Sum(nil))[:tagLen]
}

// issued is false for what this store has never given. The database looks for a key
// byte by byte, and the time that takes tells how much of it is right: so only those
// are looked for. A store that an earlier version made has ids without tags.
func (s *Store) issued(id string) bool {
	if !wellFormed(id) {
		return false
	}
	head, tag := id[:len(id)-tagLen], id[len(id)-tagLen:]
	return !s.tagged || hmac.Equal([]byte(tag), []byte(s.tag(head)))
}

// maxNode is the longest name of a node.
const maxNode = 32

func checkNode(node string) error {
	if len(node) > maxNode || !consistsOf(node, nodeLetter) {
		return fmt.Errorf("node name %q: up to %d of a-z, 0-9 and _ are allowed", node, maxNode)
	}
	return nil
}

// wellFormed reports whether id could be one of ours, so that what a stranger
// sends never becomes a key.
func wellFormed(id string) bool {
	node, text, named := strings.Cut(id, "-")
	if !named {
		node, text = "", id
	}
	return len(text) == idLen && consistsOf(text, base32Digit) &&
		(!named || node != "" && len(node) <= maxNode && consistsOf(node, nodeLetter))
}

func base32Digit(c byte) bool { return c >= 'A' && c <= 'Z' || c >= '2' && c <= '7' }
func nodeLetter(c byte) bool  { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' }

func consistsOf(s string, ok func(byte) bool) bool {
	for _, c := range []byte(s) {
		if !ok(c) {
			return false
		}
	}
	return true
}
