package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/faces/mcp"
)

// A client whose stream breaks in the middle of a call gets the answer when it
// reconnects with the id of the last event that it saw.
func TestABrokenStreamIsResumed(t *testing.T) {
	asked, release := make(chan struct{}, 1), make(chan struct{})
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			asked <- struct{}{}
			select {
			case <-release:
			case <-r.Context().Done():
			}
		}
	}))
	t.Cleanup(site.Close)
	ctx := context.WithoutCancel(t.Context())
	server, err := mcp.New(ctx, mcp.Options{
		Host:    open(t, site.URL),
		NewID:   newID,
		Version: "test",
		Tools:   "page.evaluate",
	})
	if err != nil {
		t.Fatal(err)
	}
	handler, broken := server.Handler(mcp.HTTPOptions{}), make(chan struct{}, 1)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r)
		if r.Context().Err() != nil {
			select {
			case broken <- struct{}{}:
			default: // the end of the test
			}
		}
	}))
	t.Cleanup(func() {
		front.CloseClientConnections()
		front.Close()
		if err := server.Close(ctx); err != nil {
			t.Errorf("closing the server: %v", err)
		}
	})

	session, version := "", ""
	ask := func(ctx context.Context, method, body, last string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, method, front.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Accept":               "application/json, text/event-stream",
			"Content-Type":         "application/json",
			"Mcp-Session-Id":       session,
			"Mcp-Protocol-Version": version,
			"Last-Event-Id":        last,
		} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if r.StatusCode >= 300 {
			text, _ := io.ReadAll(r.Body)
			t.Fatalf("%s %s: %s %s", method, body, r.Status, text)
		}
		return r
	}
	within, end := context.WithTimeout(t.Context(), 2*time.Minute)
	defer end()
	r := ask(within, http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize",`+
		`"params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`, "")
	session, version = r.Header.Get("Mcp-Session-Id"), "2025-11-25"
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		t.Fatal(err)
	}
	_ = ask(within, http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, "").Body.Close()

	cutting, cut := context.WithCancel(within)
	defer cut()
	r = ask(cutting, http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"tools/call",`+
		`"params":{"name":"page.evaluate","_meta":{"progressToken":"p"},`+
		`"arguments":{"body":"return fetch('/slow').then(() => 42)"}}}`, "")
	last, data := nextEvent(t, bufio.NewReader(r.Body))
	if last == "" {
		t.Fatalf("the first event has no id: %s", data)
	}
	select {
	case <-asked: // the call is running
	case <-within.Done():
		t.Fatal("the call does not run")
	}
	cut()
	_ = r.Body.Close()
	select {
	case <-broken: // until then the stream is another client's
	case <-within.Done():
		t.Fatal("the server does not see that the stream is broken")
	}
	close(release)

	r = ask(within, http.MethodGet, "", last)
	defer r.Body.Close()
	for in := bufio.NewReader(r.Body); ; {
		_, data := nextEvent(t, in)
		var m struct {
			ID     int `json:"id"`
			Result struct {
				StructuredContent json.RawMessage `json:"structuredContent"`
				IsError           bool            `json:"isError"`
			} `json:"result"`
		}
		if json.Unmarshal([]byte(data), &m) != nil || m.ID != 2 {
			continue // progress
		}
		if m.Result.IsError || !strings.Contains(string(m.Result.StructuredContent), "42") {
			t.Errorf("the resumed stream answers %s, want 42", data)
		}
		return
	}
}

// nextEvent reads one server-sent event.
func nextEvent(t *testing.T, in *bufio.Reader) (id, data string) {
	t.Helper()
	for some := false; ; {
		line, err := in.ReadString('\n')
		if err != nil {
			t.Fatalf("the stream ended: %v", err)
		}
		switch name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": "); name {
		case "id":
			id, some = value, true
		case "data":
			data, some = data+value, true
		case "":
			if some {
				return id, data
			}
		}
	}
}
