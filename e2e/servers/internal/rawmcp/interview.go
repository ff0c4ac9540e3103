package rawmcp

import (
	"strconv"
	"strings"
)

// asked is a question that was put, known to the client by its id.
type asked struct {
	key, id string
	reply   <-chan message
}

// interview puts questions and waits for their replies. With {unheard} it does
// not wait; with {withdraw} it waits for that door instead, and takes its
// questions back.
func interview(c *call, rounds [][]question) {
	var replies []string
	for _, round := range rounds {
		reply, ok := collect(c, putAll(c, round))
		if !ok {
			return
		}
		replies = append(replies, reply)
	}
	if c.pass("gate") {
		c.finish(replies)
	}
}

// putAll asks the questions of one round.
func putAll(c *call, round []question) []asked {
	var open []asked
	for _, q := range round {
		a := c.s.era.put(c, q)
		a.key = q.Key
		open = append(open, a)
	}
	return open
}

// collect returns an object with the reply to each of them.
func collect(c *call, open []asked) (replies string, ok bool) {
	switch {
	case member(c.args, "unheard") != nil:
		return "{}", true
	case member(c.args, "withdraw") != nil:
		return "{}", takeBack(c, open)
	}
	var all []string
	for _, a := range open {
		select {
		case m := <-a.reply:
			all = append(all, strconv.Quote(a.key)+":"+outcome(m))
			c.heard()
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

func takeBack(c *call, open []asked) bool {
	if !c.pass("withdraw") {
		return false
	}
	for _, a := range open {
		c.s.era.withdraw(c, a)
		c.heard()
	}
	return true
}
