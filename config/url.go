package config

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

const exampleURL = "https://server.example/mcp"

// ParseURL reads the address of an upstream server and returns it as it was
// written. The error says what is wrong and what to write instead, but not
// which setting or flag it was, and nothing of the address.
func ParseURL(text string) (string, error) {
	u, err := readURL(text)
	if err == nil && u.Scheme != "http" && u.Scheme != "https" {
		err = errors.New("this begins with neither http:// nor https://; write the whole address, such as " + exampleURL)
	}
	if err == nil && u.Hostname() == "" {
		err = errors.New("the host is missing; write the whole address, such as " + exampleURL)
	}
	return text, err
}

// parseTrusted is for addresses whose answers decide who may do what: over
// plain HTTP anybody on the way could write them, except on this machine.
func parseTrusted(text string) (string, error) {
	if _, err := ParseURL(text); err != nil {
		return "", err
	}
	if u, _ := url.Parse(text); u.Scheme == "http" && !loopback(u.Hostname()) {
		return "", errors.New("plain http:// is trusted on this machine only; write https://")
	}
	return text, nil
}

// parseAudience takes URIs of every scheme: some issuers choose their own.
func parseAudience(text string) (string, error) {
	u, err := readURL(text)
	if err == nil && !u.IsAbs() {
		err = errors.New("this is not a URL; write what the tokens name as this server, such as " + exampleURL)
	}
	return text, err
}

// readURL never shows the text, nor the error of [url.Parse], which does.
func readURL(text string) (*url.URL, error) {
	if strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return nil, errors.New("a URL has no spaces, line breaks or control characters; write " + exampleURL)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || !portIsFine(u.Port()):
		return nil, errors.New("this is not a URL; write " + exampleURL)
	case u.User != nil:
		return nil, errors.New("a name or password does not belong into a URL; remove what stands before the @, and send it with headers or --header")
	case strings.Contains(text, "#"):
		return nil, errors.New("what follows # is never sent to a server; remove it")
	}
	return u, nil
}

func portIsFine(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// loopback tells whether a name or address can be this machine's own only.
func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && addr.Unmap().IsLoopback()
}
