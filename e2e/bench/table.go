package main

import (
	"fmt"
	"time"
)

const tableHead = "| row | size | ours | beside | ratio | target | |\n|---|---|---|---|---|---|---|"

// line is one line of the table, which is Markdown. Ratio, target and verdict
// are empty for what there is no target for.
type line struct {
	row, size, ours, beside, ratio string
	goal                           goal
}

func (l line) String() string {
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s |", l.row, l.size, l.ours, l.beside, l.ratio, l.goal.text, l.goal.verdict())
}

// goal is a target and whether it was met.
type goal struct {
	text string
	met  bool
}

func atMost(value, limit float64, unit string) goal {
	return goal{fmt.Sprintf("≤ %g%s", limit, unit), value <= limit}
}

func atLeast(value, limit float64, unit string) goal {
	return goal{fmt.Sprintf("≥ %g%s", limit, unit), value >= limit}
}

func (g goal) verdict() string {
	switch {
	case g.text == "":
		return ""
	case g.met:
		return "met"
	}
	return "**missed**"
}

func times(ratio float64) string { return fmt.Sprintf("%.2f ×", ratio) }

// seconds writes a number of seconds for people.
func seconds(s float64) string {
	d := time.Duration(s * float64(time.Second))
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d >= 10*time.Microsecond:
		return d.Round(100 * time.Nanosecond).String()
	}
	return d.String()
}

func perSecond(rate float64) string {
	if rate >= 1000 {
		return fmt.Sprintf("%d,%03d/s", int(rate)/1000, int(rate)%1000)
	}
	return fmt.Sprintf("%.0f/s", rate)
}

func bytesText(n float64) string {
	switch {
	case n >= 10<<20:
		return fmt.Sprintf("%.0f MB", n/(1<<20))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", n/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", n/(1<<10))
	}
	return fmt.Sprintf("%.0f B", n)
}

func sizeText(n int) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
