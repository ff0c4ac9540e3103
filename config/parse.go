package config

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parse returns the root mapping, or nil for an empty file and after a
// mistake. What the YAML parser gets to see is bounded first: its time grows
// with the square of the keys, and of the depth.
func (r *reader) parse(data []byte) *ast.MappingNode {
	text, ok := r.text(data)
	if !ok {
		return nil
	}
	tokens := lexer.Tokenize(text)
	if !r.bounded(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.syntax(err)
		return nil
	}
	return r.root(file)
}

// text checks size and encoding and drops a byte order mark.
func (r *reader) text(data []byte) (string, bool) {
	if len(data) > maxFile {
		r.mistake(place{1, 1}, "the file is longer than 1 MiB; shorten it")
		return "", false
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for i := 0; i < len(data); {
		c, n := utf8.DecodeRune(data[i:])
		if c == 0 || c == utf8.RuneError && n == 1 {
			line := bytes.LastIndexByte(data[:i], '\n') + 1
			p := place{1 + bytes.Count(data[:i], []byte("\n")), 1 + utf8.RuneCount(data[line:i])}
			r.mistake(p, "byte 0x%02x is not text; save the file as UTF-8", data[i])
			return "", false
		}
		i += n
	}
	return string(data), true
}

const (
	maxTokens = 20_000
	maxDepth  = 16
)

// bounded refuses what the file has no use for and what could make parsing
// expensive: expansion (anchors), depth, sheer number.
func (r *reader) bounded(tokens token.Tokens) bool {
	open := 0    // unclosed [ and {
	entries := 0 // dashes in a row: "- - - x" nests, too
	for i, t := range tokens {
		open, entries = depth(t, open, entries)
		problem := unread(t.Type)
		if open > maxDepth || entries > maxDepth {
			problem = "nested too deeply; no setting needs more than three levels"
		} else if i == maxTokens {
			problem = "the file has too many values; shorten it, with globs under tools:"
		}
		if problem != "" {
			r.mistake(at(t), "%s", problem)
			return false
		}
	}
	return true
}

func depth(t *token.Token, open, entries int) (int, int) {
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		return open + 1, 0
	case token.SequenceEndType, token.MappingEndType:
		return open - 1, 0
	case token.SequenceEntryType:
		return open, entries + 1
	}
	return open, 0
}

// unread says why a kind of token has no place in a configuration, or "".
func unread(t token.Type) string {
	switch t {
	case token.AliasType:
		return `a * at the start is a YAML alias, which is not read here; put a name with * in quotes, such as "*_build"`
	case token.AnchorType:
		return "an & at the start is a YAML anchor, which is not read here; write the value out where it is needed, or put it in quotes"
	case token.MergeKeyType:
		return "YAML merge keys are not read here; write the settings out"
	case token.TagType:
		return "a ! at the start is a YAML tag, which is not read here; remove it, or put the value in quotes"
	case token.MappingKeyType:
		return "a ? at the start is a YAML complex key, which is not read here; write key: value"
	case token.DirectiveType:
		return "YAML directives are not read here; remove the line"
	}
	return ""
}

// root finds the one mapping of the file.
func (r *reader) root(file *ast.File) *ast.MappingNode {
	if len(file.Docs) > 1 {
		second := file.Docs[1]
		t := second.Start
		if t == nil && second.Body != nil {
			t = second.Body.GetToken()
		}
		r.mistake(at(t), "a second YAML document begins; keep one, and remove the --- between them")
		return nil
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil
	}
	switch body := file.Docs[0].Body.(type) {
	case *ast.MappingNode:
		return body
	case *ast.NullNode:
		return nil
	default:
		r.mistake(at(body.GetToken()), "this is not a setting; write key: value, with a space after the colon")
		return nil
	}
}

// syntax turns the parser's error into one line with a remedy.
func (r *reader) syntax(err error) {
	var known yaml.Error
	if !errors.As(err, &known) {
		r.mistake(place{1, 1}, "this is not YAML; check indentation, colons and quotes")
		return
	}
	why := strings.Trim(strconv.Quote(known.GetMessage()), `"`)
	r.mistake(at(known.GetToken()), "YAML syntax: %s; %s", why, remedy(why))
}

func remedy(why string) string {
	switch {
	case strings.Contains(why, `\t`):
		return "indent with spaces, not tabs"
	case strings.Contains(why, "']'"):
		return "close the [ with ]"
	case strings.Contains(why, "'}'"):
		return "close the { with }"
	case strings.Contains(why, "quoted text"):
		return "close the quote"
	case strings.Contains(why, "non-map value"):
		return "write key: value, with a space after the colon"
	}
	return "check indentation, colons and quotes here"
}
