package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/faces/mcp"
)

// A page of an origin that is allowed can use the server: it is answered before it sends, and reads
// its session. No other page can.
func TestAPageOfAnAllowedOriginCanUseTheServer(t *testing.T) {
	server, err := mcp.New(t.Context(), mcp.Options{Host: oddSite{}, NewID: newID, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	h := server.Handler(mcp.HTTPOptions{Token: "secret", AllowOrigins: []string{"https://page.example"}})
	for _, c := range []struct {
		name, method, token string
		origins             []string
		status              int
	}{
		{"it asks", http.MethodOptions, "", []string{"https://page.example"}, http.StatusNoContent},
		{"another asks", http.MethodOptions, "", []string{"https://evil.example"}, http.StatusForbidden},
		{"it sends", http.MethodPost, "bearer secret", []string{"https://page.example"}, http.StatusOK},
		{"without the token", http.MethodPost, "", []string{"https://page.example"}, http.StatusUnauthorized},
		{
			"two origins", http.MethodPost, "Bearer secret",
			[]string{"https://page.example", "https://evil.example"},
			http.StatusForbidden,
		},
		{
			"two origins, one empty", http.MethodPost, "Bearer secret",
			[]string{"", "https://evil.example"},
			http.StatusForbidden,
		},
	} {
		body := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
			`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
		r := httptest.NewRequest(c.method, "http://127.0.0.1/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header["Origin"] = c.origins
		if c.token != "" {
			r.Header.Set("Authorization", c.token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d: %.200s", c.name, w.Code, c.status, w.Body)
		}
		allowed := w.Header().Get("Access-Control-Allow-Origin")
		names := func(header string) bool { return strings.Contains(w.Header().Get(header), "mcp-session-id") }
		asked := allowed == c.origins[0] && names("Access-Control-Allow-Headers")
		sent := w.Header().Get("Mcp-Session-Id") != "" && names("Access-Control-Expose-Headers")
		if c.name == "it asks" && !asked || c.name == "it sends" && !sent {
			t.Errorf("%s: headers %v", c.name, w.Header())
		}
	}
	if err := server.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
