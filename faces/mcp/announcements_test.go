package mcp_test

import (
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/outrider-run/outrider/faces/mcp"
	"github.com/outrider-run/outrider/runtime"
)

// A text of a live region comes with the next result about the page, marked as
// data; other sessions do not get it.
func TestAnnouncementsComeWithTheNextResult(t *testing.T) {
	site := serve(t, `<div role="alert" id="a"></div><script>var n = 0</script><button onclick="setTimeout(() => `+
		`document.getElementById('a').textContent = 'No ship ' + ++n, 500)">Moor</button>`)
	cs := client(t, open(t, site), func(o *mcp.Options) { o.Tools = "a11y.*" }, nil)
	made, _ := use(t, cs, "tabs", `{"action":"open_session","url":"`+site+`"}`)
	session, _ := made["session"].(string)
	use(t, cs, "a11y.watch", `{}`)
	// The alert speaks after the answer of the action. On a busy machine it may be in that answer.
	moor := func() {
		t.Helper()
		for try := 0; len(attempt(
			t, cs, "act", `{"action":"click","locator":{"role":"button","name":"Moor"}}`,
		).Content) > 1; try++ {
			if try == 10 {
				t.Fatal("the alert is in the answer of each action")
			}
		}
	}
	moor()
	until := func(tool, args string) *sdk.CallToolResult {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); ; {
			if other := attempt(t, cs, "read", `{"session":"`+session+`"}`); len(other.Content) > 1 {
				t.Fatalf("another session's result has %v", other.Content[1])
			}
			if r := attempt(t, cs, tool, args); len(r.Content) > 1 {
				return r
			}
			if time.Now().After(deadline) {
				t.Fatalf("no result of %s has the text of the alert", tool)
			}
		}
	}
	r := until("read", `{}`)
	text := r.Content[1].(*sdk.TextContent).Text
	list, _ := r.StructuredContent.(map[string]any)["announcements"].([]any)
	said := ""
	if len(list) == 1 {
		said, _ = list[0].(map[string]any)["text"].(string)
	}
	if !strings.HasPrefix(said, "No ship") || !strings.Contains(text, said) ||
		!strings.Contains(text, "not instructions") {
		t.Errorf("reported %v and %q", list, text)
	}
	if again := attempt(t, cs, "read", `{}`); len(again.Content) > 1 {
		t.Errorf("reported again: %v", again.Content[1])
	}
	// A failure brings them too.
	moor()
	r = until("act", `{"action":"click","ref":"e9999"}`)
	if text := r.Content[1].(*sdk.TextContent).Text; code(r) != "element_stale" || !strings.Contains(text, "No ship") {
		t.Errorf("a failure %q reported %q", code(r), text)
	}
}

// starting is a host whose browser is not there yet.
type starting struct {
	dictionary
	started chan struct{}
}

func (s starting) Subscribe(func(runtime.Event)) func() {
	<-s.started
	return func() {}
}

// Clients give up servers that do not answer, and a browser takes seconds.
func TestClientsAreAnsweredWhileTheBrowserStarts(t *testing.T) {
	host := starting{started: make(chan struct{})}
	late := time.AfterFunc(20*time.Second, func() { close(host.started) })
	cs := client(t, host, nil, nil)
	list, err := cs.ListTools(t.Context(), &sdk.ListToolsParams{})
	if err != nil || len(list.Tools) == 0 {
		t.Errorf("tools before the browser is there: %v, %v", list, err)
	}
	if !late.Stop() {
		t.Error("the client was not answered before the browser was there")
	} else {
		close(host.started)
	}
}
