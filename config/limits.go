package config

import (
	"fmt"
	"strconv"
	"time"
)

// counts says how many of something there may be.
var counts = map[string]struct{ least, most, example int }{
	"connections": {1, 65536, 1024},
	"sessions":    {1, 4096, 64},

	"running":           {0, 1 << 20, 64},
	"running_per_owner": {0, 1 << 20, 16},
	"queued":            {1, 1 << 20, 256},
	"concurrency":       {0, 1 << 20, 1},
	"stored":            {0, 1 << 30, 10000},
	"questions":         {1, 1 << 14, 1000},
	"listeners":         {1, 1 << 20, 4096},
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
	keys := []string{"running", "running_per_owner", "queued", "when_full", "stored", "store_bytes", "result_bytes", "large_results", "questions", "listeners", "message_bytes", "header_bytes", "connections", "sessions", "session_idle", "header_timeout"}
	return r.group("{message_bytes: 32MiB}", keys, fields{
		"running":           r.count("running", &c.Running),
		"running_per_owner": r.count("running_per_owner", &c.RunningPerOwner),
		"queued":            r.count("queued", &c.Queued),
		"when_full":         text(r, &c.WhenFull, "queue or reject", oneOf("value", "queue", "reject")),

		"stored":        r.count("stored", &c.Stored),
		"store_bytes":   size("store_bytes", &c.StoreBytes),
		"result_bytes":  size("result_bytes", &c.ResultBytes),
		"large_results": text(r, &c.LargeResults, "spill, truncate or reject", oneOf("value", "spill", "truncate", "reject")),
		"questions":     r.count("questions", &c.Questions),
		"listeners":     r.count("listeners", &c.Listeners),

		"message_bytes":  size("message_bytes", &c.MessageBytes),
		"header_bytes":   size("header_bytes", &c.Listen.HeaderBytes),
		"connections":    r.count("connections", &c.Listen.Connections),
		"sessions":       r.count("sessions", &c.Listen.Sessions),
		"session_idle":   wait("session_idle", &c.Listen.SessionIdle),
		"header_timeout": wait("header_timeout", &c.Listen.HeaderTimeout),
	})
}

func (r *reader) count(key string, dst *int) func(value) {
	return text(r, dst, fmt.Sprintf("a number such as %d", counts[key].example), func(s string) (int, error) { return parseCount(key, s) })
}

func (r *reader) optionalCount(key string, dst **int) func(value) {
	parse := func(s string) (int, error) { return parseCount(key, s) }
	return text(r, dst, fmt.Sprintf("a number such as %d", counts[key].example), pointer(parse))
}

func parseCount(key, s string) (int, error) {
	c := counts[key]
	n, err := strconv.Atoi(s)
	if err != nil || n < c.least || n > c.most {
		return 0, fmt.Errorf("%s is no number from %d to %d; write one, such as %d", quoted(s), c.least, c.most, c.example)
	}
	return n, nil
}
