package config

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

const (
	leastMessage = 1 << 10
	mostMessage  = 1 << 30
)

var (
	sizeForm  = regexp.MustCompile(`^(\d+)(B|KiB|MiB|GiB)$`)
	sizeUnits = map[string]int64{"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
	sizeMeant = map[string]string{
		"b": "B", "bytes": "B",
		"k": "KiB", "kb": "KiB", "kib": "KiB",
		"m": "MiB", "mb": "MiB", "mib": "MiB",
		"g": "GiB", "gb": "GiB", "gib": "GiB",
	}
)

// ParseSize reads a size in bytes: a whole number and one of the units B, KiB,
// MiB and GiB, between 1KiB and 1GiB. The error says what is wrong and what to
// write instead, but not which setting or flag it was.
func ParseSize(text string) (int64, error) {
	p := sizeForm.FindStringSubmatch(text)
	if p == nil {
		return 0, notSize(text)
	}
	n, err := strconv.ParseInt(p[1], 10, 64)
	if err != nil || n > math.MaxInt64/sizeUnits[p[2]] {
		n = math.MaxInt64 / sizeUnits[p[2]]
	}
	switch n *= sizeUnits[p[2]]; {
	case n > mostMessage:
		return 0, fmt.Errorf("%s is too large; write 1GiB or less", quoted(text))
	case n < leastMessage:
		return 0, fmt.Errorf("%s is too small; write 1KiB or more, such as 32MiB", quoted(text))
	}
	return n, nil
}

func notSize(text string) error {
	loose := looseForm.FindStringSubmatch(text)
	switch {
	case bareNumber.MatchString(text) && len(text) < 20:
		return fmt.Errorf("%s has no unit; write a size such as 32MiB (units: B, KiB, MiB, GiB)", text)
	case strings.HasPrefix(text, "-"):
		return fmt.Errorf("%s is negative; write a size such as 32MiB", quoted(text))
	case loose != nil && !strings.Contains(loose[1], "."):
		example := "32MiB"
		if unit, ok := sizeMeant[strings.ToLower(loose[2])]; ok {
			example = loose[1] + unit
		}
		return fmt.Errorf("%s has an unknown unit; write %s (units: B, KiB, MiB, GiB)", quoted(text), example)
	}
	return fmt.Errorf("%s is not a size; write a whole number and a unit, such as 32MiB (units: B, KiB, MiB, GiB)", quoted(text))
}
