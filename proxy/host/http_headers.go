package host

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/mirror"
	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// lenient are the methods whose Mcp-Name many hosts leave out.
var lenient = map[string]bool{"tasks/get": true, "tasks/update": true, "tasks/cancel": true}

// namesStateless reports whether a request says that it is of this era.
func namesStateless(r *http.Request) bool {
	return slices.Contains(statelessVersions, r.Header.Get(mirror.HeaderVersion))
}

// checkHeaders compares the headers of a request with its body (revision
// 2026-07-28, Streamable HTTP, Server Validation).
func checkHeaders(header http.Header, m wire.Message) *wire.Error {
	version, inBody := wire.String(wire.Lookup(m.Params(), "_meta", metaVersion))
	if err := checkPlain(header, mirror.HeaderVersion, version, inBody); err != nil {
		return err
	}
	if err := checkPlain(header, mirror.HeaderMethod, m.Method(), true); err != nil {
		return err
	}
	name, known, inBody := mirror.Name(m)
	if !known {
		return nil
	}
	return checkHeader(header, mirror.HeaderName, name, inBody, inBody && !lenient[m.Method()])
}

// checkPlain is for headers whose values are never encoded: whoever filters by
// them need not decode.
func checkPlain(header http.Header, name, want string, inBody bool) *wire.Error {
	values := header.Values(name)
	switch {
	case len(values) != 1:
		return mismatch("%s", notOnce(name, len(values)))
	case inBody && strings.Trim(values[0], " \t") != want:
		return mismatch("%s is %.100q and the body says %.100q", name, values[0], want)
	}
	return nil
}

// checkHeader leaves it to the method to miss what is not in the body.
func checkHeader(header http.Header, name, want string, inBody, required bool) *wire.Error {
	values := header.Values(name)
	if len(values) == 0 && !required {
		return nil
	}
	if len(values) != 1 {
		return mismatch("%s", notOnce(name, len(values)))
	}
	got, ok := mirror.Decode(values[0])
	switch {
	case !ok:
		return mismatch("the value of %s has characters that must be encoded (=?base64?…?=), or is encoded badly", name)
	case inBody && got != want:
		return mismatch("%s is %.100q and the body says %.100q", name, got, want)
	}
	return nil
}

func mismatch(format string, args ...any) *wire.Error {
	return wire.Errorf(wire.CodeHeaderMismatch, "Header mismatch: "+format+". The request was not sent on.", args...)
}

// prefersStream goes by what the client names first, where it has to name both.
func prefersStream(r *http.Request) bool {
	first, _, _ := strings.Cut(r.Header.Get("Accept"), ",")
	return strings.EqualFold(strings.TrimSpace(first), "text/event-stream")
}

// accepts reports whether the client takes these types (RFC 9110, Accept).
func accepts(r *http.Request, types ...string) bool {
	accepted := strings.Split(strings.Join(r.Header.Values("Accept"), ","), ",")
	for _, want := range types {
		group, _, _ := strings.Cut(want, "/")
		if !slices.ContainsFunc(accepted, func(s string) bool {
			s, _, _ = strings.Cut(s, ";")
			s = strings.ToLower(strings.TrimSpace(s))
			return s == want || s == group+"/*" || s == "*/*"
		}) {
			return false
		}
	}
	return true
}

// notOnce says what is wrong with a header that is not there once.
func notOnce(name string, times int) string {
	if times == 0 {
		return name + " is missing"
	}
	return fmt.Sprintf("%s is required, once; it is there %d times", name, times)
}
