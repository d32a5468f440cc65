package primitives

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

// aim is a point that was checked, and what a press there would reach.
type aim struct {
	X, Y   float64
	Target json.RawMessage // description of the element, in viewport pixels
	Frame  *aimFrame
	frame  FrameID
	before *pressCount // of a frame that has just come; nil for any other
}

// aimFrame is the frame the element is in; nil in the main frame.
type aimFrame struct {
	URL         string `json:"url"`
	CrossOrigin bool   `json:"cross_origin"`
}

// hitAnswer is what the page function pointer_target answers.
type hitAnswer struct {
	Target   json.RawMessage `json:"target"`
	Viewport json.RawMessage `json:"viewport"`
	Frame    *aimFrame       `json:"frame"`
	Descend  string          `json:"descend"`
	Count    *pressCount     `json:"count"`
	View     json.RawMessage `json:"view"`
}

// takeAim checks the point and describes what is there before anything is
// pressed: afterwards it may be gone. It costs one round trip, and two more for
// each frame of another origin on the way.
//
// Where input is synthetic, frames and shadow roots are not entered: the events do not
// get there either.
//
// It fails with missing_coordinates and point_out_of_viewport. Nothing at the
// point, as on the outermost edge, is not a failure here: Target is nil.
func takeAim(ctx context.Context, p Page, x, y coordinate) (aim, error) {
	if !x.given || !y.given {
		return aim{}, fault.New(fault.MissingCoordinates, "x and y are both needed").With("x", x).With("y", y).
			Next("an expression that gave nothing becomes a missing argument; check the step it reads")
	}
	args := map[string]any{"x": x.finite(), "y": y.finite()}
	if fidelityOf(p) == fidelitySynthetic {
		args["flat"] = true
	}
	var frame FrameID
	var at *aimFrame
	var last hitAnswer
	var seenIn FrameID // where last was said
	for depth := 0; ; depth++ {
		var a hitAnswer
		if err := p.Call(ctx, frame, "pointer_target", args, &a); err != nil {
			if depth > 0 && fault.CodeOf(err) != fault.Timeout && fault.CodeOf(err) != fault.Cancelled {
				break // a frame that went away or does not answer: its element is the target
			}
			if f := fault.From(err); f.Code == fault.PointOutOfViewport {
				return aim{}, f.With("x", x).With("y", y)
			}
			return aim{}, err
		}
		if a.Frame != nil {
			at = a.Frame
			at.CrossOrigin = at.CrossOrigin || depth > 0
		}
		if depth > 0 && isNull(a.Target) {
			break // an empty document: the press reaches the frame
		}
		last, seenIn = a, frame
		if a.Descend == "" || depth == maxFrameDepth {
			break
		}
		child, err := p.ChildFrame(ctx, frame, a.Descend)
		if err != nil {
			break
		}
		frame = child
		args = map[string]any{"x": x.finite(), "y": y.finite(), "view": a.View, "viewport": a.Viewport, "inside": true}
		for _, f := range p.Frames() {
			if f.ID == child {
				at = &aimFrame{URL: f.URL, CrossOrigin: true}
			}
		}
	}
	out := aim{X: x.value, Y: y.value, Frame: at, frame: seenIn}
	if last.Count != nil && last.Count.Young {
		out.before = last.Count
	}
	if !isNull(last.Target) {
		out.Target = last.Target
	}
	return out, nil
}

// nothingThere is the failure of a press at a point without an element.
func nothingThere(x, y coordinate) error {
	return fault.New(fault.TargetNotFound, "no element is at the point").With("x", x).With("y", y)
}

// buttonBits are the DOM bits of the held buttons.
var buttonBits = map[string]int{"left": 1, "right": 2, "middle": 4}

// clickEvents moves to the point and presses and releases count times. They are
// sent back to back: each awaited one costs a frame.
func clickEvents(a aim, button string, count int, mods Modifiers) []MouseEvent {
	events := []MouseEvent{{Type: MouseMoved, X: a.X, Y: a.Y, Modifiers: mods}}
	for n := 1; n <= count; n++ {
		press := MouseEvent{Type: MousePressed, X: a.X, Y: a.Y, Button: button, Buttons: buttonBits[button], ClickCount: n, Modifiers: mods}
		release := press
		release.Type, release.Buttons = MouseReleased, 0
		events = append(events, press, release)
	}
	return events
}

// sendClick sends events while mods are held as real keys. The keys are
// released whatever happens. Where input is synthetic, modifiers are flags of the
// events and nothing else.
func sendClick(ctx context.Context, p Page, events []MouseEvent, mods Modifiers) error {
	down, up := holdModifiers(mods)
	if len(down) > 0 && fidelityOf(p) == fidelityTrusted {
		defer releaseKeys(ctx, p, up)
		if err := p.Keys(ctx, down...); err != nil {
			return err
		}
	}
	return p.Mouse(ctx, events...)
}
