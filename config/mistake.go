package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/goccy/go-yaml/token"
)

// place is a line and a column, both counted from 1, columns in characters.
type place struct{ line, column int }

func at(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{max(1, t.Position.Line), max(1, t.Position.Column)}
}

// mistake is one line of the error that Load returns.
type mistake struct {
	file string
	place
	text string // what is wrong; what to write instead
}

func (m mistake) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", m.file, m.line, m.column, m.text)
}

// reader goes through one file and collects its mistakes.
type reader struct {
	name     string
	mistakes []mistake
	places   map[string]place // of what was read, by path: tls.cert
}

func (r *reader) mistake(p place, format string, args ...any) {
	r.mistakes = append(r.mistakes, mistake{r.name, p, fmt.Sprintf(format, args...)})
}

// err joins the mistakes in the order of the file.
func (r *reader) err() error {
	slices.SortStableFunc(r.mistakes, func(a, b mistake) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column))
	})
	errs := make([]error, len(r.mistakes))
	for i, m := range r.mistakes {
		errs[i] = m
	}
	return errors.Join(errs...)
}

// quoted shows what the user wrote on one line, cut short.
func quoted(s string) string {
	const most = 40
	if utf8.RuneCountInString(s) <= most {
		return strconv.Quote(s)
	}
	return strconv.Quote(string([]rune(s)[:most])) + "..."
}
