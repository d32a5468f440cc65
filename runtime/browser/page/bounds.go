package page

import (
	"context"
	"errors"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// Bounded calls (primitives.WithBounds) touch documents of certain origins only. A page call
// carries the origin that was admitted to the document, which compares it before it does
// anything: no navigation comes between the check and the call. Input goes to whatever the
// browser finds, so it is checked as late as can be.

// maxAdmitted bounds how often a document that is replaced is asked again.
const maxAdmitted = 5

// Admit says why a bounded context may not touch the document of a frame, nil when it may.
func (p *Page) Admit(ctx context.Context, frame primitives.FrameID) error {
	if primitives.BoundsOf(ctx) == nil {
		return nil
	}
	for range maxAdmitted {
		at, err := p.resolveFrame(ctx, frame)
		if fault.CodeOf(err) == fault.DialogOpen {
			return p.admitBehindDialog(ctx, err)
		}
		if err != nil {
			return cdp.Explain(err, "finding the frame")
		}
		_, err = p.admit(ctx, at)
		if !errors.Is(err, errStale) {
			return err
		}
	}
	return fault.New(fault.PageNavigated, "the document was replaced again and again")
}

// admitBehindDialog judges the page by what was known of it before a dialog opened, else by
// the address of its document: no script runs meanwhile.
func (p *Page) admitBehindDialog(ctx context.Context, open error) error {
	p.mu.Lock()
	f := p.frames[p.main]
	p.mu.Unlock()
	if f == nil {
		return open
	}
	bounds := primitives.BoundsOf(ctx)
	if o := f.document.Origin(); o != nil {
		origin, blank := effective(*o, f.failed)
		if blank {
			return nil
		}
		return bounds.Refuses(origin)
	}
	return bounds.Refuses(originOfAddress(f.url))
}

// admit checks the document of a resolved frame, and that of the page around it. It returns
// what a call has to find as the origin there, "" for a context without bounds.
func (p *Page) admit(ctx context.Context, at resolvedFrame) (expected string, err error) {
	bounds := primitives.BoundsOf(ctx)
	if bounds == nil {
		return "", nil
	}
	p.mu.Lock()
	main := p.main
	p.mu.Unlock()
	if at.id != main {
		top, err := p.resolveFrame(ctx, main)
		if err != nil {
			return "", err
		}
		if _, err := p.admit(ctx, top); err != nil {
			return "", err
		}
	}
	o, err := p.originAt(ctx, at)
	if err != nil {
		return "", err
	}
	return o.Origin, p.judge(ctx, bounds, at, *o)
}

// judge reports whether a document of an origin is one of the bounds.
//
// A document without an origin of its own counts as that of the frame around it, which has
// made it; one that another process shows was made by somebody else. An empty page is
// nobody's.
func (p *Page) judge(ctx context.Context, bounds primitives.Bounds, at resolvedFrame, o world.Origin) error {
	p.mu.Lock()
	f, main := p.frames[at.id], p.main
	var parent primitives.FrameID
	failed, elsewhere := "", false
	if f != nil {
		parent, failed = f.parent, f.failed
		if around := p.frames[parent]; around != nil {
			elsewhere = around.session != f.session
		}
	}
	p.mu.Unlock()
	origin, blank := effective(o, failed)
	switch {
	case at.id == main && blank:
		return nil
	case at.id == main || origin != "null":
		return bounds.Refuses(origin)
	case elsewhere && !blank:
		return bounds.Refuses(origin)
	}
	around, err := p.resolveFrame(ctx, parent)
	if err != nil {
		return err
	}
	_, err = p.admit(ctx, around)
	return err
}

// effective is the origin that a document is judged by. One in a sandbox, or of a file, is
// that of its address; an error page is that of what could not be loaded. blank says that
// it is an empty document that nobody has given an origin.
func effective(o world.Origin, failed string) (origin string, blank bool) {
	switch {
	case o.Scheme == "chrome-error:":
		return originOfAddress(failed), false
	case o.Origin != "null":
		return o.Origin, false
	case o.Scheme == "http:" || o.Scheme == "https:":
		return o.Scheme + "//" + o.Host, false
	case o.Scheme == "file:":
		return "file://", false
	}
	return "null", o.Scheme == "about:"
}

// stillAt reports whether a document that was admitted is the one that is there, also after what
// was asked of its frame since.
func (p *Page) stillAt(ctx context.Context, at resolvedFrame) error {
	bounds := primitives.BoundsOf(ctx)
	if bounds == nil {
		return nil
	}
	answer, err := p.invoke(ctx, at, world.OriginOf)
	if errors.Is(err, errStale) {
		return fault.New(fault.PageNavigated, "the document was replaced during the call")
	}
	var o world.Origin
	if err == nil {
		err = world.Decode("origin", answer, &o)
	}
	if err != nil {
		return err
	}
	return p.judge(ctx, bounds, at, o)
}

// originAt is whose document the frame shows: asked once for each.
func (p *Page) originAt(ctx context.Context, at resolvedFrame) (*world.Origin, error) {
	if o := at.document.Origin(); o != nil {
		return o, nil
	}
	answer, err := p.invoke(ctx, at, world.OriginOf)
	if err != nil {
		return nil, err
	}
	o := &world.Origin{}
	if err := world.Decode("origin", answer, o); err != nil {
		return nil, err
	}
	at.document.SetOrigin(o)
	return o, nil
}

// strangers reports whether the tab shows a frame that a bounded context may not touch. One
// that does not answer is one.
func (p *Page) strangers(ctx context.Context) (bool, error) {
	for _, f := range p.childFrames() {
		err := p.Admit(ctx, f.ID)
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		if code := fault.CodeOf(err); err != nil && code != fault.FrameNotFound && code != fault.PageNavigated {
			return true, nil
		}
	}
	return false, nil
}

// childFrames are the frames below the main one.
func (p *Page) childFrames() []primitives.FrameInfo {
	frames := p.Frames()
	return frames[min(1, len(frames)):]
}

// admitAll is Admit for what concerns every frame of the tab, such as a picture of it.
func (p *Page) admitAll(ctx context.Context) error {
	if primitives.BoundsOf(ctx) == nil {
		return nil
	}
	if err := p.Admit(ctx, ""); err != nil {
		return err
	}
	for _, f := range p.childFrames() {
		err := p.Admit(ctx, f.ID)
		if code := fault.CodeOf(err); err != nil && code != fault.FrameNotFound && code != fault.PageNavigated {
			return err
		}
	}
	return nil
}

// admitPointer checks the frames that pointer events will reach, but for mere movements.
func (p *Page) admitPointer(ctx context.Context, events []primitives.MouseEvent) error {
	if primitives.BoundsOf(ctx) == nil {
		return nil
	}
	if err := p.Admit(ctx, ""); err != nil {
		return err
	}
	if some, err := p.strangers(ctx); err != nil || !some {
		return err
	}
	var last *primitives.MouseEvent
	for i, e := range events {
		if e.Type == primitives.MouseMoved || last != nil && last.X == e.X && last.Y == e.Y {
			continue
		}
		last = &events[i]
		if err := p.follow(ctx, "pointer_target", map[string]any{"x": e.X, "y": e.Y}); err != nil {
			return err
		}
	}
	return nil
}

// admitFocus checks the frame that has the focus, to which keys and text go.
func (p *Page) admitFocus(ctx context.Context) error {
	if primitives.BoundsOf(ctx) == nil {
		return nil
	}
	if err := p.Admit(ctx, ""); err != nil {
		return err
	}
	if some, err := p.strangers(ctx); err != nil || !some {
		return err
	}
	return p.follow(ctx, "focused_target", map[string]any{})
}

// admitKeys is admitFocus for key events. Keys that are let go reach whoever has the focus by
// now: a page must not find them pressed for ever.
func (p *Page) admitKeys(ctx context.Context, events []primitives.KeyEvent) error {
	for _, e := range events {
		if e.Type != primitives.KeyUp {
			return p.admitFocus(ctx)
		}
	}
	return nil
}

// maxFollowedFrames bounds how deep follow goes.
const maxFollowedFrames = 32

// follow asks a function of the page library where something is, from frame to frame, and
// returns the refusal of the one that may not be touched. A point outside of the viewport is
// in none.
func (p *Page) follow(ctx context.Context, fn string, args map[string]any) error {
	frame := primitives.FrameID("")
	for range maxFollowedFrames {
		var next struct {
			Descend  string `json:"descend"`
			View     any    `json:"view"`
			Viewport any    `json:"viewport"`
		}
		err := p.Call(ctx, frame, fn, args, &next)
		if code := fault.CodeOf(err); code == fault.PermissionDenied || ctx.Err() != nil || code == fault.DialogOpen {
			return err
		}
		if err != nil || next.Descend == "" {
			return nil
		}
		child, err := p.ChildFrame(ctx, frame, next.Descend)
		if err != nil {
			return err
		}
		if err := p.Admit(ctx, child); err != nil {
			return err
		}
		frame = child
		args["view"], args["inside"] = next.View, true
		if next.Viewport != nil {
			args["viewport"] = next.Viewport
		}
	}
	return nil
}

// originOfAddress is the origin that a document of an address has.
func originOfAddress(address string) string {
	scheme, rest, _ := strings.Cut(address, ":")
	switch strings.ToLower(scheme) {
	case "http", "https":
		host, _, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "/")
		host, _, _ = strings.Cut(host, "?")
		host, _, _ = strings.Cut(host, "#")
		return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:]
	case "blob":
		return originOfAddress(rest)
	case "file":
		return "file://"
	}
	return "null"
}
