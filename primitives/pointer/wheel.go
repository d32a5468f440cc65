package pointer

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
)

type pointerWheelIn struct {
	X      *float64 `json:"x"`
	Y      *float64 `json:"y"`
	DeltaX float64  `json:"delta_x"`
	DeltaY float64  `json:"delta_y"`
	// Screens is added to DeltaY, in heights of the viewport.
	Screens float64 `json:"screens"`
}

type pointerWheelOut struct {
	X        float64                  `json:"x"`
	Y        float64                  `json:"y"`
	DeltaX   float64                  `json:"delta_x"`
	DeltaY   float64                  `json:"delta_y"`
	Fidelity string                   `json:"fidelity"`
	Target   actionability.ActedOn    `json:"target"` // what is at the point; null where nothing is
	Frame    *actionability.Frame     `json:"frame,omitempty"`
	Dialog   *primitives.OpenedDialog `json:"dialog,omitempty"`
}

type wheelViewport struct {
	Width            float64 `json:"width"`
	Height           float64 `json:"height"`
	DevicePixelRatio float64 `json:"device_pixel_ratio"`
	ScrollX          float64 `json:"scroll_x"`
	ScrollY          float64 `json:"scroll_y"`
}

// pointerWheel turns the wheel at a point: the page gets a wheel event, and
// unless it prevents that, what is scrollable there moves. viewport.scroll moves
// it for certain and says how far.
var pointerWheel = primitives.Define("pointer.wheel", func(
	ctx context.Context, p primitives.Page, in pointerWheelIn,
) (pointerWheelOut, error) {
	if (in.X == nil) != (in.Y == nil) {
		return pointerWheelOut{}, fault.New(fault.MissingCoordinates, "x and y go together")
	}
	p = primitives.TrustedInput(p) // upstream has no wheel to be like
	var page struct {
		Viewport wheelViewport `json:"viewport"`
	}
	if err := p.Call(ctx, "", "viewport_info", nil, &page); err != nil {
		return pointerWheelOut{}, err
	}
	v := page.Viewport
	out := pointerWheelOut{
		X:        v.Width / 2,
		Y:        v.Height / 2,
		DeltaX:   in.DeltaX,
		DeltaY:   in.DeltaY + in.Screens*v.Height,
		Fidelity: primitives.FidelityTrusted,
	}
	if in.X != nil {
		out.X, out.Y = *in.X, *in.Y
		if out.X < 0 || out.Y < 0 || out.X >= v.Width || out.Y >= v.Height {
			return pointerWheelOut{}, fault.New(fault.PointOutOfViewport, "the point is outside the viewport").
				With("x", out.X).With("y", out.Y).With("viewport", v)
		}
	}
	at := func(v float64) arguments.Coordinate { return arguments.Coordinate{Given: true, Value: v} }
	a, err := actionability.AtReached(ctx, p, at(out.X), at(out.Y))
	if err != nil {
		return pointerWheelOut{}, err
	}
	out.Target, out.Frame = a.Target, a.Frame
	if err := p.Mouse(ctx, primitives.MouseEvent{
		Type:   primitives.MouseWheel,
		X:      out.X,
		Y:      out.Y,
		DeltaX: out.DeltaX,
		DeltaY: out.DeltaY,
	}); err != nil {
		return pointerWheelOut{}, err
	}
	out.Dialog = primitives.DialogOpenOn(p)
	return out, nil
})
