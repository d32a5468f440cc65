package browser_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/catalog"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Waits end in a document whose timers and frames stand still, as those of a tab
// that the browser has frozen, and see what came meanwhile.
func TestWaitsWhereTimersStandStill(t *testing.T) {
	s := newSite(t, map[string]string{
		"/": `<title>frozen</title><p>here</p><div style="animation:k 1s infinite"><button id="b">Go</button>` +
			`</div><style>@keyframes k{from{margin-left:0}to{margin-left:9px}}</style><iframe id="f" src="/inner">` +
			`</iframe>`,
		"/inner": `<p id="inside">inside</p>`,
	})
	tab, front := browsertest.Tab(t), browsertest.Tab(t)
	open(t, tab, s.origin+"/")
	if err := front.Activate(within(t, 10*time.Second)); err != nil {
		t.Fatal(err)
	}
	registry := catalog.Standard()
	// Only what is not shown is frozen, and the host has every tab taken for shown.
	state := func(name string) {
		t.Helper()
		if err := tab.Raw(
			within(t, 10*time.Second), "Emulation.setFocusEmulationEnabled",
			map[string]any{"enabled": name == "active"}, nil,
		); err != nil {
			t.Fatal(err)
		}
		if err := tab.Raw(
			within(t, 10*time.Second), "Page.setWebLifecycleState", map[string]any{"state": name}, nil,
		); err != nil {
			t.Fatal(err)
		}
	}
	const bound = 20 * time.Second
	for _, c := range []struct {
		name, args string
		want       fault.Code
	}{
		{"locator.wait_for", `{"locator":{"selector":"#none"},"timeout_ms":300}`, fault.Timeout},
		{"locator.wait_for", `{"locator":{"selector":"#none","frame":"#f"},"timeout_ms":300}`, fault.Timeout},
		{"locator.element_info", `{"locator":{"selector":"#b"},"timeout_ms":300}`, ""},
		{"pointer.click", `{"locator":{"selector":"#none"},"timeout_ms":300}`, fault.TargetNotFound},
		{"pointer.click", `{"locator":{"selector":"#none","frame":"#f"},"timeout_ms":300}`, fault.TargetNotFound},
		{"pointer.click", `{"locator":{"selector":"#b"},"timeout_ms":300}`, fault.TargetNotActionable},
		{"page.wait", `{"conditions":[{"text":"nowhere"}],"timeout_ms":300}`, fault.Timeout},
	} {
		state("frozen")
		ctx, cancel := context.WithTimeout(t.Context(), bound)
		r := registry.Invoke(ctx, tab, c.name, json.RawMessage(c.args))
		if got := fault.CodeOf(asError(r.Err)); got != c.want || ctx.Err() != nil {
			t.Errorf(
				"%s %s: got %q after %v, want %q: %v %.300s",
				c.name, c.args, got, r.Duration.Round(time.Millisecond), c.want, r.Err, r.Payload,
			)
		}
		cancel()
		state("active")
	}
}

func asError(f *fault.Error) error {
	if f == nil {
		return nil
	}
	return f
}
