package main

import (
	"os"
	"strings"
	"testing"
)

// Every row is run with sizes that mean nothing: what it prints is looked at, and
// no figure is. The peers from npm are left out.
func TestEveryRowRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes half a minute, and races in the programs that measure harm nobody")
	}
	tools, err := buildTools()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(tools.dir) })
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			lines, err := r.run(tools, true)
			if err != nil {
				t.Fatal(err)
			}
			checkLines(t, r.name, lines)
		})
	}
}

// fewest lines that a row has even so; a row with a target for each size has more.
var fewest = map[string]int{"trip": 12, "get": 3, "start": 12, "running": 8, "idle": 4, "web": 3, "remote": 3, "sdk": 3, "big": 3, "inprocess": 4}

func checkLines(t *testing.T, row string, lines []line) {
	if want := max(fewest[row], 3); len(lines) < want {
		t.Errorf("%d lines, expected at least %d", len(lines), want)
	}
	for _, l := range lines {
		if l.row != row || l.size == "" || l.ours == "" || strings.Count(l.String(), "|") != 8 {
			t.Errorf("not a line of the table: %s", l)
		}
		if strings.Contains(l.ours, "NaN") || strings.Contains(l.ratio, "NaN") || strings.Contains(l.ratio, "Inf") {
			t.Errorf("a figure that is none: %s", l)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, test := range []struct {
		of   []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(test.of); got != test.want {
			t.Errorf("median of %v is %v, expected %v", test.of, got, test.want)
		}
	}
}

// A round that is slow for both must not count for either.
func TestRatioIsTheRounds(t *testing.T) {
	r := results{"a": {{value: 1}, {value: 20}, {value: 3}}, "b": {{value: 2}, {value: 40}, {value: 1}}}
	if got := r.ratio("a", "b"); got != 0.5 {
		t.Errorf("ratio %v, expected 0.5", got)
	}
}

func TestWaysTakeTurns(t *testing.T) {
	var order strings.Builder
	round := func(name string) func() sample {
		return func() sample { order.WriteString(name); return sample{} }
	}
	r := compare(2, way{"a", round("a")}, way{"b", round("b")})
	if got := order.String(); got != "ab"+"ab"+"ba" {
		t.Errorf("the order was %s", got)
	}
	if len(r["a"]) != 2 || len(r["b"]) != 2 {
		t.Errorf("%d and %d rounds count, expected 2", len(r["a"]), len(r["b"]))
	}
}
