package siteaction

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/workflow"
)

// ReadsPage reports whether a primitive reads the page once, as it is. It can be called again, and its
// result for a document that is still loading is not the final one.
func ReadsPage(primitive string) bool { return primitives.StepOf(primitive).Settles }

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
	if ReadsPage(name) {
		s.actions.Settled(ctx)
	}
	return s.Invoker.Invoke(ctx, name, args)
}
