package rawmcp

import (
	"encoding/json"
	"strconv"
	"strings"
)

// stateHead is where every request state of a quiz begins; its escapes need not
// be, and a client that does not copy them has not copied the state.
const stateHead = `\u00e9\/`

// quiz asks the first round that was not answered. Which ones were is in the
// request state, as this server keeps nothing; with {stateless} there is no
// state, and one round at most.
func (e *statelessEra) quiz(c *call, rounds [][]question) {
	replies, missing := e.heard(c, rounds)
	switch {
	case missing != nil:
		e.inputRequired(c, missing, replies)
	case c.pass("gate"):
		c.finish(replies)
	}
}

// heard returns the replies of the rounds so far and what is to be asked next,
// which is nil if nothing is.
func (e *statelessEra) heard(c *call, rounds [][]question) (replies []string, missing []question) {
	state, reply := member(c.params, "requestState"), member(c.params, "inputResponses")
	for _, done := range told(text(state)) {
		replies = append(replies, string(done))
	}
	if len(replies) >= len(rounds) {
		return replies, nil
	}
	missing = unanswered(rounds[len(replies)], reply)
	if len(missing) > 0 || state == nil && reply == nil {
		return replies, missing
	}
	if reply == nil {
		reply = []byte("{}")
	}
	if replies = append(replies, string(reply)); len(replies) < len(rounds) {
		return replies, rounds[len(replies)]
	}
	return replies, nil
}

func told(state string) (replies []json.RawMessage) {
	_, list, _ := strings.Cut(state, "/")
	_ = json.Unmarshal([]byte(list), &replies)
	return replies
}

// unanswered are those of the round that have no reply; it is never nil.
func unanswered(round []question, replies json.RawMessage) []question {
	missing := []question{}
	for _, q := range round {
		if member(replies, q.Key) == nil {
			missing = append(missing, q)
		}
	}
	return missing
}

func (e *statelessEra) inputRequired(c *call, round []question, replies []string) {
	members := ""
	if len(round) > 0 {
		var all []string
		for _, q := range round {
			all = append(all, strconv.Quote(q.Key)+`:{"method":"`+q.Method+`","params":`+q.paramsFor(c)+`}`)
		}
		members = `,"inputRequests":{` + strings.Join(all, ",") + `}`
	}
	if member(c.args, "stateless") == nil {
		state := quote("[" + strings.Join(replies, ",") + "]")
		members += `,"requestState":"` + stateHead + state[1:]
	}
	c.s.reply(c.id, `{"resultType":"input_required"`+members+`}`)
}
