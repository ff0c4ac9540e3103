package main

import (
	"bytes"
	"fmt"
	"time"
)

// Modes of the proxy in which every call becomes a task at once: before it is
// sent, or right behind that.
const (
	always = "task: always\n"
	atOnce = "after: 0s\n"
)

const hold = `"hold":true`

// tasks is a host of the stateless era and a proxy that makes tasks.
func (l *lab) tasks(mode string) *peer {
	return l.start(l.through(l.config(mode), l.built("answer")))
}

// create makes n running tasks and returns their ids.
func (p *peer) create(n int) []string {
	var ids []string
	var line []byte
	p.busy = true
	s := call(300, meta, hold)
	const flight = 64
	for i := range n + flight {
		if i >= flight {
			ids = append(ids, taskID(p.result()))
		}
		if i < n {
			line = s.line(line, i)
			p.send(line)
		}
		if i+1 == n && n < flight {
			break
		}
	}
	for len(ids) < n {
		ids = append(ids, taskID(p.result()))
	}
	return ids
}

// lives is a number of calls that become tasks, from the call to the result.
type lives struct {
	*peer
	call   shape
	polls  int // of each task, at least
	ids    []string
	begun  int
	ended  int
	asked  int   // requests that are unanswered
	later  []int // lives whose tasks were asked for as often as it takes, and still run
	buffer []byte
}

// pollEvery is how often such a task is asked for again: hosts do not ask as fast
// as they can.
const pollEvery = 2 * time.Millisecond

// steps is how many requests of one life are told apart by their ids.
const steps = 8

// run has so many lives at once until all n have ended.
func (v *lives) run(n, width int) {
	v.ids, v.begun, v.ended, v.asked = make([]string, n), 0, 0, 0
	for range min(width, n) {
		v.begin()
	}
	for v.ended < n {
		if v.asked == 0 {
			time.Sleep(pollEvery)
			v.again()
		}
		v.asked--
		v.next(v.result())
	}
}

func (v *lives) begin() {
	if v.begun < len(v.ids) {
		v.buffer = v.call.line(v.buffer, v.begun*steps)
		v.ask()
		v.begun++
	}
}

func (v *lives) ask() {
	v.send(v.buffer)
	v.asked++
}

func (v *lives) again() {
	for _, i := range v.later {
		v.poll(i, steps-1)
	}
	v.later = v.later[:0]
}

func (v *lives) poll(i, step int) {
	v.buffer = getTask(v.ids[i]).line(v.buffer, i*steps+step)
	v.ask()
}

func (v *lives) next(line []byte) {
	id := idOf(line)
	i, step := id/steps, id%steps
	done := bytes.Contains(line, []byte(`"status":"completed"`))
	switch {
	case step == 0:
		v.ids[i] = taskID(line)
		v.poll(i, 1)
	case !done && !bytes.Contains(line, []byte(`"status":"working"`)):
		v.fail(fmt.Sprintf("has a task that ended otherwise: %s", line), nil)
	case step < v.polls:
		v.poll(i, step+1)
	case done:
		v.ended++
		v.begin()
	default:
		v.later = append(v.later, i)
	}
}
