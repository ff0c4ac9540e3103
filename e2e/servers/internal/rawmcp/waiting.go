package rawmcp

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// gates are doors with a name, shut until release opens them for good.
type gates struct {
	mu   sync.Mutex
	open map[string]chan struct{}
}

func (g *gates) door(name string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.open[name] == nil {
		g.open[name] = make(chan struct{})
	}
	return g.open[name]
}

func (g *gates) release(name string) {
	door := g.door(name)
	g.mu.Lock()
	defer g.mu.Unlock()
	select {
	case <-door:
	default:
		close(door)
	}
}

// pass waits for the door that the argument names, if it names one, and says
// whether the call goes on. A door that is a path opens with that file.
func (c *call) pass(argument string) bool {
	name := text(member(c.args, argument))
	if name == "" {
		return true
	}
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-c.s.gates.door(name):
			return true
		case <-c.ctx.Done():
			c.cancelled()
			return false
		case <-ticker.C:
			if _, err := os.Stat(name); err == nil && filepath.IsAbs(name) {
				return true
			}
		}
	}
}

// gate waits until its door {gate} was opened by release, or {file} exists.
// The progress listed in {say} is sent before it waits, that in {late} after
// the answer, when it should interest nobody any more.
func gate(c *call) {
	c.progressAll("say")
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	door := c.s.gates.door(text(member(c.args, "gate")))
	for file := text(member(c.args, "file")); ; {
		select {
		case <-door:
			c.respond(textResult("gate open"))
			c.progressAll("late")
			return
		case <-c.ctx.Done():
			c.cancelled()
			return
		case <-ticker.C:
			if _, err := os.Stat(file); file != "" && err == nil {
				c.s.gates.release(text(member(c.args, "gate")))
			}
		}
	}
}

// release opens the door {gate} once it has answered: what the other call says
// then comes behind the answer.
func release(c *call) {
	c.respond(textResult("released"))
	c.s.gates.release(text(member(c.args, "gate")))
}

// slow takes {seconds} and tells its progress in ten steps.
func slow(c *call) {
	seconds := c.number("seconds", 1)
	ticker := time.NewTicker(max(time.Millisecond, time.Duration(seconds*float64(time.Second)/10)))
	defer ticker.Stop()
	for step := range 10 {
		select {
		case <-ticker.C:
			c.progress(json.RawMessage(fmt.Sprintf(`{"progress":%d,"total":10,"message":"step %d"}`, step+1, step+1)))
		case <-c.ctx.Done():
			c.cancelled()
			return
		}
	}
	c.respond(textResult(fmt.Sprintf("done after %gs", seconds)))
}
