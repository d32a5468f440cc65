package mcp_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/faces/mcp"
)

// A body is one message: what stands behind it is refused, and not dropped.
func TestABodyIsOneMessage(t *testing.T) {
	var table struct {
		Bodies []struct {
			Of, Body, Answer string
			Status           int
		}
	}
	readTable(t, "bodies.json", &table)
	server, err := mcp.New(t.Context(), mcp.Options{Host: oddSite{}, NewID: newID, Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	h := server.Handler(mcp.HTTPOptions{})
	hello := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	for _, c := range table.Bodies {
		body := strings.ReplaceAll(c.Body, "HELLO", hello)
		r := httptest.NewRequest(http.MethodPost, "http://127.0.0.1/mcp", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != c.Status || !strings.Contains(w.Body.String(), c.Answer) {
			t.Errorf("%s: status %d, %.300s, want %d and %s", c.Of, w.Code, w.Body, c.Status, c.Answer)
		}
	}
	if err := server.Close(t.Context()); err != nil {
		t.Error(err)
	}
}
