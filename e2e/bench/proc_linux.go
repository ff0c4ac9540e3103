package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// processTime is the processor time that a process has used up to now, by the
// clock that clock_getcpuclockid(3) names: /proc counts in hundredths of a
// second.
func processTime(pid int) (time.Duration, error) {
	const scheduler = 2 // CPUCLOCK_SCHED
	var t unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|scheduler), &t)
	return time.Duration(t.Nano()), err
}

// memory reads a field of /proc/PID/status, VmRSS or VmHWM, in bytes.
func memory(pid int, field string) (float64, error) {
	return procField(pid, "status", field, 1<<10)
}

// traffic reads a field of /proc/PID/io: rchar is what it has read by calls,
// write_bytes what it has caused to be written to disk.
func traffic(pid int, field string) (float64, error) { return procField(pid, "io", field, 1) }

func procField(pid int, file, field string, unit float64) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut("\n"+string(text), "\n"+field+":")
	words := strings.Fields(rest)
	if !found || len(words) == 0 {
		return 0, fmt.Errorf("/proc/%d/%s has no %s", pid, file, field)
	}
	n, err := strconv.ParseFloat(words[0], 64)
	return n * unit, err
}

// killChildren kills what a process has started itself.
func killChildren(pid int) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // each with those that it has started
	for _, thread := range threads {
		text, _ := os.ReadFile(thread)
		for _, child := range strings.Fields(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL)
			}
		}
	}
}

// diskUse counts the blocks that a file really takes: some are sparse.
func diskUse(info os.FileInfo) int64 { return info.Sys().(*syscall.Stat_t).Blocks * 512 }
