package main

// row is one of the things that are measured.
type row struct {
	name, what string
	measure    func(*lab)
}

var rows = []row{
	{"trip", "a call and its answer through the proxy, one at a time, beside a byte copier", measureTrips},
	{"inprocess", "what the proxy does to a message, without a process around it", measureInProcess},
	{"flight", "16 calls in flight, beside a byte copier and a pump over the Go SDK's message layer", measureFlight},
	{"sdk", "16 calls in flight to a server made with the Go SDK, beside that server alone and behind a byte copier", measureSDK},
	{"runner", "through front and runner, beside one process", measureRunner},
	{"web", "a host over HTTP of a server on stdio, beside mcp-proxy and supergateway", measureWeb},
	{"remote", "a host on stdio of a server over HTTP, beside mcp-remote and supergateway", measureRemote},
	{"big", "messages of 1 to 16 MB, beside a byte copier", measureBig},
	{"create", "from call to handle, beside an append log with group commit, alone and behind an edge", measureCreate},
	{"life", "call, handle, three polls, result", measureLife},
	{"get", "tasks/get of running tasks, beside a map behind the same edge and alone", measureGet},
	{"running", "memory that running tasks hold", measureRunning},
	{"start", "from start to the first answer with many stored tasks, beside opening the store alone", measureStart},
	{"idle", "memory and disk of a proxy that has nothing to do", measureIdle},
	{"listeners", "the end of a task, told to many listeners", measureListeners},
	{"load", "many hosts over HTTP with many running tasks", measureLoad},
	{"owners", "many owners over HTTP", measureOwners},
	{"soak", "mixed traffic while processes are ended, for -minutes; only where it is named", measureSoak},
}

// run measures a row. What it had when something failed is returned too.
func (r row) run(t *tools, quick bool) (lines []line, err error) {
	l := newLab(r.name, t, quick)
	defer func() {
		l.end()
		lines = l.lines
		if p := recover(); p != nil {
			f, ours := p.(failure)
			if !ours {
				panic(p)
			}
			err = f.error
		}
	}()
	r.measure(l)
	return nil, nil
}

// failure is what [check] panics with: a row that cannot go on has nobody to
// hand an error to but [row.run].
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](v T, err error) T {
	check(err)
	return v
}
