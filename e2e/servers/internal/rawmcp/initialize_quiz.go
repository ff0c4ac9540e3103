package rawmcp

import (
	"strconv"
	"strings"
)

// asked is a request of ours to the client.
type asked struct {
	key, id string
	reply   <-chan message
}

// quiz sends requests. With {late} it answers first, and asks behind the door
// {gate}; with {unheard} it does not wait for the replies; with {withdraw} it
// waits for that door instead, and takes its questions back.
func (e *initializeEra) quiz(c *call, rounds [][]question) {
	if member(c.args, "late") != nil {
		c.finish(nil)
		if c.pass("gate") {
			e.put(c, rounds[0])
		}
		return
	}
	var replies []string
	for _, round := range rounds {
		open := e.put(c, round)
		reply, ok := e.collect(c, open)
		if !ok {
			return
		}
		replies = append(replies, reply)
	}
	if c.pass("gate") {
		c.finish(replies)
	}
}

// put asks the questions of one round.
func (e *initializeEra) put(c *call, round []question) []asked {
	var open []asked
	for _, q := range round {
		id, reply := c.s.ask(q.Method, q.paramsFor(c))
		open = append(open, asked{q.Key, id, reply})
	}
	return open
}

// collect returns an object with the reply to each of them.
func (e *initializeEra) collect(c *call, open []asked) (replies string, ok bool) {
	switch {
	case member(c.args, "unheard") != nil:
		return "{}", true
	case member(c.args, "withdraw") != nil:
		return "{}", e.withdraw(c, open)
	}
	var all []string
	for _, a := range open {
		select {
		case m := <-a.reply:
			all = append(all, strconv.Quote(a.key)+":"+outcome(m))
		case <-c.ctx.Done():
			c.cancelled()
			return "", false
		}
	}
	return "{" + strings.Join(all, ",") + "}", true
}

func outcome(m message) string {
	if m.Error != nil {
		return `{"error":` + string(m.Error) + `}`
	}
	return `{"result":` + string(m.Result) + `}`
}

func (e *initializeEra) withdraw(c *call, open []asked) bool {
	if !c.pass("withdraw") {
		return false
	}
	for _, a := range open {
		c.s.notify("notifications/cancelled", `{"requestId":`+a.id+`,"reason":"not needed any more"}`)
	}
	return true
}
