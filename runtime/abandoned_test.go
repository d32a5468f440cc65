package runtime_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// An action that nobody waits for any more leaves its tab to the next call, whatever it was waiting for, and acts on
// nothing from then on.
func TestAnAbandonedActionFreesItsTab(t *testing.T) {
	url := serve(t, map[string]string{"/": `<button id="later" onclick="hits++">Later</button><input id="i">
		<script>var hits = 0</script>`})
	steps := map[string]string{
		"wait_for":    `"locator.wait_for","args":{"locator":{"selector":"#never"},"timeout_ms":50000}`,
		"page_wait":   `"page.wait","args":{"conditions":[{"text":"never"}],"timeout_ms":50000}`,
		"url":         `"page.wait","args":{"conditions":[{"url":"never"}],"timeout_ms":50000}`,
		"click":       `"pointer.click","args":{"locator":{"selector":"#never"},"timeout_ms":50000}`,
		"insert":      `"text.insert","args":{"target":"#never","text":"x","timeout_ms":50000}`,
		"evaluate":    `"page.evaluate","args":{"body":"return new Promise(() => {})"}`,
		"settle":      `"page.info","args":{},"settle_after":{"locator":{"selector":"#never"},"timeout_ms":20000}`,
		"retry_until": `"page.info","args":{},"retry_until":"{% false %}","max_attempts":50`,
		"type": `"text.type","args":{"locator":{"selector":"#i"},"text":"abcdefghijklmnopqrstuvwxyz",` +
			`"trusted":true,"delay_ms":3000}`,
	}
	var tools []string
	for name, step := range steps {
		tools = append(tools, fmt.Sprintf(`{"name":%q,"description":"waits","input_schema":{"type":"object"},
			"workflow":{"version":1,"expression_language":"jsonata","steps":[{"id":"wait","primitive":%s},
			{"id":"then","primitive":"pointer.click","args":{"locator":{"selector":"#later"}}}]}}`, name, step))
	}
	h := open(t, runtime.Options{Open: []string{url}, Maps: mapsOf(t, mapOf(tools, nil))})
	for _, name := range slices.Sorted(maps.Keys(steps)) {
		began := make(chan struct{}, 1)
		answered := make(chan runtime.Reply, 1)
		progress := func(p runtime.Progress) {
			if p.Step != "wait" {
				return
			}
			select {
			case began <- struct{}{}:
			default:
			}
		}
		stop := h.Accept(
			runtime.Call{ID: name, Name: name, Target: first(t, h), Timeout: time.Minute, Progress: progress},
			func(r runtime.Reply) { answered <- r },
		)
		select {
		case <-began:
		case r := <-answered:
			t.Fatalf("%s: answered before it was abandoned: %v", name, r.Err)
		}
		start := time.Now()
		stop()
		r := do(t, h, "page.evaluate", `{"body":"return hits"}`, patience)
		if took := time.Since(start); took > slack {
			t.Errorf("%s: the next call had to wait %v", name, took)
		}
		if got := fmt.Sprint(value(t, r)["value"]); got != "0" {
			t.Errorf("%s: the page was clicked %s times after nobody waited", name, got)
		}
		if r := <-answered; fault.CodeOf(r.Err) != fault.Cancelled {
			t.Errorf("%s: answered with %v", name, r.Err)
		}
	}
	if got := fmt.Sprint(value(t, do(t, h, "page.evaluate", `{"body":"return hits"}`, patience))["value"]); got != "0" {
		t.Errorf("the page was clicked %s times after nobody waited", got)
	}
}
