package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// extent is what a size may be, in bytes.
type extent struct {
	least, most int64
	example     string
}

var extents = map[string]extent{
	"message_bytes": {1 << 10, 1 << 30, "32MiB"},
	"header_bytes":  {4 << 10, 1 << 20, "64KiB"},
	"result_bytes":  {1 << 10, 32 << 20, "16MiB"},
	"store_bytes":   {16 << 20, 1 << 50, "1GiB"},
}

var (
	sizeForm  = pattern(`^(\d+)(B|KiB|MiB|GiB)$`)
	sizeUnits = map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
	sizeMeant = map[string]string{
		"b": "B", "bytes": "B",
		"k": "KiB", "kb": "KiB", "kib": "KiB",
		"m": "MiB", "mb": "MiB", "mib": "MiB",
		"g": "GiB", "gb": "GiB", "gib": "GiB",
	}
)

// ParseSize reads the value of one of the settings message_bytes,
// header_bytes, result_bytes and store_bytes (the key gives the bounds; others panic): a whole number and one
// of the units B, KiB, MiB and GiB. The error says what is wrong and what to
// write instead, but not which setting or flag it was.
func ParseSize(key, text string) (int64, error) {
	e, ok := extents[key]
	if !ok {
		panic("config: no size is called " + key)
	}
	n, err := readSize(text, e.example)
	switch {
	case err != nil:
		return 0, err
	case n > e.most:
		return 0, fmt.Errorf("%s is too large; write %s or less", quoted(text), inUnits(e.most))
	case n < e.least:
		return 0, fmt.Errorf("%s is too small; write %s or more, such as %s", quoted(text), inUnits(e.least), e.example)
	}
	return n, nil
}

// readSize saturates: what is too large to count is too large for every setting.
func readSize(text, example string) (int64, error) {
	p := sizeForm().FindStringSubmatch(text)
	if p == nil {
		return 0, notSize(text, example)
	}
	n, err := strconv.ParseInt(p[1], 10, 64)
	if err != nil || n > math.MaxInt64/sizeUnits[p[2]] {
		n = math.MaxInt64 / sizeUnits[p[2]]
	}
	return n * sizeUnits[p[2]], nil
}

// inUnits writes a bound, which is a whole number of some unit.
func inUnits(n int64) string {
	for _, unit := range []string{"GiB", "MiB", "KiB"} {
		if n%sizeUnits[unit] == 0 {
			return strconv.FormatInt(n/sizeUnits[unit], 10) + unit
		}
	}
	return strconv.FormatInt(n, 10) + "B"
}

func notSize(text, example string) error {
	loose := looseForm().FindStringSubmatch(text)
	switch {
	case bareNumber().MatchString(text) && len(text) < 20:
		return fmt.Errorf("%s has no unit; write a size such as %s (units: B, KiB, MiB, GiB)", text, example)
	case strings.HasPrefix(text, "-"):
		return fmt.Errorf("%s is negative; write a size such as %s", quoted(text), example)
	case loose != nil && !strings.Contains(loose[1], "."):
		if unit, ok := sizeMeant[strings.ToLower(loose[2])]; ok {
			example = loose[1] + unit
		}
		return fmt.Errorf("%s has an unknown unit; write %s (units: B, KiB, MiB, GiB)", quoted(text), example)
	}
	return fmt.Errorf("%s is not a size; write a whole number and a unit, such as %s (units: B, KiB, MiB, GiB)", quoted(text), example)
}
