package host

import (
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
)

// Guard stands before everything else on the endpoint: it refuses requests that
// no host of ours makes.
func (h *HTTP) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refused := h.admit(w, r); refused != nil {
			h.refuse(w, refused)
			return
		}
		if r.Method == http.MethodOptions { // a browser's preflight, which carries no token
			w.WriteHeader(http.StatusNoContent)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// admit keeps web pages out that a browser was tricked into (revision
// 2026-07-28, Streamable HTTP, Security & Endpoint), and lets the pages of
// allowed origins read the answers.
func (h *HTTP) admit(w http.ResponseWriter, r *http.Request) *refusal {
	if !h.hostAllowed(r.Host) {
		return refuse(http.StatusForbidden, wire.CodeInvalidRequest,
			"Host %.100q is not served here; whoever runs the proxy can allow it (hosts).", r.Host)
	}
	origins := r.Header.Values("Origin")
	if len(origins) == 0 {
		return nil
	}
	if len(origins) > 1 || !h.originAllowed(origins[0]) {
		return refuse(http.StatusForbidden, wire.CodeInvalidRequest,
			"Origin %.100q is not allowed here; whoever runs the proxy can allow it (origins).", origins[0])
	}
	header := w.Header()
	header.Set("Access-Control-Allow-Origin", origins[0])
	header.Set("Vary", "Origin")
	header.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate")
	if r.Method == http.MethodOptions {
		header.Set("Access-Control-Allow-Methods", "POST, GET, DELETE")
		header.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
	}
	return nil
}

func (h *HTTP) hostAllowed(hostport string) bool {
	name := hostname(hostport)
	if slices.ContainsFunc(h.opts.Hosts, func(s string) bool { return strings.EqualFold(s, name) || strings.EqualFold(s, hostport) }) {
		return true
	}
	if h.opts.Local {
		return isLoopback(name)
	}
	return len(h.opts.Hosts) == 0 || isLoopback(name)
}

func (h *HTTP) originAllowed(origin string) bool {
	if slices.ContainsFunc(h.opts.Origins, func(s string) bool { return strings.EqualFold(s, origin) }) {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && h.opts.Local && (u.Scheme == "http" || u.Scheme == "https") && isLoopback(u.Hostname())
}

func hostname(hostport string) string {
	if name, _, err := net.SplitHostPort(hostport); err == nil {
		return name
	}
	return strings.Trim(hostport, "[]")
}

func isLoopback(name string) bool {
	if strings.EqualFold(name, "localhost") {
		return true
	}
	ip := net.ParseIP(name)
	return ip != nil && ip.IsLoopback()
}
