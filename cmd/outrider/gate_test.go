package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// gate is a server that asks for a name and a password, and a proxy that does. Its pages say
// which header of a sign-in came. /silent never answers.
func gate(t *testing.T) string {
	signedIn := func(w http.ResponseWriter, r *http.Request, header, challenge string, code int) bool {
		asked := &http.Request{Header: http.Header{"Authorization": r.Header[header]}}
		if name, password, ok := asked.BasicAuth(); ok && name == "ann" && password == "hunter22-value" {
			return true
		}
		w.Header().Set(challenge, `Basic realm="the back room"`)
		w.WriteHeader(code)
		fmt.Fprint(w, "<title>Refused</title>no")
		return false
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/silent" { // answers when its client has gone
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if r.URL.IsAbs() {
			if signedIn(w, r, "Proxy-Authorization", "Proxy-Authenticate", http.StatusProxyAuthRequired) {
				fmt.Fprint(w, "<title>Through the proxy</title>")
			}
			return
		}
		if r.URL.Path == "/secret" && !signedIn(w, r, "Authorization", "WWW-Authenticate", http.StatusUnauthorized) {
			return
		}
		fmt.Fprintf(
			w, `<title>Gate %s</title><a href="next">Next</a><p>%d headers of a sign-in</p>`, r.URL.Path,
			len(r.Header["Authorization"]),
		)
	}))
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}
