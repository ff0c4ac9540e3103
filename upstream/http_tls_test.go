package upstream

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"testing"
)

var quietLog = log.New(io.Discard, "", 0)

// newTLS is a server over TLS, with HTTP/2 if it is asked for by name.
func newTLS(t *testing.T, h http.Handler, protocols []string) *httptest.Server {
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = len(protocols) > 0
	server.Config.ErrorLog = quietLog
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

func trust(server *httptest.Server) func(*Options) {
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return func(o *Options) { o.TLS = &tls.Config{RootCAs: roots} }
}
