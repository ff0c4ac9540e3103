package host

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// statelessKeys are the keys of guests for stateless requests. A host spells its
// capabilities in the same way in all of them, so that the digest is looked up. It is
// guarded by guests.mu.
type statelessKeys struct{ digests map[string]string }

const (
	maxDigests = 256
	maxSpelled = 4 << 10 // bytes of a spelling that is kept
)

// of is never the id of a session: those have no slash. Capabilities that differ in
// spelling only have the same key.
func (k *statelessKeys) of(owner string, capabilities []byte) string {
	digest, known := k.digests[string(capabilities)]
	if !known {
		digest = digestOf(capabilities)
		k.keep(capabilities, digest)
	}
	return owner + "/" + digest
}

func (k *statelessKeys) keep(capabilities []byte, digest string) {
	if len(capabilities) > maxSpelled {
		return
	}
	if k.digests == nil || len(k.digests) >= maxDigests {
		k.digests = map[string]string{}
	}
	k.digests[string(capabilities)] = digest
}

func digestOf(capabilities []byte) string {
	var value any
	if json.Unmarshal(wire.DeleteIn(capabilities, "extensions", tasksExtension), &value) == nil {
		if canonical, err := json.Marshal(value); err == nil {
			capabilities = canonical
		}
	}
	return fmt.Sprintf("%x", sha256.Sum256(capabilities))
}
