package browser_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/browser/page"
)

var pressRef = regexp.MustCompile(`Press\\" \[ref=(f\d+e\d+)\]`)

// commandLog counts the commands that a browser was sent, by their methods.
type commandLog struct {
	mu    sync.Mutex
	sent  map[string]int
	bytes int
}

func (l *commandLog) Write(lines []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range bytes.Lines(lines) {
		var entry struct {
			Kind, Method string
			Bytes        int
		}
		if json.Unmarshal(line, &entry) == nil && entry.Kind == "command" {
			l.sent[entry.Method]++
			l.bytes += entry.Bytes
		}
	}
	return len(lines), nil
}

// take returns what was sent since the last call.
func (l *commandLog) take() (sent map[string]int, size int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sent, size = l.sent, l.bytes
	l.sent, l.bytes = map[string]int{}, 0
	return sent, size
}

// A page of 20 frames is navigated to and read with few commands: the title is not asked for at each stage of each
// frame, and the library goes to the tab once.
func TestCommandsOfTwentyFrames(t *testing.T) {
	browsertest.Require(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/in" {
			fmt.Fprint(w, framePage)
			return
		}
		fmt.Fprint(w, framesPage)
	}))
	defer server.Close()
	commands := &commandLog{sent: map[string]int{}}
	opts := browsertest.Options()
	opts.CDPLog = commands
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	br, err := browser.Launch(ctx, opts)
	if err != nil {
		t.Fatal(err)
	}
	defer br.Close(context.Background())
	tab, err := br.NewTab(ctx, "about:blank", browser.TabOptions{})
	if err != nil {
		t.Fatal(err)
	}
	commands.take()
	_, err = tab.Navigate(ctx, primitives.NavigateOptions{URL: server.URL + "/", LoadTimeout: 30 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if sent, _ := commands.take(); sent["Target.getTargetInfo"] > 4 {
		t.Errorf("a navigation asked %d times for the title: %v", sent["Target.getTargetInfo"], sent)
	}
	registry := catalog.Standard()
	// snapshot returns the refs of the buttons in the frames.
	snapshot := func() [][]byte {
		t.Helper()
		r := registry.Invoke(ctx, tab, "page.snapshot", json.RawMessage(`{}`))
		refs := pressRef.FindAllSubmatch(r.Payload, -1)
		if r.Err != nil || len(refs) != 20 {
			t.Fatalf("%v %s", r.Err, r.Payload)
		}
		all := make([][]byte, 0, len(refs))
		for _, ref := range refs {
			all = append(all, ref[1])
		}
		return all
	}
	refs := snapshot()
	sent, size := commands.take()
	if sent["Page.createIsolatedWorld"] > 21 || sent["Runtime.evaluate"] > 24 || sent["DOM.describeNode"] > 0 {
		t.Errorf("a first snapshot of 20 frames: %v", sent)
	}
	if size > 60_000 {
		t.Errorf("a first snapshot of 20 frames sent %d bytes", size)
	}
	again := snapshot()
	if !slices.EqualFunc(refs, again, bytes.Equal) {
		t.Errorf("the refs were %q, and are %q", refs, again)
	}
	if sent, _ := commands.take(); sent["Runtime.evaluate"] > 1 || sent["Page.createIsolatedWorld"] > 0 {
		t.Errorf("a second snapshot of 20 frames: %v", sent)
	}
	// A frame begins its library when something is done in it, and knows its elements by the refs that it never gave.
	r := registry.Invoke(ctx, tab, "pointer.click", fmt.Appendf(nil, `{"locator":{"ref":%q}}`, refs[2]))
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	focused, err := tab.Eval(ctx, "", `[...document.querySelectorAll('iframe')].map(f => `+
		`f.contentDocument.activeElement.localName).indexOf('button')`)
	if err != nil || focused != "2" {
		t.Errorf("the click went to frame %s, want 2: %v", focused, err)
	}
	if after := snapshot(); !slices.EqualFunc(refs, after, bytes.Equal) {
		t.Errorf("after a click the refs were %q, want %q", after, refs)
	}
	// Input is followed by a question for the title now and then, and the last title is had.
	if _, err := tab.Eval(ctx, "", `let n = 0; onclick = () => { document.title = 'click ' + ++n }; n`); err != nil {
		t.Fatal(err)
	}
	commands.take()
	began := time.Now()
	for range 12 {
		if r := registry.Invoke(ctx, tab, "pointer.click", json.RawMessage(`{"x":9,"y":9}`)); r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	most := int(time.Since(began)/page.InputRefresh) + 2
	if sent, _ := commands.take(); sent["Target.getTargetInfo"] > most {
		t.Errorf("12 clicks asked %d times for the title, want %d at most", sent["Target.getTargetInfo"], most)
	}
	browsertest.Eventually(t, 10*time.Second, "the title of the last click", func() bool {
		return tab.Tab().Title == "click 12"
	})
}
