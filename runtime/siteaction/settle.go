package siteaction

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/workflow"
)

// readsPage are the primitives that read the page once, as it is: they can be called again,
// and what they say of a document that is still arriving is not what it says.
var readsPage = map[string]bool{
	"a11y.query": true, "a11y.tree": true,
	"browser.extract_elements": true, "browser.screenshot": true,
	"dom.list_sections": true, "dom.snapshot_text": true,
	"locator.element_info": true, "locator.text_content": true, "locator.value": true,
	"page.extract": true, "page.info": true, "page.pdf": true, "page.snapshot": true,
}

// ReadsPage says whether a primitive reads the page once, and does nothing else.
func ReadsPage(primitive string) bool { return readsPage[primitive] }

// Settled waits until the document that is there, or on its way, has loaded. A step that
// reads does so after it.
func (a *Actions) Settled(ctx context.Context) {
	if a.Quirks.Has(quirks.ActsWhileLoading) {
		return
	}
	if page := a.Page(); page != nil {
		observe.Settle(ctx, page)
	}
}

// settled has the reading steps of a workflow wait for their document.
type settled struct {
	workflow.Invoker
	actions *Actions
}

// Invoke implements workflow.Invoker.
func (s settled) Invoke(ctx context.Context, name string, args json.RawMessage) primitives.Result {
	if readsPage[name] {
		s.actions.Settled(ctx)
	}
	return s.Invoker.Invoke(ctx, name, args)
}
