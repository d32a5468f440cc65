package primitives

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

type locatorValueIn struct {
	Locator locator `json:"locator"`
}

// locatorValue reads the live value property; the attribute keeps what the
// document said at first.
var locatorValue = Define("locator.value", func(ctx context.Context, p Page, in locatorValueIn) (json.RawMessage, error) {
	var out json.RawMessage
	err := in.Locator.ask(ctx, p, "value", nil, &out)
	return out, frameUnsaid(p, err, fault.TargetNotFound)
})
