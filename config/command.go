package config

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
)

const wantCommand = "write the program and its arguments, such as [npx, -y, some-server]"

// command takes numbers and the like as they are written: 8080 and 1.0 are
// arguments, whatever YAML calls them.
func (r *reader) command(v value) []string {
	list, ok := v.node.(*ast.SequenceNode)
	if !ok {
		r.mistake(v.at, "command: a list belongs here; %s", wantCommand)
		return nil
	}
	args := make([]string, 0, len(list.Values))
	for _, n := range list.Values {
		args = append(args, r.argument(n))
	}
	if len(list.Values) == 0 || args[0] == "" {
		r.mistake(v.at, "command: the program is missing; %s, or remove the line", wantCommand)
	}
	return args
}

func (r *reader) argument(n ast.Node) string {
	arg, ok := plain(n)
	if !ok {
		r.mistake(at(n.GetToken()), "command: an argument is text; put it in quotes")
	} else if strings.ContainsRune(arg, 0) {
		r.mistake(at(n.GetToken()), `command: no system passes on an argument with a zero byte; remove the \0`)
	}
	return arg
}
