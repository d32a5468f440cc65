package page

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

type pageHoverIn struct {
	Locator   locator.Locator `json:"locator"`
	Ref       string          `json:"ref"`
	TimeoutMS *int            `json:"timeout_ms"`
	Force     bool            `json:"force"`
}

type pageHoverOut struct {
	// Hovered means that the element matches :hover afterwards. It does not when
	// something that the movement itself brought up lies over it.
	Hovered  bool                 `json:"hovered"`
	Ref      string               `json:"ref,omitempty"` // absent when the element is detached
	X        float64              `json:"x"`
	Y        float64              `json:"y"`
	Target   json.RawMessage      `json:"target"`
	Frame    *actionability.Frame `json:"frame,omitempty"`
	WaitedMS int64                `json:"waited_ms"`
}

// pageHover moves the pointer onto an element once a click there would hit
// it. A disabled element can be hovered.
var pageHover = primitives.Define("page.hover", func(
	ctx context.Context, p primitives.Page, in pageHoverIn,
) (pageHoverOut, error) {
	l, ok, err := actionability.OneTarget(in.Locator, in.Ref, false, "")
	if err != nil {
		return pageHoverOut{}, err
	}
	if !ok {
		return pageHoverOut{}, fault.New(fault.InvalidInput, "a ref or a locator is needed").
			With("missing_required", []string{"ref"})
	}
	h, err := actionability.Act(ctx, p, l, actionability.Requirements{}, actionability.Target{
		TimeoutMS: in.TimeoutMS,
		Force:     in.Force,
	}, func(a actionability.ActionPoint) []primitives.MouseEvent {
		return []primitives.MouseEvent{{Type: primitives.MouseMoved, X: a.X, Y: a.Y}}
	}, 0)
	if err != nil {
		return pageHoverOut{}, err
	}
	out := pageHoverOut{X: h.X, Y: h.Y, Target: h.Target, Frame: h.Frame, WaitedMS: h.Found.WaitedMS}
	var seen struct {
		Hovered bool   `json:"hovered"`
		Ref     string `json:"ref"`
	}
	switch err := p.Call(ctx, h.At.Frame, "is_hovered", map[string]any{"handle": h.Handle}, &seen); fault.CodeOf(err) {
	case "":
		out.Hovered, out.Ref = seen.Hovered, seen.Ref
	case fault.PageNavigated, fault.FrameNotFound, fault.DialogOpen:
		// The movement had that effect: the element is not there to be queried.
	default:
		return pageHoverOut{}, err
	}
	return out, nil
})
