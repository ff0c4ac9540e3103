package config

import (
	"fmt"
	"path"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// document is a file as far as it was read: policies apart, because what a
// tool inherits is known only at the end.
type document struct {
	Config
	top   settings
	tools []toolSettings
}

type toolSettings struct {
	pattern string
	settings
}

// merged is the configuration that the document and the options make.
func (d *document) merged(opts *Options) Config {
	c := d.Config
	c.Policy = d.top.over(c.Policy)
	if opts != nil && opts.After != nil {
		c.Policy.Task, c.Policy.After = After, *opts.After
	}
	if opts != nil && opts.FallbackAfter != nil {
		c.Policy.FallbackAfter = *opts.FallbackAfter
	}
	for _, t := range d.tools {
		c.Tools = append(c.Tools, ToolPolicy{Pattern: t.pattern, Policy: t.over(c.Policy)})
	}
	return c
}

var documentKeys = append([]string{
	"command", "url", "headers", "forward_headers", "forward_authorization",
	"listen", "endpoint", "tls", "auth", "allow_unauthenticated", "origins", "hosts",
	"state_dir", "node", "upstream_era", "detach", "fallback", "older_tasks", "tools", "limits", "log_level", "log_payloads",
}, policyKeys...)

func (r *reader) document(root *ast.MappingNode, doc *document) {
	known := r.policyFields(&doc.top)
	known["command"] = func(v value) { doc.Command = r.command(v) }
	known["state_dir"] = text(r, &doc.StateDir, `a directory, in quotes if it is "~"`, r.stateDir)
	known["node"] = text(r, &doc.Node, "a name such as a", parseNode)
	known["detach"] = text(r, &doc.Detach, "auto or never", ParseDetach)
	known["upstream_era"] = text(r, &doc.UpstreamEra, "auto, initialize or stateless",
		oneOf("era", "auto", "initialize", "stateless"))
	known["fallback"] = r.fallback(&doc.Fallback)
	known["older_tasks"] = r.olderTasks(&doc.OlderTasks)
	known["tools"] = func(v value) { doc.tools = r.tools(v) }
	known["limits"] = r.limits(&doc.Config)
	known["log_level"] = text(r, &doc.LogLevel, "a level such as info", ParseLogLevel)
	known["log_payloads"] = text(r, &doc.LogPayloads, "true or false", ParseBool)
	r.serverFields(known, &doc.Config)
	r.listenFields(known, &doc.Listen)
	r.mapping(root, "", documentKeys, known)
}

var nodeForm = pattern(`^[a-z0-9_]{1,32}$`)

// parseNode allows what tells a node from the id behind it.
func parseNode(s string) (string, error) {
	if !nodeForm().MatchString(s) {
		return "", fmt.Errorf("%s is not a node's name; write up to 32 of a-z, 0-9 and _", quoted(s))
	}
	return s, nil
}

// group reads a mapping inside the file.
func (r *reader) group(want string, keys []string, known fields) func(value) {
	return func(v value) {
		m, ok := v.node.(*ast.MappingNode)
		if !ok {
			r.mistake(v.at, "%s: settings belong here; write %s", v.path, want)
			return
		}
		r.mapping(m, v.path+".", keys, known)
	}
}

func (r *reader) tools(v value) []toolSettings {
	m, ok := v.node.(*ast.MappingNode)
	if !ok {
		r.mistake(v.at, "tools: names with their policies belong here; write a line such as greet: {task: never} for each")
		return nil
	}
	var tools []toolSettings
	r.entries(m, "tools.", func(name string, v value, key place) {
		if problem := badPattern(name); problem != "" {
			r.mistake(key, "%s", problem)
			return
		}
		t := toolSettings{pattern: name}
		r.group("{task: always}", policyKeys, r.policyFields(&t.settings))(v)
		tools = append(tools, t)
	})
	return tools
}

func badPattern(name string) string {
	if name == "" {
		return "the name of the tool is empty; write a name or a glob such as build_*"
	}
	if _, err := path.Match(name, ""); err != nil {
		return fmt.Sprintf(`bad glob %s; write *, ? or a closed [a-z], and \ before one of these that is meant as itself`, quoted(name))
	}
	return ""
}

// ParseLogLevel reads trace, debug, info, warn or error. The error does not
// say which setting or flag it was.
func ParseLogLevel(s string) (string, error) {
	return oneOf("level", "trace", "debug", "info", "warn", "error")(s)
}

// ParseDetach reads auto or never. The error does not say which setting or flag
// it was.
func ParseDetach(s string) (string, error) { return oneOf("value", "auto", "never")(s) }

// ParseBool reads true or false. The error does not say which setting or flag
// it was.
func ParseBool(s string) (bool, error) {
	if s != "true" && s != "false" {
		return false, fmt.Errorf("%s is neither true nor false; write true or false", quoted(s))
	}
	return s == "true", nil
}

// stateDir and path read paths, which start from the directory of the file.
func (r *reader) stateDir(s string) (string, error) { return r.pathOf("directory", s) }
func (r *reader) path(s string) (string, error)     { return r.pathOf("file", s) }

func (r *reader) pathOf(what, s string) (string, error) {
	if strings.TrimSpace(s) == "" || strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("this is not a %s; write a path, or remove the line", what)
	}
	p, err := ExpandHome(s)
	if err != nil {
		return "", err
	}
	return fromFile(r.name, p), nil
}
