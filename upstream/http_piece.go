package upstream

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

const pieceBytes = 200

// piece is the beginning of what a server said, on one line, without what is
// secret in our request: servers quote credentials, and the path that they do
// not know. Forwarded are the headers that came with the request.
func (h *httpClient) piece(body []byte, forwarded http.Header) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), maxRefusal)]), "")
	for _, values := range h.headers(forwarded, "") {
		for _, value := range values {
			text = conceal(text, value)
		}
	}
	for _, part := range h.secretParts {
		text = strings.ReplaceAll(text, part, concealed)
	}
	text = strings.Join(strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) }), " ")
	if len(text) > pieceBytes {
		text = string(wholeRunes([]byte(text[:pieceBytes]))) + "…"
	}
	return text
}

const (
	concealed   = "[…]"
	leastSecret = 6 // what is shorter is no secret, and stands everywhere
	// leastToken is for one part of a path, which mostly is a word.
	leastToken = 12
)

// secretPartsOf are those of a URL that may be secret, as they stand in it and
// in clear, the longer ones first.
func secretPartsOf(u *url.URL) (parts []string) {
	add := func(least int, texts ...string) {
		for _, text := range texts {
			if len(text) >= least {
				parts = append(parts, text)
			}
		}
	}
	add(leastSecret, u.RequestURI(), u.EscapedPath(), u.Path, u.RawQuery)
	add(leastToken, strings.Split(u.EscapedPath(), "/")...)
	add(leastToken, strings.Split(u.Path, "/")...)
	for _, values := range u.Query() {
		add(leastSecret, values...)
	}
	slices.SortFunc(parts, func(a, b string) int { return len(b) - len(a) })
	return parts
}

// conceal also knows the part of a value behind its scheme.
func conceal(text, value string) string {
	_, secret, ok := strings.Cut(value, " ")
	for _, s := range []string{value, secret} {
		if len(s) >= leastSecret && (ok || s == value) {
			text = strings.ReplaceAll(text, s, concealed)
		}
	}
	return text
}
