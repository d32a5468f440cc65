package mcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/faces/mcp"
)

// Versions with and without sessions are served at one address.
func TestVersionsWithAndWithoutSessionsShareAnAddress(t *testing.T) {
	server, err := mcp.New(t.Context(), mcp.Options{
		Host:    dictionary{},
		NewID:   func() string { return "id" },
		Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close(t.Context()) })
	srv := httptest.NewServer(server.Handler(mcp.HTTPOptions{}))
	t.Cleanup(srv.Close)
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"VERSION",` +
		`"io.modelcontextprotocol/clientCapabilities":{}}`
	for _, c := range []struct {
		name, method, version, body string
		status                      int
		want                        string
		session                     bool
	}{
		{
			"discover", "server/discover", "2026-07-28",
			`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`, 200, `"2026-07-28"`, false,
		},
		{
			"list", "tools/list", "2026-07-28",
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, 200, `"snapshot"`, false,
		},
		{
			"a version of tomorrow", "tools/list", "2030-01-01",
			`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + meta + `}}`, 400, `-32022`, false,
		},
		{"initialize", "", "", `{"jsonrpc":"2.0","id":1,"method":"initialize",` +
			`"params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`,
			200, `"2025-11-25"`, true},
	} {
		req, err := http.NewRequestWithContext(
			t.Context(), http.MethodPost, srv.URL, strings.NewReader(strings.ReplaceAll(c.body, "VERSION", c.version)),
		)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if c.method != "" {
			req.Header.Set("Mcp-Method", c.method)
			req.Header.Set("Mcp-Protocol-Version", c.version)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if res.StatusCode != c.status || !strings.Contains(string(body), c.want) {
			t.Errorf("%s: got %d %.300s, want %d with %s", c.name, res.StatusCode, body, c.status, c.want)
		}
		if got := res.Header.Get("Mcp-Session-Id") != ""; got != c.session {
			t.Errorf("%s: a session is %v, want %v", c.name, got, c.session)
		}
	}
}
