package page

import (
	"context"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Activate brings the tab to the front of its window.
func (p *Page) Activate(ctx context.Context) error {
	return cdp.Explain(p.do(ctx, "Page.bringToFront", nil, nil), "activating the tab")
}
