package actionability

import (
	"context"
	"encoding/json"
	"math"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// ActionPoint is a point that was checked, and what a click there would hit.
type ActionPoint struct {
	X, Y    float64
	Target  json.RawMessage // description of the element, in viewport pixels
	Frame   *Frame
	arrival *pointerArrival // of a frame that may have a process of its own; nil for any other
}

// Frame is the frame the element is in; nil in the main frame.
type Frame struct {
	URL         string `json:"url"`
	CrossOrigin bool   `json:"cross_origin"`
}

// hitAnswer is the answer of the page function pointer_target.
type hitAnswer struct {
	Target   json.RawMessage `json:"target"`
	Viewport json.RawMessage `json:"viewport"`
	Frame    *Frame          `json:"frame"`
	Descend  string          `json:"descend"`
	Watched  bool            `json:"watched"`
	View     json.RawMessage `json:"view"`
}

// At checks the point and describes what is there before anything is
// clicked: afterwards it may be detached. It costs one round trip, and two more for
// each frame of another origin on the way.
//
// Where input is synthetic, frames and shadow roots are not entered: the events do not
// get there either.
//
// It fails with missing_coordinates, invalid_input and point_out_of_viewport. Nothing at the
// point, as on the outermost edge, is not a failure here: Target is nil.
func At(ctx context.Context, p primitives.Page, x, y arguments.Coordinate) (ActionPoint, error) {
	return at(ctx, p, x, y, "")
}

// at is At, with an id under which the innermost document watches for the pointer.
func at(ctx context.Context, p primitives.Page, x, y arguments.Coordinate, watch string) (ActionPoint, error) {
	if !x.Given || !y.Given {
		return ActionPoint{}, fault.New(fault.MissingCoordinates, "x and y are both needed").With("x", x).With("y", y).
			Next("an expression that gave nothing becomes a missing argument; check the step it reads")
	}
	if err := CheckNumbers(p, x, y); err != nil {
		return ActionPoint{}, err
	}
	args := map[string]any{"x": x.Finite(), "y": y.Finite()}
	if primitives.FidelityOf(p) == primitives.FidelitySynthetic {
		args["flat"] = true
	}
	var frame primitives.FrameID
	var shown *Frame
	var last hitAnswer
	var lastFrame primitives.FrameID // where last was said
	for depth := 0; ; depth++ {
		var a hitAnswer
		if err := p.Call(ctx, frame, "pointer_target", args, &a); err != nil {
			if depth > 0 && fault.CodeOf(err) != fault.Timeout && fault.CodeOf(err) != fault.Cancelled {
				break // a frame that went away or does not answer: its element is the target
			}
			if f := fault.From(err); f.Code == fault.PointOutOfViewport {
				return ActionPoint{}, f.With("x", x).With("y", y)
			}
			return ActionPoint{}, err
		}
		if a.Frame != nil {
			shown = a.Frame
			shown.CrossOrigin = shown.CrossOrigin || depth > 0
		}
		if depth > 0 && arguments.IsNull(a.Target) {
			break // an empty document: the click reaches the frame
		}
		last, lastFrame = a, frame
		if a.Descend == "" || depth == locator.MaxFrameDepth {
			break
		}
		child, err := p.ChildFrame(ctx, frame, a.Descend)
		if err != nil {
			break
		}
		frame = child
		args = map[string]any{"x": x.Finite(), "y": y.Finite(), "view": a.View, "viewport": a.Viewport, "inside": true}
		if watch != "" {
			args["watch"] = watch
		}
		for _, f := range p.Frames() {
			if f.ID == child {
				shown = &Frame{URL: f.URL, CrossOrigin: true}
			}
		}
	}
	out := ActionPoint{X: x.Value, Y: y.Value, Frame: shown}
	if last.Watched {
		out.arrival = &pointerArrival{page: p, frame: lastFrame, id: watch}
	}
	if !arguments.IsNull(last.Target) {
		out.Target = last.Target
	}
	return out, nil
}

// CheckNumbers fails with invalid_input for a coordinate that is a text and no number. The extension takes it for
// a point outside the viewport.
func CheckNumbers(p primitives.Page, x, y arguments.Coordinate) error {
	if primitives.QuirksOf(p).Has(quirks.SyntheticInput) {
		return nil
	}
	for _, one := range []struct {
		name  string
		value arguments.Coordinate
	}{{"x", x}, {"y", y}} {
		if one.value.Given && math.IsNaN(one.value.Value) {
			return fault.New(fault.InvalidInput, "%s is a number of CSS pixels", one.name).
				With("path", "/"+one.name).With("x", x).With("y", y)
		}
	}
	return nil
}

// NothingThere is the failure of a click at a point without an element.
func NothingThere(x, y arguments.Coordinate) error {
	return fault.New(fault.TargetNotFound, "no element is at the point").With("x", x).With("y", y)
}

// ButtonBits are the DOM bits of the held buttons.
var ButtonBits = map[string]int{"left": 1, "right": 2, "middle": 4}

// ClickEvents moves to the point and clicks and releases count times. They are
// sent back to back: each awaited one costs a frame.
func ClickEvents(a ActionPoint, button string, count int, mods primitives.Modifiers) []primitives.MouseEvent {
	events := []primitives.MouseEvent{{Type: primitives.MouseMoved, X: a.X, Y: a.Y, Modifiers: mods}}
	for n := 1; n <= count; n++ {
		press := primitives.MouseEvent{
			Type:       primitives.MousePressed,
			X:          a.X,
			Y:          a.Y,
			Button:     button,
			Buttons:    ButtonBits[button],
			ClickCount: n,
			Modifiers:  mods,
		}
		release := press
		release.Type, release.Buttons = primitives.MouseReleased, 0
		events = append(events, press, release)
	}
	return events
}

// sendClick sends events while mods are held as real keys. The keys are
// released whatever happens. Where input is synthetic, modifiers are flags of the
// events and nothing else.
func sendClick(
	ctx context.Context, p primitives.Page, events []primitives.MouseEvent, mods primitives.Modifiers,
) error {
	down, up := keys.PressModifiers(mods)
	if len(down) > 0 && primitives.FidelityOf(p) == primitives.FidelityTrusted {
		defer keys.ReleaseKeys(ctx, p, up)
		if err := p.Keys(ctx, down...); err != nil {
			return err
		}
	}
	return p.Mouse(ctx, events...)
}
