package replay_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider/evidence/capture"
	"github.com/outrider-run/outrider/evidence/replay"
	"github.com/outrider-run/outrider/internal/testing/runtimetest"
	"github.com/outrider-run/outrider/runtime"
)

// Calls on two tabs are repeated each on its own; a storage state is there before the first of them.
func TestTabsAndAStorageState(t *testing.T) {
	t.Parallel()
	server := site(t, `<!doctype html><title>Tab</title><input><p id="who"></p><script>who.textContent = 'user ' + `+
		`(localStorage.getItem('who') || 'nobody')</script>`)
	path := filepath.Join(t.TempDir(), "a.rec")
	recorder, err := capture.Open(capture.Files{Record: path}, capture.Options{Pages: true})
	if err != nil {
		t.Fatal(err)
	}
	h := runtimetest.Attached(t, runtime.Options{Recorder: recorder, Open: []string{server.URL + "/"}})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	do := func(tab int, name, args string) {
		t.Helper()
		r := h.Do(ctx, runtime.Call{
			Name:      name,
			Arguments: json.RawMessage(args),
			Target:    runtime.Target{RuntimeID: h.Tabs()[tab].RuntimeID},
		})
		if r.Err != nil {
			t.Fatalf("%s: %v", name, r.Err)
		}
	}
	do(0, "browser.open_tab", `{"url":"`+server.URL+`/?second"}`)
	if len(h.Tabs()) != 2 {
		t.Fatalf("%d tabs: expected 2", len(h.Tabs()))
	}
	do(0, "text.insert", `{"target":{"selector":"input"},"text":"first"}`)
	do(1, "text.insert", `{"target":{"selector":"input"},"text":"second"}`)
	const read = `{"locator":{"selector":"#who"}}`
	do(0, "locator.text_content", read)
	do(1, "page.snapshot", `{}`)
	do(0, "page.snapshot", `{}`)
	if err := h.Close(context.WithoutCancel(ctx)); err != nil {
		t.Fatal(err)
	}
	server.Close()
	if r := play(t, path, func(o *replay.Options) {
		o.Offline = true
	}); r.Verdict != replay.Reproduced || len(r.Calls) != 6 {
		t.Errorf("two tabs: %s", text(t, r))
	}
	state := `{"cookies":[],"origins":[{"origin":"` + server.URL + `","localStorage":[{"name":"who","value":"Ada"}]}]}`
	r := play(t, path, func(o *replay.Options) {
		o.Offline = true
		o.Prepare = replay.FromState(json.RawMessage(state))
	})
	if r.Verdict != replay.Differs || r.First != 4 || !strings.Contains(text(t, r), `"is": "user Ada"`) {
		t.Errorf("with a storage state: %s", text(t, r))
	}
}
