package rawmcp

import "strings"

// quiz asks {rounds}, one after the other, and answers with the replies. A
// round is a list of questions that are asked at once. Before the first it
// waits for the door {before}, behind the last for the door {gate}.
func quiz(c *call) {
	rounds, err := c.rounds()
	if err != nil {
		c.fail(invalidParams, err.Error(), "")
		return
	}
	switch {
	case !c.pass("before"):
	case c.task != nil:
		interview(c, rounds)
	default:
		c.s.era.quiz(c, rounds)
	}
}

// finish answers with the replies of all rounds, in the form that the method
// wants.
func (c *call) finish(rounds []string) {
	replies := `{"rounds":[` + strings.Join(rounds, ",") + `]}`
	switch c.tool {
	case "prompt":
		c.respond(`"messages":[{"role":"user","content":{"type":"text","text":` + quote(replies) + `}}]`)
	case "resource":
		c.s.reply(c.id, c.s.era.result(`"contents":[{"uri":"mem://ask","text":`+quote(replies)+`}]`, true))
	default:
		c.respond(textResult("quizzed") + `,"structuredContent":` + replies)
	}
}

// asks starts a quiz where a prompt or a resource is asked for that needs one.
func (s *server) asks(m message) bool {
	switch {
	case m.Method == "prompts/get" && text(member(m.Params, "name")) == "ask":
		s.call(m, "prompt", quiz)
	case m.Method == "resources/read" && text(member(m.Params, "uri")) == "mem://ask":
		s.call(m, "resource", quiz)
	default:
		return false
	}
	return true
}
