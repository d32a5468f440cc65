package browser_test

import (
	"context"
	"testing"
	"time"

	"github.com/outrider-run/outrider/internal/testing/browsertest"
	"github.com/outrider-run/outrider/primitives/fault"
)

// A script that never returns would block the page's thread after its call.
func TestEndlessScriptIsEnded(t *testing.T) {
	tab := browsertest.Tab(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := tab.Evaluate(ctx, "(() => { for (;;); })()"); fault.CodeOf(err) != fault.Timeout {
		t.Errorf("got %v, want timeout", err)
	}
	if v, err := tab.Evaluate(within(t, 10*time.Second), "1 + 1"); err != nil || string(v) != "2" {
		t.Errorf("afterwards the page answers %s, %v", v, err)
	}
}
