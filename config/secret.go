package config

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// secret is where the value of a header comes from: its own text, a variable
// or a file.
type secret struct {
	text      string
	env, file string
	prefix    string // stands before what the variable or file has
	at        mistake
}

// maxSecret bounds what is read of a file, in bytes.
const maxSecret = 64 << 10

// HeaderValues reads the environment variables and files that headers name. It
// is called when the proxy starts, and not by Load: who checks a file need not
// have its secrets. The error has one line for each header without a usable
// value, FILE:LINE:COL first, and nothing of a value.
func HeaderValues(headers []Header) (http.Header, error) {
	var r reader
	all := http.Header{}
	for _, h := range headers {
		text, err := h.value.read()
		if err == nil {
			err = checkValue(text)
		}
		if err != nil {
			m := h.value.at
			m.text += err.Error()
			r.mistakes = append(r.mistakes, m)
		}
		all.Set(h.Name, h.value.prefix+text)
	}
	return all, r.err()
}

func (s secret) read() (string, error) {
	switch {
	case s.env != "":
		text := os.Getenv(s.env)
		if text == "" {
			return "", fmt.Errorf("the environment variable %s is not set; set it for the proxy, which in a host's configuration is its own list of variables", s.env)
		}
		return text, nil
	case s.file != "":
		return readSecret(s.file)
	}
	return s.text, nil
}

func readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("%w; write the path of a readable file", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxSecret+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("%w; write the path of a readable file", err)
	case len(data) > maxSecret:
		return "", fmt.Errorf("%q is longer than 64 KiB; write the path of a file that holds the value alone", path)
	}
	return strings.TrimRight(string(data), "\r\n"), nil
}

// checkValue never shows the value.
func checkValue(value string) error {
	if value == "" {
		return errors.New("the value is empty; write one, or remove the header")
	}
	if strings.ContainsFunc(value, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return errors.New("the value has a line break or another control character; write it on one line")
	}
	return nil
}
