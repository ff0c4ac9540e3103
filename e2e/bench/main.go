// Bench measures the built proxy as a whole process, beside what it is compared
// with, on the machine it runs on:
//
//	go run ./e2e/bench            all rows
//	go run ./e2e/bench get start  some of them
//	go run ./e2e/bench -list      what there is
//
// It prints a table. What is compared runs at the same time and takes turns,
// round by round; a ratio is the median of the rounds' ratios, so that a machine
// that is busy with something else disturbs both alike. README.md says what each
// row means, and what was measured.
//
// MCP_TASKPROXY_E2E_BINARY names a proxy to measure instead of building one.
//
// Start reading at rows.go. lab.go starts and ends what a row needs, compare.go
// takes the turns, peer.go and site.go are the hosts.
package main

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"time"
)

func main() {
	list := flag.Bool("list", false, "print the names of the rows")
	quick := flag.Bool("quick", false, "tiny sizes: to see whether a row works")
	minutes := flag.Int("minutes", 20, "how long soak takes")
	flag.Parse()
	if *list {
		for _, r := range rows {
			fmt.Printf("%-10s %s\n", r.name, r.what)
		}
		return
	}
	chosen, err := choose(flag.Args())
	if err == nil {
		err = measure(chosen, *quick, time.Duration(*minutes)*time.Minute)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func choose(names []string) (chosen []row, err error) {
	for _, name := range names {
		i := slices.IndexFunc(rows, func(r row) bool { return r.name == name })
		if i < 0 {
			return nil, fmt.Errorf("no row is called %q; see -list", name)
		}
		chosen = append(chosen, rows[i])
	}
	if len(names) == 0 {
		chosen = slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return r.name == "soak" })
	}
	return chosen, nil
}

// measure goes on behind a row that failed.
func measure(chosen []row, quick bool, soak time.Duration) error {
	tools, err := buildTools()
	if err != nil {
		return err
	}
	defer os.RemoveAll(tools.dir)
	tools.soak = soak
	fmt.Println(tableHead)
	failed := 0
	for _, r := range chosen {
		lines, err := r.run(tools, quick)
		for _, line := range lines {
			fmt.Println(line)
		}
		if err != nil {
			failed++
			fmt.Fprintf(os.Stderr, "bench: %s: %v\n", r.name, err)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d rows failed", failed, len(chosen))
	}
	return nil
}
