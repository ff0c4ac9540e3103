package proxy

import (
	"strings"
	"testing"
	"time"

	"github.com/mcp-taskproxy/mcp-taskproxy/proxy/wire"
	"github.com/mcp-taskproxy/mcp-taskproxy/upstream"
)

// progresses is what a host with a progress token has got.
func progresses(into *[]string) func(*Request) {
	return func(r *Request) {
		r.Progress = func(m wire.Message) {
			message, _ := wire.String(wire.Get(m.Params(), "message"))
			*into = append(*into, string(wire.Get(m.Params(), "progress"))+" "+message)
		}
	}
}

func (p *play) progresses(params string) {
	token := wire.Lookup(p.message.Params(), "_meta", "progressToken")
	p.says(wire.Notification("notifications/progress", wire.Set([]byte(params), "progressToken", token)))
	settle()
}

func TestASilentServerIsSpokenFor(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Never, KeepAlive: 10 * time.Second})
		var got []string
		c := r.calls(deploy, progresses(&got))
		p := r.next()
		time.Sleep(25 * time.Second)
		p.progresses(`{"progress":1,"message":"linking"}`)
		time.Sleep(9 * time.Second)
		p.progresses(`{"progress":1}`)
		time.Sleep(15 * time.Second)
		p.ends(`{"content":[]}`)
		c.result()
		time.Sleep(time.Hour)
		settle()
		want := "0 still waited for (10s),0.000001 still waited for (20s),1 linking,1.000001 ,1.000002 still waited for (10s)"
		if s := strings.Join(got, ","); s != want {
			t.Errorf("the host got %s, want %s", s, want)
		}
		r.wantIdle()
	})
}

func TestProgressIsTheServersOwnWhereNobodySpeaksForIt(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: Never})
		var got []string
		c := r.calls(deploy, progresses(&got))
		p := r.next()
		for _, progress := range []string{"5", "9007199254740993", "1.0", "0"} {
			p.progresses(`{"progress":` + progress + `}`)
		}
		p.ends(`{"content":[]}`)
		c.result()
		if s := strings.Join(got, ","); s != "5 ,9007199254740993 ,1.0 ,0 " {
			t.Errorf("the host got %s", s)
		}
	})
}

func TestProgressGoesOnForATaskOfTheOlderKind(t *testing.T) {
	bubble(t, func(t *testing.T, store *disk) {
		r := newRig(t, store, upstream.Stateless, Policy{Task: After, After: time.Hour})
		var got []string
		c := r.calls(deploy, func(req *Request) {
			progresses(&got)(req)
			req.Tasks, req.AtOnce, req.ProgressLasts = true, true, true
		})
		id, p := c.task().ID, r.next()
		p.progresses(`{"progress":1}`)
		p.progresses(`{"progress":2}`)
		r.cancel(id)
		p.progresses(`{"progress":3}`)
		if s := strings.Join(got, ","); s != "1 ,2 " {
			t.Errorf("the host got %s", s)
		}
	})
}
