package config

import (
	"fmt"
	"strconv"
	"time"
)

// counts says how many of something there may be.
var counts = map[string]struct{ most, example int }{
	"connections": {65536, 1024},
	"sessions":    {4096, 64},
}

func (r *reader) limits(c *Config) func(value) {
	size := func(key string, dst *int64) func(value) {
		parse := func(s string) (int64, error) { return ParseSize(key, s) }
		return text(r, dst, "a size such as "+extents[key].example, parse)
	}
	wait := func(key string, dst *time.Duration) func(value) {
		parse := func(s string) (time.Duration, error) { return ParseDuration(key, s) }
		return text(r, dst, "a duration such as "+spans[key].example, parse)
	}
	keys := []string{"message_bytes", "header_bytes", "connections", "sessions", "session_idle", "header_timeout"}
	return r.group("{message_bytes: 32MiB}", keys, fields{
		"message_bytes":  size("message_bytes", &c.MessageBytes),
		"header_bytes":   size("header_bytes", &c.Listen.HeaderBytes),
		"connections":    r.count("connections", &c.Listen.Connections),
		"sessions":       r.count("sessions", &c.Listen.Sessions),
		"session_idle":   wait("session_idle", &c.Listen.SessionIdle),
		"header_timeout": wait("header_timeout", &c.Listen.HeaderTimeout),
	})
}

func (r *reader) count(key string, dst *int) func(value) {
	c := counts[key]
	return text(r, dst, fmt.Sprintf("a number such as %d", c.example), func(s string) (int, error) {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 || n > c.most {
			return 0, fmt.Errorf("%s is no number from 1 to %d; write one, such as %d", quoted(s), c.most, c.example)
		}
		return n, nil
	})
}
