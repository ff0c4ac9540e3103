package main

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
)

// serveHTTP gives every client the same session; none is ever written to first.
func serveHTTP(address string) error {
	http.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var text bytes.Buffer
		a := answerer{out: bufio.NewWriter(&text)}
		a.answer(body)
		_ = a.out.Flush()
		respond(w, text.Bytes())
	})
	http.HandleFunc("DELETE /mcp", func(http.ResponseWriter, *http.Request) {})
	return http.ListenAndServe(address, nil)
}

func respond(w http.ResponseWriter, text []byte) {
	if len(text) == 0 { // a notification
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if bytes.Contains(text[:min(len(text), 1024)], []byte(`"serverInfo"`)) {
		w.Header().Set("Mcp-Session-Id", "one")
	}
	_, _ = w.Write(text)
}
