package primitives

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/outrider-run/outrider/primitives/fault"
)

// frameSelectors names a frame by the selectors of its frame elements, outer
// to inner. In JSON it is a string, a list of strings, or null; blank means the
// top document.
type frameSelectors []string

func (f *frameSelectors) UnmarshalJSON(b []byte) error {
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
		*f = frameSelectors{*s}
	}
	return nil
}

// frameView maps a document to the viewport of the tab; inject/geometry.js
// says how.
type frameView struct {
	X    float64   `json:"x"`
	Y    float64   `json:"y"`
	SX   float64   `json:"sx"`
	SY   float64   `json:"sy"`
	KX   float64   `json:"kx,omitempty"`
	KY   float64   `json:"ky,omitempty"`
	Clip *clipRect `json:"clip,omitempty"`
}

type clipRect struct {
	Left   float64 `json:"left"`
	Top    float64 `json:"top"`
	Right  float64 `json:"right"`
	Bottom float64 `json:"bottom"`
}

// frameLink is one step into a frame: the element that shows it, in the frame
// that holds that element.
type frameLink struct {
	parent FrameID
	handle string
	view   *frameView // of parent; nil for the main frame
}

// place is the document in which a call works.
type place struct {
	frame FrameID
	// view is nil in the main frame.
	view  *frameView
	links []frameLink
}

type frameStep struct {
	Handle string    `json:"handle"`
	View   frameView `json:"view"`
}

// enter resolves a chain of frame selectors, same-origin or not, in its own
// process or not. Without selectors it is the main frame and costs nothing.
//
// Errors are frame_not_found and frame_cross_origin, the latter only when the
// element shows a document that the browser gives nobody access to. Evidence
// names the frame selector.
func enter(ctx context.Context, p Page, selectors frameSelectors) (place, error) {
	var at place
	for _, selector := range selectors {
		var step frameStep
		args := map[string]any{"selector": selector, "view": at.view}
		if err := p.Call(ctx, at.frame, "frame_view", args, &step); err != nil {
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
func (at place) into(ctx context.Context, p Page, selector string, step frameStep) (place, error) {
	child, err := p.ChildFrame(ctx, at.frame, step.Handle)
	if err != nil {
		return at, frameFault(err, selector)
	}
	view := step.View
	return place{
		frame: child,
		view:  &view,
		links: append(slices.Clip(at.links), frameLink{at.frame, step.Handle, at.view}),
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
func (at *place) refresh(ctx context.Context, p Page) error {
	for i, link := range at.links {
		var step frameStep
		if err := p.Call(ctx, link.parent, "frame_view", map[string]any{"handle": link.handle, "view": link.view}, &step); err != nil {
			return err
		}
		view := step.View
		if i+1 < len(at.links) {
			at.links[i+1].view = &view
		} else {
			at.view = &view
		}
	}
	return nil
}

// reaches asks every ancestor whether a press at a point of the tab's viewport
// gets into its frame element. occluder describes what is in the way.
func (at place) reaches(ctx context.Context, p Page, x, y float64) (ok bool, occluder json.RawMessage, err error) {
	for _, link := range at.links {
		var hit struct {
			Receives   bool            `json:"receives"`
			OccludedBy json.RawMessage `json:"occluded_by"`
		}
		args := map[string]any{"handle": link.handle, "x": x, "y": y, "view": link.view}
		if err := p.Call(ctx, link.parent, "frame_hit", args, &hit); err != nil {
			return false, nil, err
		}
		if !hit.Receives {
			return false, hit.OccludedBy, nil
		}
	}
	return true, nil, nil
}

// reveal scrolls the ancestors, inner to outer, until part of the innermost
// document, in its own pixels, can be seen, and returns what they performed.
func (at *place) reveal(ctx context.Context, p Page, part clipRect) ([]json.RawMessage, error) {
	var performed []json.RawMessage
	for _, link := range slices.Backward(at.links) {
		var shown struct {
			Performed []json.RawMessage `json:"performed"`
			Part      clipRect          `json:"part"`
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

// callIn asks function fn in the frame that selectors name, with the view that
// frame needs. In the main frame it is one call and nothing else. args gets
// the view as a further member.
func callIn(ctx context.Context, p Page, selectors frameSelectors, args map[string]any, fn string, out any) error {
	at, err := enter(ctx, p, selectors)
	if err != nil {
		return aboutLocator(err, args["locator"])
	}
	if at.view != nil {
		args["view"] = at.view
	}
	return p.Call(ctx, at.frame, fn, args, out)
}

// aboutLocator adds the locator to the evidence of a frame error.
func aboutLocator(err error, loc any) error {
	var e *fault.Error
	if loc == nil || !errors.As(err, &e) || (e.Code != fault.FrameNotFound && e.Code != fault.FrameCrossOrigin) {
		return err
	}
	return e.With("locator", loc)
}

func isFrameFault(code fault.Code) bool {
	return code == fault.FrameNotFound || code == fault.FrameCrossOrigin
}

// placeOf is the place of a frame that is known by its id, from its owner
// elements up to the main frame.
func placeOf(ctx context.Context, p Page, frame FrameID) (place, error) {
	var chain []frameLink
	for at := frame; len(chain) <= maxFrameDepth; {
		parent, handle, ok, err := p.OwnerFrame(ctx, at)
		if err != nil {
			return place{}, err
		}
		if !ok {
			break
		}
		chain = append(chain, frameLink{parent: parent, handle: handle})
		at = parent
	}
	out := place{frame: frame}
	for i := len(chain) - 1; i >= 0; i-- {
		out.links = append(out.links, chain[i])
	}
	return out, out.refresh(ctx, p)
}

// over is what lies over the frames on the way to a point; nil when a press
// gets through.
func (at place) over(ctx context.Context, p Page, x, y float64) (json.RawMessage, error) {
	reached, occluder, err := at.reaches(ctx, p, x, y)
	if err != nil || reached {
		return nil, err
	}
	if isNull(occluder) {
		occluder = json.RawMessage(`{}`)
	}
	return occluder, nil
}

// maxFrameDepth bounds how deep a question follows frames.
const maxFrameDepth = 32
