package actionability

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

// ActedOn is the element of an action, as the page library's acted.js reports
// it before the action: tag_name, role, name and bounding_box in pixels of the
// tab's viewport, and point where there is one. It is null when there was no
// element, and never contains what was typed or the value of a control.
type ActedOn = json.RawMessage

// FocusedTarget is the element that a key press would go to. It costs a
// round trip, and another for each frame the focus is in. A page that cannot
// say, because it is being replaced or a dialog is open, gives nil: whether a
// key can be pressed then is not decided here.
func FocusedTarget(ctx context.Context, p primitives.Page) (ActedOn, error) {
	return focusedTarget(ctx, p, nil)
}

// FocusedForText is FocusedTarget before text is typed. A button, a link or a
// checkbox takes none: target_not_editable.
func FocusedForText(ctx context.Context, p primitives.Page) (ActedOn, error) {
	target, err := focusedTarget(ctx, p, map[string]any{"for_text": true})
	if fault.CodeOf(err) == fault.TargetNotEditable {
		return nil, fault.From(err).Next(
			"name the field with a ref or a locator, or use keyboard.press for single keys",
		)
	}
	return target, err
}

func focusedTarget(ctx context.Context, p primitives.Page, args map[string]any) (ActedOn, error) {
	var out struct {
		Target ActedOn `json:"target"`
	}
	err := locator.CallFocused(ctx, p, "focused_target", args, &out)
	switch code := fault.CodeOf(err); {
	case err == nil:
		return out.Target, nil
	case code == fault.PageNavigated, code == fault.DialogOpen, locator.IsFrameFault(code):
		return nil, nil
	}
	return nil, err
}
