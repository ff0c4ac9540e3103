package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
)

// measureInProcess runs the benchmarks of the packages: a call through the
// proxy is parsed and given another id on its way there, and again on its way
// back; tasks/get of a running task is one look-up.
func measureInProcess(l *lab) {
	for _, size := range []string{"200", "4096", "1048576"} {
		took := l.goBenchmark("./proxy/wire", "^Benchmark(Parse|RewriteID)$/^id-first$/^"+size+"$")
		total := 0.0
		for _, ns := range took {
			total += ns / 1e9
		}
		g := goal{}
		if size != "1048576" {
			g = atMost(total*1e6, 1, " µs")
		}
		l.add(size+" B, parsed and given another id", seconds(total), "", "", g)
	}
	for _, ns := range l.goBenchmark("./taskstate", "^BenchmarkGetRunning$") {
		l.add("look-up of a running task", seconds(ns/1e9), "", "", atMost(ns/1e3, 5, " µs"))
	}
}

var benchmarkLine = regexp.MustCompile(`(?m)^(Benchmark\S+)\s+\d+\s+([\d.]+) ns/op`)

// goBenchmark returns nanoseconds by the name of the benchmark, the least of
// several runs: whatever else the machine does only adds to them.
func (l *lab) goBenchmark(pkg, pattern string) map[string]float64 {
	length, count := "200ms", "10"
	if l.quick {
		length, count = "1x", "1"
	}
	cmd := exec.Command("go", "test", "-run", "^$", "-bench", pattern, "-benchtime", length, "-count", count, pkg)
	cmd.Dir = l.module
	out, err := cmd.CombinedOutput()
	if err != nil {
		check(fmt.Errorf("go test -bench: %w\n%s", err, out))
	}
	took := map[string]float64{}
	for _, found := range benchmarkLine.FindAllSubmatch(out, -1) {
		name, ns := string(found[1]), must(strconv.ParseFloat(string(found[2]), 64))
		if least, ran := took[name]; !ran || ns < least {
			took[name] = ns
		}
	}
	return took
}
