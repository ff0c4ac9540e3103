package e2e

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certificate makes one for this machine and writes it and its key as PEM.
func certificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writePEM(t, cert, "CERTIFICATE", der)
	writePEM(t, key, "PRIVATE KEY", pkcs8)
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return cert, key, pool
}

func writePEM(t *testing.T, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}

// encrypted is a proxy with a certificate and a client that knows it.
func encrypted(t *testing.T) (*listening, *records, *http.Client) {
	t.Helper()
	p, seen := proxyAround(t, "modern")
	cert, key, pool := certificate(t)
	p.Flags = []string{"--tls-cert", cert, "--tls-key", key}
	l := p.listen(t)
	if !strings.HasPrefix(l.url, "https://") {
		t.Errorf("it says that it listens on %s", l.url)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return l, seen, &http.Client{Transport: transport}
}

// Over one connection of HTTP/2 there are many streams: each flows, and the end
// of one cancels its own call.
func TestHTTP2StreamsAndCancels(t *testing.T) {
	t.Parallel()
	l, seen, client := encrypted(t)
	var calls []*rawStream
	for i := range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		body := request(fmt.Sprint(i), "tools/call", fmt.Sprintf(
			`{"name":"gate","arguments":{"gate":"a","say":[{"progress":%d}]},"_meta":{%s,"progressToken":"p"}}`, i, metaPlain))
		response, err := client.Do(rawRequest{Body: body, Header: watched}.build(t, ctx, l.url))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { cancel(); _ = response.Body.Close() })
		if response.ProtoMajor != 2 || !isStream(response) {
			t.Fatalf("%s, %v", response.Proto, response.Header)
		}
		calls = append(calls, &rawStream{t: t, Response: response, in: newEventReader(response.Body), close: cancel})
		if m := calls[i].want("notifications/progress"); string(at(m.Params, "progress")) != fmt.Sprint(i) {
			t.Errorf("the progress of another call: %s", m.Raw)
		}
	}
	calls[1].close()
	l.await("one call to be cancelled", func() bool { return seen.count("cancelled gate") == 1 })
	response, err := client.Do(rawRequest{Body: plain.toolCall("9", "release", `{"gate":"a"}`)}.build(t, t.Context(), l.url))
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	for _, i := range []int{0, 2} {
		if m := calls[i].answer(fmt.Sprint(i)); m.Error != nil {
			t.Errorf("call %d: %s", i, m.Raw)
		}
	}
	if n := seen.count("cancelled gate"); n != 1 {
		t.Errorf("%d calls were cancelled", n)
	}
}

// A client that speaks no HTTP/2 is served the same, and one that speaks no TLS
// is told so.
func TestHTTP1OverTLS(t *testing.T) {
	t.Parallel()
	l, _, client := encrypted(t)
	client.Transport.(*http.Transport).ForceAttemptHTTP2 = false
	client.Transport.(*http.Transport).TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	response, err := client.Do(rawRequest{Body: releaseCall, Header: watched}.build(t, t.Context(), l.url))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.ProtoMajor != 1 || !strings.Contains(string(body), "released") {
		t.Errorf("%s, %v: %s", response.Proto, err, body)
	}
	l.url = strings.Replace(l.url, "https://", "http://", 1)
	if a := l.do(t, rawRequest{Body: releaseCall}); a.Status != http.StatusBadRequest {
		t.Errorf("without TLS: status %d, %s", a.Status, a.Body)
	}
}
