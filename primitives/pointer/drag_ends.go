package pointer

import (
	"context"
	"encoding/json"
	"math"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// draggedEnd is one end of a drag, ready to be pressed or released at.
type draggedEnd struct {
	point  primitives.Point
	seen   any                   // for the diagnostics
	target actionability.ActedOn // null where nothing is at a point
	frame  primitives.FrameID    // where the element is; the main frame for a point
	path   []primitives.Point    // that begins here
}

// maxDragRounds is how often ends that hide each other are brought into view.
const maxDragRounds = 3

// ends finds both ends at once, before anything is pressed. Ends that can be
// used as they are cost one page call each. Others are waited for like the target
// of a click, until they are drawn, at rest, enabled and get the press; what is
// outside the viewport is scrolled in, unless the other end is a point, which
// would come to lie elsewhere.
//
// Both have to be in the viewport at once: the pointer does not scroll on its
// way. Otherwise the error is target_not_actionable with the reason apart.
func (in pointerDragIn) ends(
	ctx context.Context, p primitives.Page, view dragViewport,
) (_ [2]draggedEnd, scrolled bool, _ error) {
	list := [2]*dragEnd{&in.From, &in.To}
	names := [2]string{"from", "to"}
	var out [2]draggedEnd
	for i, e := range list {
		if err := e.checkPoint(p, names[i], view); err != nil {
			return out, false, err
		}
	}
	var targets [2]actionability.Resolved
	requirements := func() (int, error) {
		for i, e := range list {
			var err error
			out[i], err = e.resolve(ctx, p, names[i], targets[i])
			if err != nil {
				return i, err
			}
		}
		return 0, nil
	}
	start := time.Now()
	timeout := actionability.Timeout(ctx, in.TimeoutMS)
	left := func() time.Duration { return max(timeout-time.Since(start), 0) }
	at, first := requirements()
	final := func(err error) bool { return err == nil || !list[at].named || !mayBecomeDraggable(err) }
	if final(first) || primitives.QuirksOf(p).Has(quirks.DragEndsAsTheyAre) {
		return out, false, first
	}
	resolveEnd := actionability.Requirements{Enabled: true, Still: in.From.point || in.To.point}
	for round := 0; ; round++ {
		for n := range list {
			i := (n + round) % 2 // the one that was shown last may have pushed the other out
			if !list[i].named {
				continue
			}
			var reached error
			targets[i], reached = actionability.Resolve(ctx, p, list[i].locator, resolveEnd, left(), false)
			if reached != nil {
				f := fault.From(aboutEnd(reached, names[i], list[i].raw))
				found, ok := fault.From(first).Evidence["actionability"]
				if ok && i == at && f.Code == fault.TargetNotActionable {
					f = f.With("actionability", found)
				}
				return out, true, f
			}
		}
		var err error
		at, err = requirements()
		if final(err) {
			return out, true, err
		}
		outside := fault.From(err).Evidence["reason"] == "outside"
		if outside && !resolveEnd.Still && targets[0].At.Frame == targets[1].At.Frame {
			handles := []string{targets[0].Handle, targets[1].Handle}
			if e := p.Call(ctx, targets[0].At.Frame, "drag_both", map[string]any{"handles": handles}, nil); e == nil {
				at, err = requirements()
				if final(err) {
					return out, true, err
				}
				outside = fault.From(err).Evidence["reason"] == "outside"
			}
		}
		if outside && round+1 >= maxDragRounds {
			return out, true, fault.New(
				fault.TargetNotActionable,
				"the ends of the drag are not in the viewport at the same time; nothing scrolls during a drag",
			).With("reason", "apart").With(names[at], list[at].raw).With("timeout_ms", timeout.Milliseconds()).
				Next("drag in parts, or make the viewport larger with emulate.viewport")
		}
		if left() <= 0 {
			return out, true, actionability.WithTimeout(err, timeout)
		}
		if !primitives.Pause(ctx, locator.FrameRetry) {
			return out, true, ctx.Err()
		}
	}
}

// mayBecomeDraggable reports whether waiting or scrolling can help.
func mayBecomeDraggable(err error) bool {
	code := fault.CodeOf(err)
	if fault.From(err).Evidence["reason"] == "position" {
		return false // the element does not reach there
	}
	return code == fault.TargetNotFound || code == fault.TargetNotActionable || code == fault.PageNavigated ||
		locator.IsFrameFault(code)
}

// resolve probes an end as it is. which names it in evidence. target is its
// resolved target where it was found before.
func (e dragEnd) resolve(
	ctx context.Context, p primitives.Page, which string, target actionability.Resolved,
) (draggedEnd, error) {
	if e.point {
		return e.resolvePoint(ctx, p)
	}
	if !e.named {
		return draggedEnd{}, fault.New(fault.TargetNotFound, "%s names neither a point nor an element", which).
			With(which, e.raw)
	}
	place, err := e.locator.Enter(ctx, p)
	if err != nil {
		return draggedEnd{}, aboutEnd(err, which, e.raw)
	}
	args := map[string]any{"locator": e.locator}
	if e.position != nil {
		args["position"] = e.position
	}
	if len(e.path) > 0 {
		args["path"] = e.path
	}
	if target.Handle != "" && target.At.Frame == place.Frame {
		args["handle"] = target.Handle
	}
	if place.View != nil {
		args["view"] = place.View
	}
	var got struct {
		Seen   json.RawMessage       `json:"seen"`
		Target actionability.ActedOn `json:"target"`
		Path   []primitives.Point    `json:"path"`
	}
	if err := e.locator.EvaluateIn(ctx, p, place.Frame, "drag_end", args, &got); err != nil {
		return draggedEnd{}, aboutEnd(err, which, e.raw)
	}
	var seen struct {
		Point primitives.Point `json:"point"`
	}
	if err := json.Unmarshal(got.Seen, &seen); err != nil {
		return draggedEnd{}, fault.Translate(fault.Internal, err, "the page library gave another shape")
	}
	reached, occluder, err := place.HitTest(ctx, p, seen.Point.X, seen.Point.Y)
	if err != nil {
		return draggedEnd{}, err
	}
	if !reached {
		return draggedEnd{}, fault.New(fault.TargetNotActionable, "the frame is covered where %s is", which).
			With(which, e.raw).With("reason", "covered").
			With("actionability", map[string]any{"clickable": false, "receives_events": false, "occluded_by": occluder})
	}
	return draggedEnd{
		point:  seen.Point,
		seen:   got.Seen,
		target: got.Target,
		frame:  place.Frame,
		path:   got.Path,
	}, nil
}

// checkPoint refuses a point that cannot be meant; an end that is no point
// passes.
func (e dragEnd) checkPoint(p primitives.Page, which string, view dragViewport) error {
	if !e.point {
		return nil
	}
	if !e.x.Given || !e.y.Given {
		return fault.New(fault.MissingCoordinates, "x and y of %s are both needed", which).
			With(which, map[string]any{"x": e.x, "y": e.y}).With("x", e.x).With("y", e.y)
	}
	if err := actionability.CheckNumbers(p, e.x, e.y); err != nil {
		return fault.From(err).With(which, e.raw)
	}
	at := primitives.Point{X: e.x.Value, Y: e.y.Value}
	inside := at.X >= 0 && at.Y >= 0 && at.X <= view.Width && at.Y <= view.Height
	if !inside || math.IsInf(at.X, 0) || math.IsInf(at.Y, 0) {
		return fault.New(fault.PointOutOfViewport, "%s is outside the viewport", which).
			With(which, e.raw).With("x", e.x).With("y", e.y).With("viewport", map[string]float64{
			"width":  view.Width,
			"height": view.Height,
		})
	}
	return nil
}

func (e dragEnd) resolvePoint(ctx context.Context, p primitives.Page) (draggedEnd, error) {
	a, err := actionability.At(ctx, p, e.x, e.y)
	if err != nil {
		return draggedEnd{}, err
	}
	at := primitives.Point{X: e.x.Value, Y: e.y.Value}
	out := draggedEnd{point: at, seen: dragCoordinates{"coordinates", e.raw, at}, target: briefTarget(a.Target)}
	for _, point := range e.path {
		out.path = append(out.path, primitives.Point(point))
	}
	return out, nil
}

// insideViewport refuses a path that leaves the viewport: the pointer does not.
func insideViewport(path []primitives.Point, view dragViewport) error {
	for i, at := range path {
		if at.X < 0 || at.Y < 0 || at.X > view.Width || at.Y > view.Height {
			return fault.New(fault.PointOutOfViewport, "a point of the path is outside the viewport").
				With("path", i).With("x", at.X).With("y", at.Y).With("viewport", map[string]float64{
				"width":  view.Width,
				"height": view.Height,
			})
		}
	}
	return nil
}

// briefTarget is actedTarget for an element that pointer_target
// described.
func briefTarget(pressed json.RawMessage) actionability.ActedOn {
	var in struct {
		TagName string          `json:"tag_name"`
		Role    *string         `json:"computed_role"`
		Name    string          `json:"name"`
		Near    string          `json:"near"`
		Box     json.RawMessage `json:"bounding_box"`
		Point   json.RawMessage `json:"point"`
	}
	if arguments.IsNull(pressed) || json.Unmarshal(pressed, &in) != nil {
		return nil
	}
	brief := map[string]any{
		"tag_name":     in.TagName,
		"role":         in.Role,
		"name":         in.Name,
		"bounding_box": in.Box,
		"point":        in.Point,
	}
	if in.Near != "" {
		brief["near"] = in.Near
	}
	out, err := json.Marshal(brief)
	if err != nil {
		return nil
	}
	return out
}
