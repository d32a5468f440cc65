package actionability

import (
	"context"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

// Focused is an element that has the focus.
type Focused struct {
	Target ActedOn
	At     locator.Place
	Handle string

	locator locator.Locator
	key     string
}

// Focus gives the focus to an element before something is typed, once it is there and takes it.
// editable also waits for a read-only control. It fails with target_not_focusable where the element does
// not get the focus, or does not keep it: keys would go to another one.
//
// An element that was rendered again because it got the focus is looked for once more.
func Focus(
	ctx context.Context, p primitives.Page, l locator.Locator, timeout time.Duration, editable bool,
) (Focused, error) {
	start := time.Now()
	f, err := focusOnce(ctx, p, l, timeout, editable)
	if fault.CodeOf(err) != fault.TargetNotFocusable {
		return f, err
	}
	return focusOnce(ctx, p, l, max(timeout-time.Since(start), 0), editable)
}

// focusOnce is Focus without the second try.
func focusOnce(
	ctx context.Context, p primitives.Page, l locator.Locator, timeout time.Duration, editable bool,
) (Focused, error) {
	f := Focused{locator: l, key: "f" + strconv.FormatInt(clickIDs.Add(1), 36)}
	target := Requirements{Until: "attached", Enabled: true, Editable: editable, Focus: true, focusKey: f.key}
	h, err := Resolve(ctx, p, l, target, timeout, false)
	if err != nil {
		return Focused{}, err
	}
	f.Target = h.Acted
	f.At = h.At
	f.Handle = h.Handle
	if h.focused == nil || !*h.focused {
		return Focused{}, fault.New(fault.TargetNotFocusable, "the element cannot take the focus").
			With("locator", l).With("target", h.Target)
	}
	return f, f.Held(ctx, p)
}

// mostFocusChecks bounds how often it is asked whether a frame has the focus: the documents around it
// learn of that by and by.
const mostFocusChecks = 6

// Held fails with target_not_focusable when keys would go to another element now. The documents are asked
// from the main one on, as the browser finds the frame of a key.
func (f Focused) Held(ctx context.Context, p primitives.Page) error {
	for n := 0; ; n++ {
		var now struct {
			Held bool `json:"held"`
		}
		if err := locator.CallFocused(ctx, p, "focus_held", map[string]any{"key": f.key}, &now); err != nil {
			return err
		}
		if now.Held {
			return nil
		}
		last := f.At.View == nil || n == mostFocusChecks-1
		if last || !primitives.Pause(ctx, movePause(n)) {
			return fault.New(fault.TargetNotFocusable, "the element did not keep the focus, so nothing was typed").
				With("locator", f.locator).With("target", f.Target)
		}
	}
}
