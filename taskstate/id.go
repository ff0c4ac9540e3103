package taskstate

import (
	"crypto/rand"
	"fmt"
	"strings"
)

// idLen is the length of the text that crypto/rand.Text gives: 26 letters and
// digits of base32, 130 bits.
const idLen = 26

// newID returns an identifier that cannot be guessed (Tasks extension,
// Security: ids are the only thing between one caller and another's task),
// behind the name of the node that gave it, if it has one.
func newID(node string) string {
	if node == "" {
		return rand.Text()
	}
	return node + "-" + rand.Text()
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
