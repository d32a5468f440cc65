package locator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
)

// FrameSelectors names a frame by the selectors of its frame elements, outer
// to inner. In JSON it is a string, a list of strings, or null; blank means the
// top document.
type FrameSelectors []string

func (f *FrameSelectors) UnmarshalJSON(b []byte) error {
	*f = nil
	b = bytes.TrimSpace(b)
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(f))
	}
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	if s != nil && *s != "" {
		*f = FrameSelectors{*s}
	}
	return nil
}

// frameView maps a document to the viewport of the tab; inject/geometry/geometry.js
// says how.
type frameView struct {
	X    float64   `json:"x"`
	Y    float64   `json:"y"`
	SX   float64   `json:"sx"`
	SY   float64   `json:"sy"`
	KX   float64   `json:"kx,omitempty"`
	KY   float64   `json:"ky,omitempty"`
	Clip *ClipRect `json:"clip,omitempty"`
}

type ClipRect struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

// frameLink is one step into a frame: the element that shows it, in the frame
// that holds that element.
type frameLink struct {
	parent primitives.FrameID
	handle string
	view   *frameView // of parent; nil for the main frame
}

// Place is the document in which a call works.
type Place struct {
	Frame primitives.FrameID
	// View is nil in the main frame.
	View *frameView
	// Searching: it stands for all documents of the page, none of which has the element
	// yet.
	Searching bool

	links []frameLink
}

type frameStep struct {
	Handle string    `json:"handle"`
	View   frameView `json:"view"`
}

// Enter resolves a chain of frame selectors, same-origin or not, in its own
// process or not. Without selectors it is the main frame and costs nothing.
//
// Errors are frame_not_found and frame_cross_origin, the latter only when the
// element shows a document that the browser gives nobody access to. Evidence
// names the frame selector.
func Enter(ctx context.Context, p primitives.Page, selectors FrameSelectors) (Place, error) {
	var at Place
	for _, selector := range selectors {
		var step frameStep
		args := map[string]any{"selector": selector, "view": at.View}
		if err := p.Call(ctx, at.Frame, "frame_view", args, &step); err != nil {
			return at, err
		}
		next, err := at.into(ctx, p, selector, step)
		if err != nil {
			return at, err
		}
		at = next
	}
	return at, nil
}

// into follows one resolved step.
func (at Place) into(ctx context.Context, p primitives.Page, selector string, step frameStep) (Place, error) {
	child, err := p.ChildFrame(ctx, at.Frame, step.Handle)
	if err != nil {
		return at, frameFault(err, selector)
	}
	view := step.View
	return Place{
		Frame: child,
		View:  &view,
		links: append(slices.Clip(at.links), frameLink{at.Frame, step.Handle, at.View}),
	}, nil
}

// frameFault keeps codes that say what happened; anything else means that the
// frame cannot be reached.
func frameFault(err error, selector string) error {
	code := fault.CodeOf(err)
	if fault.Universal(code) && code != fault.Internal {
		return err
	}
	if code != fault.FrameNotFound {
		code = fault.FrameCrossOrigin
	}
	e := fault.Translate(code, err, "the frame's document cannot be reached")
	return e.With("frame", selector)
}

// refresh measures the frame elements again, after something has scrolled.
func (at *Place) refresh(ctx context.Context, p primitives.Page) error {
	for i, link := range at.links {
		var step frameStep
		err := p.Call(ctx, link.parent, "frame_view", map[string]any{"handle": link.handle, "view": link.view}, &step)
		if err != nil {
			return err
		}
		view := step.View
		if i+1 < len(at.links) {
			at.links[i+1].view = &view
		} else {
			at.View = &view
		}
	}
	return nil
}

// HitTest evaluates in every ancestor whether a click at a point of the tab's viewport
// gets into its frame element. occluder describes what is in the way.
func (at Place) HitTest(
	ctx context.Context, p primitives.Page, x, y float64,
) (ok bool, occluder json.RawMessage, err error) {
	return at.hitTest(ctx, p, x, y, "")
}

// hitTest is HitTest. With a guard, a click that comes to an ancestor and not to its frame is kept from the page until
// EndGuard.
func (at Place) hitTest(
	ctx context.Context, p primitives.Page, x, y float64, guard string,
) (ok bool, occluder json.RawMessage, err error) {
	for _, link := range at.links {
		var hit struct {
			Receives   bool            `json:"receives"`
			OccludedBy json.RawMessage `json:"occluded_by"`
		}
		args := map[string]any{"handle": link.handle, "x": x, "y": y, "view": link.view}
		if guard != "" {
			args["guard"] = guard
		}
		if err := p.Call(ctx, link.parent, "frame_hit", args, &hit); err != nil {
			return false, nil, err
		}
		if !hit.Receives {
			return false, hit.OccludedBy, nil
		}
	}
	return true, nil, nil
}

// Reveal scrolls the ancestors, inner to outer, until part of the innermost
// document, in its own pixels, can be seen, and returns what they performed.
func (at *Place) Reveal(ctx context.Context, p primitives.Page, part ClipRect) ([]json.RawMessage, error) {
	var performed []json.RawMessage
	for _, link := range slices.Backward(at.links) {
		var shown struct {
			Performed []json.RawMessage `json:"performed"`
			Part      ClipRect          `json:"part"`
		}
		// An ancestor scrolls within its own viewport; the next one out
		// brings that into view in turn.
		args := map[string]any{"handle": link.handle, "part": part}
		if err := p.Call(ctx, link.parent, "frame_reveal", args, &shown); err != nil {
			return performed, err
		}
		performed = append(performed, shown.Performed...)
		part = shown.Part
	}
	return performed, at.refresh(ctx, p)
}

// CallIn calls function fn in the frame that selectors name, with the view that
// frame needs. In the main frame it is one call and nothing else. args gets
// the view as a further member.
func CallIn(
	ctx context.Context, p primitives.Page, selectors FrameSelectors, args map[string]any, fn string, out any,
) error {
	at, err := Enter(ctx, p, selectors)
	if err != nil {
		return aboutLocator(err, args["locator"])
	}
	if at.View != nil {
		args["view"] = at.View
	}
	return p.Call(ctx, at.Frame, fn, args, out)
}

// aboutLocator adds the locator to the evidence of a frame error.
func aboutLocator(err error, loc any) error {
	var e *fault.Error
	if loc == nil || !errors.As(err, &e) || (e.Code != fault.FrameNotFound && e.Code != fault.FrameCrossOrigin) {
		return err
	}
	return e.With("locator", loc)
}

func IsFrameFault(code fault.Code) bool {
	return code == fault.FrameNotFound || code == fault.FrameCrossOrigin
}

// PlaceOfFrame is the place of a frame that is known by its id, from its owner
// elements up to the main frame.
func PlaceOfFrame(ctx context.Context, p primitives.Page, frame primitives.FrameID) (Place, error) {
	var chain []frameLink
	for at := frame; len(chain) <= MaxFrameDepth; {
		parent, handle, ok, err := p.OwnerFrame(ctx, at)
		if err != nil {
			return Place{}, err
		}
		if !ok {
			break
		}
		chain = append(chain, frameLink{parent: parent, handle: handle})
		at = parent
	}
	out := Place{Frame: frame}
	for i := len(chain) - 1; i >= 0; i-- {
		out.links = append(out.links, chain[i])
	}
	return out, out.refresh(ctx, p)
}

// Covering is the element over the frames on the way to a point; nil when a click
// gets through. With a guard, ancestors keep a click that comes to them from the page until EndGuard.
func (at Place) Covering(
	ctx context.Context, p primitives.Page, x, y float64, guard string,
) (json.RawMessage, error) {
	reached, occluder, err := at.hitTest(ctx, p, x, y, guard)
	if err != nil || reached {
		return nil, err
	}
	if arguments.IsNull(occluder) {
		occluder = json.RawMessage(`{}`)
	}
	return occluder, nil
}

// Depth is how many frames the document is in.
func (at Place) Depth() int { return len(at.links) }

// EndGuard ends the guard of Covering in one of the ancestors, the outermost first. It reports whether that has kept a
// click from the page, and what the click would have hit.
func (at Place) EndGuard(
	ctx context.Context, p primitives.Page, guard string, i int,
) (kept bool, occluder json.RawMessage) {
	var seen struct {
		Arrived    *bool           `json:"arrived"`
		OccludedBy json.RawMessage `json:"occluded_by"`
	}
	args := map[string]any{"id": guard, "wait": false, "view": at.links[i].view}
	err := p.Call(ctx, at.links[i].parent, "click_verdict", args, &seen)
	return err == nil && seen.Arrived != nil, seen.OccludedBy
}

// MaxFrameDepth bounds how deep a page call follows frames.
const MaxFrameDepth = 32
