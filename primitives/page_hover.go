package primitives

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

type pageHoverIn struct {
	Locator   locator `json:"locator"`
	Ref       string  `json:"ref"`
	TimeoutMS *int    `json:"timeout_ms"`
	Force     bool    `json:"force"`
}

type pageHoverOut struct {
	// Hovered means that the element matches :hover afterwards. It does not when
	// something that the movement itself brought up lies over it now.
	Hovered  bool            `json:"hovered"`
	Ref      string          `json:"ref,omitempty"` // absent when the element is gone
	X        float64         `json:"x"`
	Y        float64         `json:"y"`
	Target   json.RawMessage `json:"target"`
	Frame    *aimFrame       `json:"frame,omitempty"`
	WaitedMS int64           `json:"waited_ms"`
}

// pageHover moves the pointer onto an element once a press there would reach
// it. A disabled element can be hovered.
var pageHover = Define("page.hover", func(ctx context.Context, p Page, in pageHoverIn) (pageHoverOut, error) {
	l, ok, err := oneTarget(in.Locator, in.Ref, false, "")
	if err != nil {
		return pageHoverOut{}, err
	}
	if !ok {
		return pageHoverOut{}, fault.New(fault.InvalidInput, "a ref or a locator is needed").With("missing_required", []string{"ref"})
	}
	h, err := actOn(ctx, p, l, actAim{}, actTarget{TimeoutMS: in.TimeoutMS, Force: in.Force}, func(a aim) []MouseEvent {
		return []MouseEvent{{Type: MouseMoved, X: a.X, Y: a.Y}}
	}, 0)
	if err != nil {
		return pageHoverOut{}, err
	}
	out := pageHoverOut{X: h.X, Y: h.Y, Target: h.Target, Frame: h.Frame, WaitedMS: h.found.WaitedMS}
	var seen struct {
		Hovered bool   `json:"hovered"`
		Ref     string `json:"ref"`
	}
	switch err := p.Call(ctx, h.at.frame, "is_hovered", map[string]any{"handle": h.handle}, &seen); fault.CodeOf(err) {
	case "":
		out.Hovered, out.Ref = seen.Hovered, seen.Ref
	case fault.PageNavigated, fault.FrameNotFound, fault.DialogOpen:
		// The movement had that effect: the element is not there to be asked.
	default:
		return pageHoverOut{}, err
	}
	return out, nil
})
