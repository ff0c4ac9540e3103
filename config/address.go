package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"path"
	"strconv"
	"strings"
)

var hostName = pattern(`^[A-Za-z0-9_](?:[\w.-]{0,251}[A-Za-z0-9_])?$`)

// ParseListen reads HOST:PORT. Port 0 is any free one; without a HOST it is
// every address of the machine. The error does not say which setting or flag
// it was.
func ParseListen(text string) (string, error) {
	host, port, err := net.SplitHostPort(text)
	_, digits := strconv.Atoi(text)
	switch {
	case strings.Contains(text, "/"):
		return "", fmt.Errorf("%s is more than HOST:PORT; write 127.0.0.1:8080, and choose the path with endpoint", quoted(text))
	case digits == nil:
		return "", fmt.Errorf("%s has no host; write 127.0.0.1:8080", quoted(text))
	case err != nil || !isHost(host) && host != "":
		return "", fmt.Errorf("%s is not HOST:PORT; write 127.0.0.1:8080 or [::1]:8080 for this machine, 0.0.0.0:8080 for every network", quoted(text))
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return "", fmt.Errorf("%s has no port from 0 to 65535 at its end; write 127.0.0.1:8080", quoted(text))
	}
	return text, nil
}

func isHost(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil || hostName().MatchString(s)
}

var endpointForm = pattern(`^/[\w.~!$&'()*+,;=:@/-]{0,200}$`)

// ParseEndpoint reads the path under which hosts find the proxy. The error
// does not say which setting or flag it was.
func ParseEndpoint(text string) (string, error) {
	switch {
	case !strings.HasPrefix(text, "/"):
		return "", fmt.Errorf("%s does not begin with /; write a path such as /mcp", quoted(text))
	case !endpointForm().MatchString(text):
		return "", fmt.Errorf("%s is not a plain path; write one such as /mcp, without %%, ? and #", quoted(text))
	case path.Clean(text) != text:
		return "", fmt.Errorf("%s is not the shortest form of the path; write %s", quoted(text), path.Clean(text))
	case text == "/healthz" || text == "/readyz" || strings.HasPrefix(text+"/", "/.well-known/"):
		return "", fmt.Errorf("%s is used by the proxy itself; write another path, such as /mcp", quoted(text))
	}
	return text, nil
}

// parseOrigin wants what a browser sends: lower case, and no port that is the
// scheme's own.
func parseOrigin(text string) (string, error) {
	text = strings.ToLower(text)
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || !isHost(u.Hostname()) || !portIsFine(u.Port()) || u.Scheme+"://"+u.Host != text {
		return "", fmt.Errorf("%s is not a whole origin; write scheme://host or scheme://host:port, such as https://app.example, for each", quoted(text))
	}
	if standard := map[string]string{"http": "80", "https": "443"}[u.Scheme]; standard != "" && u.Port() == standard {
		return "", fmt.Errorf("%s: browsers leave out port %s; write %s", quoted(text), standard, strings.TrimSuffix(text, ":"+standard))
	}
	return text, nil
}

func parseHost(text string) (string, error) {
	host := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if text == "" {
		return "", errors.New("the name is empty; write one such as proxy.example, or remove it")
	}
	if !isHost(host) {
		return "", fmt.Errorf("%s is not a host; write a name such as proxy.example, without scheme and port, for each", quoted(text))
	}
	return host, nil
}
