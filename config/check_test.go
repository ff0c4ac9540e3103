package config

import (
	"slices"
	"strings"
	"testing"
)

func TestListeningBeyondThisMachineMustBeMeant(t *testing.T) {
	for _, c := range []struct {
		Listen
		ok bool
	}{
		{Listen{}, true},
		{Listen{Address: "127.0.0.1:80"}, true}, {Listen{Address: "127.9.9.9:0"}, true}, {Listen{Address: "[::1]:80"}, true},
		{Listen{Address: "LocalHost:80"}, true}, {Listen{Address: "[::ffff:127.0.0.1]:80"}, true},
		{Listen{Address: ":80"}, false}, {Listen{Address: "0.0.0.0:80"}, false}, {Listen{Address: "[::]:80"}, false},
		{Listen{Address: "192.168.0.1:80"}, false}, {Listen{Address: "localhost.example:80"}, false}, {Listen{Address: "128.0.0.1:80"}, false},
		{Listen{Address: ":80", AllowUnauthenticated: true}, true}, {Listen{Address: ":80", Auth: Auth{Tokens: "t"}}, true},
		{Listen{Address: ":80", Auth: Auth{Issuer: "https://i"}}, true}, {Listen{Address: ":80", Auth: Auth{Resource: "https://r"}}, false},
	} {
		err := Config{Listen: c.Listen}.Check()
		if (err == nil) != c.ok {
			t.Errorf("%+v: %v", c.Listen, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "--tokens") || !strings.Contains(err.Error(), "--allow-unauthenticated")) {
			t.Errorf("no remedy: %v", err)
		}
	}
}

func TestHalvesThatFlagsMakeAreRefused(t *testing.T) {
	headers, err := ParseHeaders([]string{"authorization: a"})
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Config{
		"--tls-key": {Listen: Listen{TLS: TLS{Cert: "c"}}}, "--tls-cert": {Listen: Listen{TLS: TLS{Key: "k"}}},
		"forward_authorization": {ForwardAuthorization: true, Headers: headers},
	} {
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s in it", c, err, want)
		}
	}
}

func TestDoubtfulSettingsAreWarnedOf(t *testing.T) {
	tokens, forward := Auth{Tokens: "t"}, []string{"X-A"}
	for _, c := range []struct {
		name string
		Config
		want []string // words of the warnings, in their order
	}{
		{"default", Default(), nil},
		{"tokens in clear", Config{Listen: Listen{Address: ":1", Auth: tokens}}, []string{"without TLS"}},
		{"tokens in clear at home", Config{Listen: Listen{Address: "localhost:1", Auth: tokens}}, nil},
		{"tokens over TLS", Config{Listen: Listen{Address: ":1", Auth: tokens, TLS: TLS{"c", "k"}}}, nil},
		{"open to all", Config{Listen: Listen{Address: ":1", AllowUnauthenticated: true}}, []string{"without authentication"}},
		{"open to all and not", Config{Listen: Listen{Address: "localhost:1", AllowUnauthenticated: true, Auth: tokens}}, []string{"allow_unauthenticated has no effect"}},
		{"tokens for standard input", Config{Listen: Listen{Auth: tokens}}, []string{"without listen"}},
		{"headers for a process", Config{Headers: []Header{{}}}, []string{"without url"}},
		{"headers from standard input", Config{URL: "https://h", ForwardHeaders: forward}, []string{"sends no headers"}},
		{"headers from hosts", Config{URL: "https://h", ForwardHeaders: forward, Listen: Listen{Address: "[::1]:1"}}, nil},
		{"tokens passed on", Config{URL: "https://h", ForwardAuthorization: true, Listen: Listen{Address: "[::1]:1", Auth: tokens}}, []string{"issued for it, too"}},
	} {
		got := c.Warnings()
		if !slices.EqualFunc(got, c.want, strings.Contains) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
