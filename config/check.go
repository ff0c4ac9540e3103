package config

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

// Check is called when flags and variables are merged with the file, for what
// only the whole can tell. The errors say what to write instead.
func (c Config) Check() error {
	var errs []error
	l := c.Listen
	if l.beyond() && !l.Auth.given() && !l.AllowUnauthenticated {
		errs = append(errs, fmt.Errorf("listening on %s, which other machines can reach, and nothing says who may call tools there; "+
			"name a file of tokens with --tokens, or an issuer under auth, or listen on 127.0.0.1, or add --allow-unauthenticated if something else protects it", l.Address))
	}
	if (l.TLS.Cert == "") != (l.TLS.Key == "") {
		errs = append(errs, errors.New("one file for TLS is missing; write both --tls-cert FILE and --tls-key FILE"))
	}
	if c.ForwardAuthorization && hasAuthorization(c.Headers) {
		errs = append(errs, errors.New("forward_authorization and a header Authorization of your own exclude each other; remove one"))
	}
	if c.Policy.UpstreamTasks == TasksPassthrough && l.Address != "" && l.Auth.given() && !c.ForwardAuthorization {
		errs = append(errs, errors.New("upstream_tasks: passthrough shows each owner everybody's tasks, as the server cannot tell owners apart; "+
			"remove it, or add forward_authorization: true if the server does that itself"))
	}
	return errors.Join(errs...)
}

// beyond tells whether the address can be reached from other machines.
func (l Listen) beyond() bool {
	host, _, _ := net.SplitHostPort(l.Address)
	return l.Address != "" && !loopback(host)
}

// Warnings are for the log: what runs, but perhaps not as it was meant.
func (c Config) Warnings() []string {
	var all []string
	for _, w := range append(c.Listen.doubts(), c.doubts()...) {
		if w.is {
			all = append(all, w.text)
		}
	}
	return all
}

type doubt struct {
	is   bool
	text string
}

func (l Listen) doubts() []doubt {
	return []doubt{
		{l.beyond() && l.Auth.given() && l.TLS.Cert == "",
			"listening beyond this machine without TLS: tokens can be read on the way; set --tls-cert and --tls-key unless something in front speaks TLS"},
		{l.beyond() && !l.Auth.given() && l.AllowUnauthenticated,
			"listening beyond this machine without authentication: everybody who can connect can call tools and read everybody's tasks"},
		{l.AllowUnauthenticated && l.Auth.given(),
			"allow_unauthenticated has no effect beside tokens or an issuer: hosts must authenticate"},
		{l.Address == "" && (l.TLS != TLS{} || l.Auth.given() || len(l.Origins) > 0 || len(l.Hosts) > 0),
			"TLS, authentication, origins and hosts have no effect without listen: there is one host, on standard input and output"},
	}
}

func (c Config) doubts() []doubt {
	forwards := len(c.ForwardHeaders) > 0 || c.ForwardAuthorization
	return []doubt{
		{c.Policy.UpstreamTasks == TasksPassthrough && c.Policy.FallbackAfter > 0,
			"fallback_after has no effect with upstream_tasks: passthrough: tasks are left to the host and the server"},
		{c.URL == "" && (len(c.Headers) > 0 || forwards),
			"headers for the server have no effect without url: the server is a process on this machine"},
		{c.URL != "" && c.Listen.Address == "" && forwards,
			"forward_headers and forward_authorization have no effect without listen: a host on standard input sends no headers"},
		// 2026-07-28, basic/authorization, Token Handling: servers "MUST NOT accept or transit any other tokens".
		{c.ForwardAuthorization && c.Listen.Auth.given(),
			"forward_authorization passes the tokens that this proxy checks on to the server: they must be issued for it, too"},
	}
}

// String is the configuration in the words of the file, for people. It has the
// names of headers and the host of the URL, and nothing that could be secret.
func (c Config) String() string {
	parts := []string{c.Policy.String(), fmt.Sprintf("%d entries under tools", len(c.Tools))}
	if u, err := url.Parse(c.URL); err == nil && c.URL != "" {
		parts = append(parts, "url "+u.Scheme+"://"+u.Host)
	}
	if len(c.Headers) > 0 {
		parts = append(parts, fmt.Sprintf("headers %v", c.Headers))
	}
	if c.Listen.Address != "" {
		parts = append(parts, c.Listen.String())
	}
	return strings.Join(parts, "; ")
}

// String is in the words of the file, for people.
func (l Listen) String() string {
	text := "listen " + l.Address + ", endpoint " + l.Endpoint
	if l.TLS.Cert != "" {
		text += ", tls"
	}
	switch {
	case l.Auth.Tokens != "":
		return text + ", auth tokens"
	case l.Auth.Issuer != "":
		return text + ", auth issuer"
	}
	return text + ", no auth"
}
