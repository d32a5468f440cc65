package primitives

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// fidelityTrusted says that events came from the browser's input pipeline, so
// that focus, hover, defaults and isTrusted are those of a real device.
const (
	fidelityTrusted   = "trusted"
	fidelitySynthetic = "synthetic"
)

// coordinate is a number, or a string that JavaScript would read as one. Absent,
// null and blank are no coordinate: an expression that gave nothing must not
// become the corner of the page.
type coordinate struct {
	given bool
	value float64 // NaN for a string that is no number
	raw   json.RawMessage
}

func (c *coordinate) UnmarshalJSON(b []byte) error {
	b = bytes.TrimSpace(b)
	*c = coordinate{raw: bytes.Clone(b)}
	if string(b) == "null" {
		return nil
	}
	if len(b) > 0 && b[0] == '"' {
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		if s = strings.TrimSpace(s); s == "" {
			return nil
		}
		c.given, c.value = true, numberOf(s)
		return nil
	}
	c.given = true
	return json.Unmarshal(b, &c.value)
}

// MarshalJSON returns what was given, for evidence.
func (c coordinate) MarshalJSON() ([]byte, error) {
	if len(c.raw) == 0 {
		return []byte("null"), nil
	}
	return c.raw, nil
}

// numberOf is JavaScript's Number of a trimmed, non-blank string, without its
// binary and octal forms.
func numberOf(s string) float64 {
	if hex, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		if n, err := strconv.ParseUint(hex, 16, 53); err == nil {
			return float64(n)
		}
		return math.NaN()
	}
	if strings.ContainsAny(s, "xXpP_nN") && s != "Infinity" && s != "-Infinity" && s != "+Infinity" {
		return math.NaN() // what Go reads as a number and JavaScript does not
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return math.NaN()
	}
	return f
}

// finite returns the value for the page library, nil when JSON cannot carry it.
func (c coordinate) finite() any {
	if math.IsNaN(c.value) || math.IsInf(c.value, 0) {
		return nil
	}
	return c.value
}

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

// maxFrameDepth bounds how deep a question follows frames.
const maxFrameDepth = 32

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

func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

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

// seenDialog says that a dialog opened while input was handled. The input was
// sent; the page waits for browser.dismiss_dialog.
type seenDialog struct {
	Type string `json:"type"`
}

func dialogOf(p Page) *seenDialog {
	if d, open := p.Dialog(); open {
		return &seenDialog{Type: d.Type}
	}
	return nil
}
