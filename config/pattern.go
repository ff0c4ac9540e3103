package config

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled by its first use. A start uses few
// of them, and to compile all took a seventh of it.
func pattern(form string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(form) })
}
