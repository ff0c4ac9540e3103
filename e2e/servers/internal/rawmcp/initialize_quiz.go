package rawmcp

// quiz sends requests. With {late} it answers first, and asks behind the door
// {gate}; else it is an interview.
func (e *initializeEra) quiz(c *call, rounds [][]question) {
	if member(c.args, "late") == nil {
		interview(c, rounds)
		return
	}
	c.finish(nil)
	if c.pass("gate") {
		putAll(c, rounds[0])
	}
}
