package upstream

import (
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestTheEraOfAServerIsFoundOverHTTP(t *testing.T) {
	initialize := func(o *Options) { o.Hello.Era = Initialize }
	stateless := func(o *Options) { o.ProbeWait = 100 * time.Millisecond }
	notFound := plain(http.StatusNotFound, "text/html", "<h1>404 page not found</h1>")
	for name, c := range map[string]struct {
		server *web
		change func(*Options)
		want   Era
	}{
		"modern server, modern host":     {modern(t, nil), stateless, Stateless},
		"modern server, older host":      {modern(t, nil), initialize, Stateless},
		"older server, modern host":      {legacy(t, nil), stateless, Initialize},
		"older server, older host":       {legacy(t, nil), initialize, Initialize},
		"probe refused as a method":      {legacy(t, map[string]handler{"server/discover": refuse404}), stateless, Initialize},
		"probe refused as a page":        {legacy(t, map[string]handler{"server/discover": notFound}), stateless, Initialize},
		"probe forbidden":                {legacy(t, map[string]handler{"server/discover": plain(http.StatusForbidden, "text/plain", "no")}), stateless, Initialize},
		"probe answered with a page":     {legacy(t, map[string]handler{"server/discover": plain(http.StatusOK, "text/html", "<html>")}), stateless, Initialize},
		"probe breaks the server":        {legacy(t, map[string]handler{"server/discover": plain(http.StatusInternalServerError, "text/plain", "oops")}), stateless, Initialize},
		"probe never answered":           {legacy(t, map[string]handler{"server/discover": hang}), stateless, Initialize},
		"probe answered with any result": {legacy(t, map[string]handler{"server/discover": result(`{}`)}), stateless, Initialize},
		"initialize refused as a page":   {modern(t, map[string]handler{"initialize": notFound}), initialize, Stateless},
		"initialize lacks headers":       {modern(t, map[string]handler{"initialize": failure(http.StatusBadRequest, -32020, "Mcp-Method is missing")}), initialize, Stateless},
	} {
		t.Run(name, func(t *testing.T) {
			desc, err := dial(t, c.server.URL, c.change).Connect(t.Context())
			if err != nil || desc.Era != c.want {
				t.Errorf("era %v, %v; want %v", desc.Era, err, c.want)
			}
		})
	}
}

// hang answers nothing until its client has gone.
func hang(_ http.ResponseWriter, v visit) { <-v.request.Context().Done() }

func TestAServerThatIsSlowToStartIsNotTakenForAnOlderOne(t *testing.T) {
	refused := make(chan struct{})
	server := modern(t, map[string]handler{
		"initialize": func(w http.ResponseWriter, v visit) {
			refuse404(w, v)
			close(refused)
		},
	})
	discover := server.handlers["server/discover"]
	server.on("server/discover", func(w http.ResponseWriter, v visit) {
		<-refused
		discover(w, v)
	})
	desc, err := dial(t, server.URL, func(o *Options) { o.ProbeWait = 300 * time.Millisecond }).Connect(t.Context())
	if err != nil || desc.Era != Stateless {
		t.Errorf("era %v, %v", desc.Era, err)
	}
}

func TestAFailedGreetingSaysWhatWasTriedAndWhatCameBack(t *testing.T) {
	server := newWeb(t, map[string]handler{
		"server/discover": plain(http.StatusNotFound, "text/plain", "nothing at this path"),
		"initialize":      plain(http.StatusMethodNotAllowed, "text/html", "<p>only GET here</p>"),
		"GET":             plain(http.StatusOK, "text/html", "<p>welcome</p>"),
	})
	c := dial(t, server.URL, nil)
	err := send(t, c, "tools/call", `{"name":"run"}`, nil).wantError("upstream_start", NotDispatched)
	for _, want := range []string{"server/discover", "404", "nothing at this path", "initialize", "405", "only GET here", "HTTP+SSE", "welcome"} {
		if !strings.Contains(err.Text, want) {
			t.Errorf("the text lacks %q: %s", want, err.Text)
		}
	}
	server.expect("tools/call", 0)
}

func TestAGreetingThatFailedIsTriedAgainForTheNextRequest(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	c := dial(t, "http://"+address, nil)
	for range 8 { // many failures make no pause: they cost a server nothing
		send(t, c, "tools/list", `{}`, nil).wantError("upstream_unreachable", NotDispatched)
	}
	if listener, err = net.Listen("tcp", address); err != nil {
		t.Fatal(err)
	}
	server := modern(t, nil)
	go func() { _ = http.Serve(listener, server) }()
	defer listener.Close()
	began := time.Now()
	ask(t, c, "tools/list", `{}`)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("a server that was back had to wait %v", took)
	}
}

func TestAServerThatWasReplacedByOneOfTheOtherEraIsFound(t *testing.T) {
	server := legacy(t, nil)
	c := dial(t, server.URL, func(o *Options) { o.Hello.Era = Initialize })
	if _, err := c.Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.Rest()
	server.on("initialize", failure(http.StatusBadRequest, -32022, "unsupported"))
	server.on("server/discover", result(`{"supportedVersions":["2026-07-28"],"capabilities":{}}`))
	if desc, err := c.Connect(t.Context()); err != nil || desc.Era != Stateless {
		t.Errorf("era %v, %v", desc.Era, err)
	}
}

func TestOnlyTheGivenEraIsTried(t *testing.T) {
	server := modern(t, nil)
	c := dial(t, server.URL, func(o *Options) { o.Hello.Era, o.Hello.Only = Initialize, true })
	send(t, c, "tools/list", `{}`, nil).wantError("upstream_start", NotDispatched)
	server.expect("server/discover", 0)
}

func TestAURLThatIsNoneIsSaid(t *testing.T) {
	for _, url := range []string{"localhost:8080", "ftp://x/", "http://", "http://a b/"} {
		send(t, dial(t, url, nil), "tools/list", `{}`, nil).wantError("upstream_start", NotDispatched)
	}
}

func TestAURLWithAPasswordIsRefusedAndNotShown(t *testing.T) {
	server := modern(t, nil)
	url := strings.Replace(server.URL, "http://", "http://me:secret@", 1)
	err := send(t, dial(t, url, nil), "tools/list", `{}`, nil).wantError("upstream_start", NotDispatched)
	if !strings.Contains(err.Text, "Authorization header") || strings.Contains(err.Text, "secret") {
		t.Errorf("the text should say what to do and keep the secret: %s", err.Text)
	}
	if len(server.seen) > 0 {
		t.Error("the server was asked all the same")
	}
}
