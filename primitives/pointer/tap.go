package pointer

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
)

type pointerTapIn struct {
	actionability.Target
}

type pointerTapOut struct {
	Tapped bool `json:"tapped"`
	pressed
}

// pointerTap touches with one finger, as on a phone: the page gets touch and pointer events of a touch, and then
// the click that the browser makes of them, unless the page prevents it.
var pointerTap = primitives.Define("pointer.tap", func(
	ctx context.Context, p primitives.Page, in pointerTapIn,
) (pointerTapOut, error) {
	p = primitives.TrustedInput(p) // upstream has no touch to be like
	out, err := press(ctx, p, in.Target, touch)
	return pointerTapOut{err == nil, out}, err
})

func touch(a actionability.ActionPoint) []primitives.MouseEvent {
	return []primitives.MouseEvent{{Type: primitives.Touched, X: a.X, Y: a.Y}}
}
