package browser

import "context"

// Activate brings the tab to the front of its window.
func (t *Tab) Activate(ctx context.Context) error {
	return t.b.explain(t.ask(ctx, "Page.bringToFront", nil, nil), "activating the tab")
}
