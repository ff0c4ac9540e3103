// Package schema holds messages of the tests against the published JSON Schemas
// of the protocol and of its Tasks extension, which stand beside it; README.md
// says where they come from.
//
// [Validate] checks one value. A [Judge] listens to a whole conversation: told
// every line that a host sent, it knows by which definition each line that
// comes back has to be judged. It asks a little more than the schemas, where
// these leave to prose what the specifications demand: see judge.go.
package schema

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Document names one of the schemas.
type Document string

// The documents: two revisions of the protocol, and the extension
// io.modelcontextprotocol/tasks.
const (
	Initialize Document = "2025-11-25"
	Stateless  Document = "2026-07-28"
	Tasks      Document = "tasks"
)

//go:embed *.json
var documents embed.FS

// Validate says where raw, one JSON value, differs from a definition, a name
// under $defs of the document. Any goroutine may call it.
func Validate(document Document, definition string, raw []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	compiled, err := compile(document, definition)
	if err != nil {
		return err
	}
	if err := compiled.Validate(value); err != nil {
		return fmt.Errorf("no %s of %s: %w", definition, document, err)
	}
	return nil
}

// compiled keeps what was compiled, each definition once.
var compiled struct {
	sync.Mutex
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema
}

func compile(document Document, definition string) (*jsonschema.Schema, error) {
	compiled.Lock()
	defer compiled.Unlock()
	if compiled.compiler == nil {
		if err := load(); err != nil {
			return nil, err
		}
	}
	location := url(document) + "#/$defs/" + definition
	if s := compiled.schemas[location]; s != nil {
		return s, nil
	}
	s, err := compiled.compiler.Compile(location)
	compiled.schemas[location] = s
	return s, err
}

// load reads all documents; the lock is held. Formats such as uri count, except
// uri-template: the library takes mem://{name} for a URI with an odd host.
func load() error {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	compiler.RegisterFormat(&jsonschema.Format{Name: "uri-template", Validate: func(any) error { return nil }})
	var errs error
	for _, document := range []Document{Initialize, Stateless, Tasks} {
		errs = errors.Join(errs, add(compiler, document))
	}
	compiled.compiler, compiled.schemas = compiler, map[string]*jsonschema.Schema{}
	return errs
}

func add(compiler *jsonschema.Compiler, document Document) error {
	data, err := documents.ReadFile(string(document) + ".json")
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return err
	}
	return compiler.AddResource(url(document), value)
}

// url is the extension's own $id, and for the others one like it.
func url(document Document) string {
	if document == Tasks {
		return "https://modelcontextprotocol.io/ext-tasks/schema.json"
	}
	return "https://modelcontextprotocol.io/schema/" + string(document) + ".json"
}

// member is the raw value behind a path of members, nil if there is none.
func member(object json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		var members map[string]json.RawMessage
		if json.Unmarshal(object, &members) != nil {
			return nil
		}
		object = members[name]
	}
	return object
}

// text is the string behind a path, "" if there is none.
func text(object json.RawMessage, path ...string) string {
	var s string
	_ = json.Unmarshal(member(object, path...), &s)
	return s
}
