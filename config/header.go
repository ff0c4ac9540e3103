package config

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Header is one header of the requests to the upstream server. It prints as
// its name only, because its value may be a secret.
type Header struct {
	Name  string // canonical
	value secret
}

// String hides the value.
func (h Header) String() string { return h.Name }

// GoString hides the value.
func (h Header) GoString() string { return fmt.Sprintf("config.Header{Name: %q}", h.Name) }

// ParseHeaders reads "Name: value" texts, none of one name twice. The error
// says what is wrong and what to write instead, but not which setting or flag
// it was, and nothing of a value.
func ParseHeaders(texts []string) ([]Header, error) {
	var all []Header
	for _, text := range texts {
		h, err := parseHeader(text)
		if err == nil && slices.ContainsFunc(all, h.sameName) {
			err = fmt.Errorf("%s is there twice; remove one, or join the values with a comma", h.Name)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, h)
	}
	return all, nil
}

func parseHeader(text string) (Header, error) {
	name, value, ok := strings.Cut(text, ":")
	if !ok {
		return Header{}, errors.New("there is no colon; write 'Name: value'")
	}
	name, err := headerName(strings.TrimSpace(name))
	if err != nil {
		return Header{}, err
	}
	value = strings.Trim(value, " \t")
	if err := checkValue(value); err != nil {
		return Header{}, fmt.Errorf("%s: %w", name, err)
	}
	return Header{name, secret{text: value}}, nil
}

// MergeHeaders returns the headers of base, and in place of those that over
// has, too, and behind them, those of over.
func MergeHeaders(base, over []Header) []Header {
	kept := slices.DeleteFunc(slices.Clone(base), func(h Header) bool {
		return slices.ContainsFunc(over, h.sameName)
	})
	return append(kept, over...)
}

func (h Header) sameName(other Header) bool { return h.Name == other.Name }

// RFC 9110, section 5.6.2.
var headerForm = pattern("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$")

// headerName returns the canonical form. What is no name is not shown: it may
// be a value in the wrong place.
func headerName(name string) (string, error) {
	if !headerForm().MatchString(name) {
		return "", errors.New("this is not the name of a header; write letters, digits and dashes, such as X-Tenant")
	}
	name = http.CanonicalHeaderKey(name)
	if why := reserved(name); why != "" {
		return "", fmt.Errorf("%s %s; remove it", name, why)
	}
	return name, nil
}

// forwardName reads the name of a header that hosts may say something in.
func forwardName(s string) (string, error) {
	name, err := headerName(s)
	if name == "Authorization" {
		return "", errors.New("this is a credential of each host; remove it, and write forward_authorization: true if the server is the one to check it")
	}
	return name, err
}

// reserved says why a header is not a user's to set or to forward, or "".
func reserved(name string) string {
	switch name {
	case "Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection",
		"Te", "Trailer", "Transfer-Encoding", "Upgrade", "Expect": // RFC 9110, section 7.6.1, and what behaves like it
		return "belongs to one connection and is written by the HTTP client"
	case "Host":
		return "is taken from url"
	case "Accept", "Accept-Encoding", "Content-Type", "Content-Length", "Content-Encoding", "Last-Event-Id":
		return "belongs to the protocol and is written by the proxy"
	}
	if strings.HasPrefix(name, "Mcp-") {
		return "belongs to the protocol and is written by the proxy"
	}
	return ""
}
