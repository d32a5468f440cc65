package locator

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

type locatorValueIn struct {
	Locator Locator `json:"locator"`
}

// locatorValue reads the live value property; the attribute keeps what the
// document had at first.
var locatorValue = primitives.Define("locator.value", func(
	ctx context.Context, p primitives.Page, in locatorValueIn,
) (json.RawMessage, error) {
	var out json.RawMessage
	err := in.Locator.Evaluate(ctx, p, "value", nil, &out)
	return out, MaskFrameFault(p, err, fault.TargetNotFound)
})
