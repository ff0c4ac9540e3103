package config

import (
	"errors"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

const wantHeaders = `names with their values, such as Authorization: {env: UPSTREAM_TOKEN, prefix: "Bearer "}`

// headers reads names and values and shows neither a value nor what could be
// one in the place of a name.
func (r *reader) headers(v value) []Header {
	m, ok := v.node.(*ast.MappingNode)
	if !ok {
		r.mistake(v.at, "headers: a mapping belongs here; write %s", wantHeaders)
		return nil
	}
	var all []Header
	r.entries(m, "headers.", func(key string, v value, at place) {
		name, err := headerName(key)
		if err != nil {
			r.mistake(at, "headers: %v", err)
			return
		}
		h := Header{name, r.secret(v)}
		if slices.ContainsFunc(all, h.sameName) {
			r.mistake(at, "headers: %s is there twice, in other letters; remove one", name)
		}
		all = append(all, h)
	})
	return all
}

func (r *reader) secret(v value) secret {
	s := secret{at: mistake{r.name, v.at, v.path + ": "}}
	if m, ok := v.node.(*ast.MappingNode); ok {
		r.sources(m, v, &s)
		return s
	}
	text(r, &s.text, "text, {env: NAME} or {file: FILE}", plainValue)(v)
	return s
}

func (r *reader) sources(m *ast.MappingNode, v value, s *secret) {
	known := fields{
		"env":    text(r, &s.env, "the name of an environment variable", envName),
		"file":   text(r, &s.file, "a file", r.path),
		"prefix": text(r, &s.prefix, `text in quotes, such as "Bearer "`, prefix),
	}
	before := len(r.mistakes)
	r.entries(m, v.path+".", func(key string, entry value, at place) {
		if read, ok := known[key]; ok {
			read(entry)
			return
		}
		r.mistake(at, "%s: neither env, file nor prefix stands here; write {env: NAME, prefix: TEXT} or {file: FILE, prefix: TEXT}", v.path)
	})
	if (s.env == "") == (s.file == "") && len(r.mistakes) == before {
		r.mistake(v.at, "%s: one source belongs here; write {env: NAME} or {file: FILE}", v.path)
	}
}

// plainValue refuses what looks like a variable of other programs: it would be
// sent as it is, and be refused by the server for a reason that nobody sees.
func plainValue(s string) (string, error) {
	if strings.Contains(s, "${") {
		return "", errors.New("variables in a text are not read; write {env: NAME, prefix: TEXT}")
	}
	return s, checkValue(s)
}

func prefix(s string) (string, error) {
	if s == "" {
		return "", nil
	}
	return s, checkValue(s)
}

var variableName = pattern(`^[A-Za-z_]\w{0,99}$`)

func envName(s string) (string, error) {
	if !variableName().MatchString(s) {
		return "", errors.New("this is not the name of an environment variable; write letters, digits and _, without $")
	}
	return s, nil
}
