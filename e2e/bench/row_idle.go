package main

import (
	"io/fs"
	"path/filepath"
)

// measureIdle looks at a proxy that has answered one call, as one process and
// as front and runner.
func measureIdle(l *lab) {
	one := call(200, "", "").line(nil, 0)
	argv := l.through(nil, l.built("answer"))
	p := l.start(argv).initialize()
	p.ask(one)
	l.settle()
	resident, disk := must(memory(p.pid(), "VmRSS")), float64(diskUseOf(argv[stateDirAt]))
	l.add("one process", bytesText(resident)+" resident", "", "", atMost(resident/(1<<20), 25, " MB"))
	l.add("one process", bytesText(disk)+" on disk", "", "", atMost(disk/(1<<20), 50, " MB"))
	l.idleRunner(one)
}

func (l *lab) idleRunner(one []byte) {
	p := l.front(l.built("answer"))
	p.ask(one)
	l.settle()
	front, runner := must(memory(p.pids[0], "VmRSS")), must(memory(p.pids[1], "VmRSS"))
	l.add("front", bytesText(front)+" resident", "", "", goal{})
	l.add("runner", bytesText(runner)+" resident", "", "", atMost(runner/(1<<20), 25, " MB"))
}

func diskUseOf(dir string) (sum int64) {
	check(filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			sum += diskUse(info)
		}
		return err
	}))
	return sum
}
