package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const day = 24 * time.Hour

// span is what a duration may be. Longer than most is taken for a slip.
type span struct {
	least, most time.Duration
	example     string
}

var spans = map[string]span{
	"after":         {0, day, "5s"},
	"ttl":           {time.Millisecond, 3650 * day, "24h"},
	"poll_interval": {time.Millisecond, time.Hour, "1s"},
	"max_run":       {0, 365 * day, "24h"},
	"stall":         {0, 365 * day, "10m"},
	"input_timeout": {time.Millisecond, 365 * day, "1h"},

	"fallback_after": {0, day, "50s"},
	"fallback_wait":  {time.Second, day, "50s"},
	"keep_alive":     {0, time.Hour, "15s"}, // or off

	"session_idle":   {time.Second, 7 * day, "10m"},
	"header_timeout": {100 * time.Millisecond, 10 * time.Minute, "10s"},
}

// ParseDuration reads the value of one of the settings after, ttl,
// poll_interval, max_run, stall, input_timeout, fallback_after, fallback_wait,
// keep_alive, session_idle and header_timeout (the key gives the bounds; others
// panic). A duration is a number and a unit, or several: 500ms, 5s, 1.5h, 1h30m, 7d.
// Units are ms, s, m, h and d, which is 24 hours; the sum is whole
// milliseconds. The error says what is wrong and what to write instead, but
// not which setting or flag it was.
func ParseDuration(key, text string) (time.Duration, error) {
	s, ok := spans[key]
	if !ok {
		panic("config: no duration is called " + key)
	}
	d, err := readDuration(text, s.example)
	switch {
	case key == "input_timeout" && d == 0 && (err == nil || text == "0"):
		return 0, fmt.Errorf("%s is refused, as a question has to end some time; write how long people may take, such as %s", quoted(text), s.example)
	case err != nil:
		return 0, err
	case d > s.most:
		return 0, fmt.Errorf("%s is too long; write %s or less", quoted(text), short(s.most))
	case d < s.least:
		return 0, fmt.Errorf("%s is too short; write %s or more, such as %s", quoted(text), short(s.least), s.example)
	}
	return d, nil
}

var (
	durationForm = pattern(`^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$`)
	durationPart = pattern(`(\d+(?:\.\d+)?)(ms|s|m|h|d)`)
	bareNumber   = pattern(`^\d+(?:\.\d+)?$`)
	looseForm    = pattern(`^(\d+(?:\.\d+)?)\s*(\pL+)$`)
)

func readDuration(text, example string) (time.Duration, error) {
	if !durationForm().MatchString(text) {
		return 0, notDuration(text, example)
	}
	sum := time.Duration(0)
	for _, p := range durationPart().FindAllStringSubmatch(text, -1) {
		d := part(p[1], p[2])
		if d >= math.MaxInt64-sum {
			return math.MaxInt64, nil
		}
		sum += d
	}
	if sum%time.Millisecond != 0 {
		return 0, fmt.Errorf("%s is not a whole number of milliseconds; write %s",
			quoted(text), short(sum.Truncate(time.Millisecond)+time.Millisecond))
	}
	return sum, nil
}

// part saturates: what is too large to count is too large for every setting.
func part(number, unit string) time.Duration {
	times := time.Duration(1)
	if unit == "d" {
		unit, times = "h", 24
	}
	d, err := time.ParseDuration(number + unit)
	if err != nil || d > math.MaxInt64/times {
		return math.MaxInt64
	}
	return d * times
}

func notDuration(text, example string) error {
	loose := looseForm().FindStringSubmatch(text)
	switch {
	case bareNumber().MatchString(text) && len(text) < 10:
		return fmt.Errorf("%s has no unit; write %ss", text, text)
	case strings.HasPrefix(text, "-"):
		return fmt.Errorf("%s is negative; write a duration such as %s", quoted(text), example)
	case loose != nil:
		if unit, ok := meant[strings.ToLower(loose[2])]; ok {
			example = loose[1] + unit
		}
		return fmt.Errorf("%s has an unknown unit; write %s (units: ms, s, m, h, d)", quoted(text), example)
	}
	return fmt.Errorf("%s is not a duration; write a number and a unit, such as %s (units: ms, s, m, h, d)", quoted(text), example)
}

// meant maps what people write to the unit that they mean.
var meant = map[string]string{
	"ms": "ms", "msec": "ms", "msecs": "ms", "millis": "ms", "millisecond": "ms", "milliseconds": "ms",
	"s": "s", "sec": "s", "secs": "s", "second": "s", "seconds": "s",
	"m": "m", "min": "m", "mins": "m", "minute": "m", "minutes": "m",
	"h": "h", "hr": "h", "hrs": "h", "hour": "h", "hours": "h",
	"d": "d", "day": "d", "days": "d",
}

// short writes a duration as a person would: 24h and 365d, not 24h0m0s.
func short(d time.Duration) string {
	if d > day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
