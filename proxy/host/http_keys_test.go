package host

import (
	"fmt"
	"strings"
	"testing"
)

// The key stays what it is while others come and go.
func TestStatelessKeys(t *testing.T) {
	var k statelessKeys
	key := func(owner, capabilities string) string { return k.of(owner, []byte(capabilities)) }
	base := key("anna", `{"roots":{},"elicitation":{}}`)
	for _, same := range []string{`{"roots":{},"elicitation":{}}`, `{"elicitation":{}, "roots":{}}`,
		`{"roots":{},"elicitation":{},"extensions":{"io.modelcontextprotocol/tasks":{}}}`} {
		if got := key("anna", same); got != base {
			t.Errorf("%s has key %s, and not %s", same, got, base)
		}
	}
	if key("bert", `{"roots":{},"elicitation":{}}`) == base || key("anna", `{"roots":{}}`) == base {
		t.Error("another owner, or other capabilities, have the same key")
	}
	for i := range 3 * maxDigests {
		key("anna", fmt.Sprintf(`{"n":%d}`, i))
	}
	key("anna", `{"long":"`+strings.Repeat("x", maxSpelled)+`"}`)
	if len(k.digests) > maxDigests {
		t.Errorf("%d digests are kept", len(k.digests))
	}
	for text := range k.digests {
		if len(text) > maxSpelled {
			t.Errorf("a spelling of %d bytes is kept", len(text))
		}
	}
	if got := key("anna", `{"roots":{},"elicitation":{}}`); got != base {
		t.Errorf("the key is %s now, and was %s", got, base)
	}
}
