package proxy

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// prefixOf tells a requestState of ours from a server's, which may stand behind
// another proxy.
func prefixOf(secret []byte) string {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("prefix"))
	return fmt.Sprintf("mcp-taskproxy.%x.", mac.Sum(nil)[:6])
}

// claims are what a requestState of ours says. It is authenticated, and bound
// to the owner and the request (revision 2026-07-28, Multi Round-Trip Requests,
// Server Requirements); the hold that it names is used up with it.
type claims struct {
	Call    string `json:"call"`
	Expires int64  `json:"expires"` // milliseconds since 1970
}

func (p *Proxy) seal(c claims, req *Request) string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and integers always have an encoding
	}
	return p.prefix + base64.RawURLEncoding.EncodeToString(text) + "." + base64.RawURLEncoding.EncodeToString(p.sign(text, req))
}

// requestState is the member of that name, raw, nil if there is none, and what
// follows our prefix in it; own is false where it is none of ours. In the
// initialize era there is no such thing.
func (p *Proxy) requestState(req *Request) (raw []byte, state string, own bool) {
	if !req.retries() {
		return nil, "", false
	}
	raw = wire.Get(req.Message.Params(), keyState)
	state, _ = wire.String(raw)
	state, own = strings.CutPrefix(state, p.prefix)
	return raw, state, own
}

func (p *Proxy) unseal(state string, req *Request) (c claims, err *wire.Error) {
	head, tail, _ := strings.Cut(state, ".")
	text, err1 := base64.RawURLEncoding.Strict().DecodeString(head)
	mac, err2 := base64.RawURLEncoding.Strict().DecodeString(tail)
	switch {
	case strings.ContainsAny(state, "\r\n"): // which the decoder does not mind
		return c, errStateForged
	case err1 != nil || err2 != nil || !hmac.Equal(mac, p.sign(text, req)) || json.Unmarshal(text, &c) != nil:
		return c, errStateForged
	case time.Now().UnixMilli() >= c.Expires:
		return c, errStateExpired
	}
	return c, nil
}

func (p *Proxy) sign(text []byte, req *Request) []byte {
	mac := hmac.New(sha256.New, p.opts.Tasks.store.Secret())
	for _, part := range [][]byte{text, []byte(req.Owner), []byte(req.Message.Method()), salient(req.Message.Params())} {
		fmt.Fprintf(mac, "%d:%s", len(part), part)
	}
	return mac.Sum(nil)
}

// salient are the params without what may differ when a request is repeated, in
// one spelling.
func salient(params []byte) []byte {
	params = wire.Delete(params, "_meta", keyResponses, keyState)
	decoder := json.NewDecoder(bytes.NewReader(params))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return params
	}
	canonical, err := json.Marshal(value)
	if err != nil {
		return params
	}
	return canonical
}
