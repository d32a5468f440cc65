package primitives

import "context"

type pointerMoveIn struct {
	X coordinate `json:"x"`
	Y coordinate `json:"y"`
	// DurationMS is accepted and ignored, as upstream does.
	DurationMS int `json:"duration_ms"`
}

type pointerMoveOut struct {
	X        float64     `json:"x"`
	Y        float64     `json:"y"`
	Fidelity string      `json:"fidelity"`
	Dialog   *seenDialog `json:"dialog,omitempty"`
}

// pointerMove sends a real movement, so hover styles and hover-armed controls
// react; upstream only moves a drawn pointer.
var pointerMove = Define("pointer.move", func(ctx context.Context, p Page, in pointerMoveIn) (pointerMoveOut, error) {
	a, err := takeAim(ctx, p, in.X, in.Y)
	if err != nil {
		return pointerMoveOut{}, err
	}
	if err := p.Mouse(ctx, MouseEvent{Type: MouseMoved, X: a.X, Y: a.Y}); err != nil {
		return pointerMoveOut{}, err
	}
	return pointerMoveOut{X: a.X, Y: a.Y, Fidelity: fidelityTrusted, Dialog: dialogOf(p)}, nil
})
