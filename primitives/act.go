package primitives

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// actTarget is what an acting primitive can be aimed at: a point as upstream
// has it, a locator, or a ref. Exactly one of them.
type actTarget struct {
	X       coordinate `json:"x"`
	Y       coordinate `json:"y"`
	Locator locator    `json:"locator"`
	Ref     string     `json:"ref"`
	// TimeoutMS is how long to wait for what may still come; nil is
	// defaultActTimeout. It never exceeds the call's own deadline.
	TimeoutMS *int `json:"timeout_ms"`
	// Force needs no more than a point of the element inside the viewport.
	Force bool `json:"force"`
}

const (
	defaultActTimeout = 5 * time.Second
	longestAct        = 2 * time.Minute
	// actMargin is kept of the call's deadline, to answer what was in the way.
	actMargin = 150 * time.Millisecond
	// actSlice bounds how long a wait inside a frame trusts what it knows of the
	// frame's place.
	actSlice = 250 * time.Millisecond
)

// element returns the locator that is meant, with ok false for a point. An
// argument too many is invalid_input that names them.
func (t actTarget) element() (l locator, ok bool, err error) {
	return oneTarget(t.Locator, t.Ref, t.X.given || t.Y.given, "x and y")
}

// oneTarget is the locator of a locator or a ref; ok is false when neither is
// given. other says that something else aims already, named what.
func oneTarget(l locator, ref string, other bool, what string) (_ locator, ok bool, err error) {
	var fields []string
	if other {
		fields = append(fields, what)
	}
	if l.given() {
		fields = append(fields, "locator")
	}
	if ref != "" {
		fields = append(fields, "ref")
	}
	if len(fields) > 1 {
		return locator{}, false, fault.New(fault.InvalidInput, "give exactly one of %s, locator and ref", what).With("given", fields)
	}
	switch {
	case ref != "":
		return refLocator(ref), true, nil
	case l.given():
		if !l.names() {
			return locator{}, false, fault.New(fault.InvalidInput, "the locator names no element").With("locator", l)
		}
		return l, true, nil
	}
	return locator{}, false, nil
}

// actTimeout is how long an action may wait, by its argument and the deadline of
// the call.
func actTimeout(ctx context.Context, ms *int) time.Duration {
	d := defaultActTimeout
	if ms != nil {
		d = min(time.Duration(*ms)*time.Millisecond, longestAct)
	}
	if end, ok := ctx.Deadline(); ok {
		d = min(d, time.Until(end)-actMargin)
	}
	return max(d, 0)
}

// elementTarget is what names an element beside the ways that upstream has.
type elementTarget struct {
	Locator   locator `json:"locator"`
	Ref       string  `json:"ref"`
	TimeoutMS *int    `json:"timeout_ms"`
}

// focusFirst gives the focus to an element before something is typed, once it
// is there and takes it. editable also waits for a read-only control.
func focusFirst(ctx context.Context, p Page, l locator, timeout time.Duration, editable bool) (actedOn, error) {
	h, err := reach(ctx, p, l, actAim{until: "attached", enabled: true, editable: editable, focus: true}, timeout, false)
	if err != nil {
		return nil, err
	}
	if h.focused == nil || !*h.focused {
		return nil, fault.New(fault.TargetNotFocusable, "the element cannot take the focus").With("locator", l).With("target", h.Target)
	}
	return h.acted, nil
}

// actAim says how an element is to be reached.
type actAim struct {
	press   bool // a button will be pressed
	enabled bool // the element has to take it
	guard   bool // presses that hit something else are held back
	// until is "attached" or "drawn" where no press is meant.
	until    string
	editable bool // a read-only control is waited for
	focus    bool // the element is given the focus
	still    bool // nothing is scrolled
}

// pressing is the aim of a press.
var pressing = actAim{press: true, enabled: true, guard: true}

// actAnswer is what the page function act_target answers.
type actAnswer struct {
	X         float64         `json:"x"`
	Y         float64         `json:"y"`
	Target    json.RawMessage `json:"target"`
	Count     int             `json:"candidate_count"`
	Ambiguous bool            `json:"ambiguous"`
	Handle    string          `json:"handle"`
	Scrolls   int             `json:"scrolls"`
	Label     string          `json:"pressed_label"`
	Seen      *Rect           `json:"seen"` // what the viewport shows, of an element that is to be drawn
	Fully     bool            `json:"fully"`
	Focused   *bool           `json:"focused"` // of an element that was given the focus
	From      scrollOffsets   `json:"scrolled_from"`
	Hosts     []string        `json:"hosts"` // elements whose closed shadow roots have to be opened first
	Part      *clipRect       `json:"part"`
	Attempts  json.RawMessage `json:"attempts"`
	Acted     actedOn         `json:"acted"`   // the target as answers tell it, unless it is to be pressed
	Watched   bool            `json:"watched"` // the question of the watch is in the page

	Pending  string         `json:"pending"`
	Code     fault.Code     `json:"code"`
	Message  string         `json:"message"`
	Evidence map[string]any `json:"evidence"`
}

// hold is an element at which an action is aimed.
type hold struct {
	aim
	at      place
	handle  string
	watch   *pressWatch // nil without a guard
	watched bool        // it hears of all that happens from the look on
	found   *actFound
	seen    *Rect
	part    *clipRect
	focused *bool
	acted   actedOn
	from    scrollOffsets // of the frame's viewport, before anything was scrolled
}

type scrollOffsets struct {
	ScrollX float64 `json:"scroll_x"`
	ScrollY float64 `json:"scroll_y"`
}

// actFound says in the answer how the element was found.
type actFound struct {
	CandidateCount int             `json:"candidate_count"`
	Ambiguous      bool            `json:"ambiguous,omitempty"`
	PressedLabel   string          `json:"pressed_label,omitempty"`
	WaitedMS       int64           `json:"waited_ms"`
	Scrolls        int             `json:"scrolls"`
	Attempts       json.RawMessage `json:"attempts,omitempty"`
}

// reach waits until an action on the element of a locator would arrive there,
// in one page call where the element is in the main frame and at rest. In a
// frame each ancestor is asked too, because only it knows what lies over the
// frame. A document that is replaced meanwhile is waited for as well: nothing
// has been done yet.
//
// Failures are target_not_found and target_not_actionable with the attempts as
// evidence, multiple_targets, invalid_selector, element_stale and the frame
// codes.
func reach(ctx context.Context, p Page, l locator, a actAim, timeout time.Duration, force bool) (hold, error) {
	start := time.Now()
	left := func() time.Duration { return timeout - time.Since(start) }
	args := map[string]any{"locator": l, "press": a.press, "enabled": a.enabled}
	if a.until != "" {
		args["until"], args["editable"], args["focus"] = a.until, a.editable, a.focus
	}
	if force {
		args["force"] = true
	}
	if a.still {
		args["still"] = true
	}
	h := hold{}
	// Every way out but the one that gives the hold away ends the watch.
	defer func() { h.watch.end(ctx) }()
	aligned := 0
	shown := 0 // how often ancestors were asked to show more of what is there
	for round := 0; ; round++ {
		at, err := enterInTime(ctx, p, l, left)
		if err != nil {
			return hold{}, err
		}
		framed := at.view != nil
		wait := max(left(), 0)
		if framed {
			args["view"], args["partial"] = at.view, true
			wait = min(wait, actSlice)
		}
		args["timeout_ms"] = wait.Milliseconds()
		if a.guard && !force {
			h.watch.end(ctx)
			h.watch = watchPress(ctx, p, at)
			args["guard"] = h.watch.id
		}
		var got actAnswer
		if err := callWithin(ctx, p, at.frame, "act_target", args, &got, left()); err != nil {
			// The document was replaced, or the frame with it.
			code := fault.CodeOf(err)
			if (code == fault.PageNavigated || framed && isFrameFault(code)) && left() > 0 && pause(ctx, frameRetry) {
				delete(args, "attempts")
				continue
			}
			return hold{}, withTimeout(err, timeout)
		}
		if len(got.Hosts) > 0 {
			if _, err := p.OpenShadows(ctx, at.frame, got.Hosts); err != nil {
				return hold{}, err
			}
			args["attempts"] = got.Attempts
			continue
		}
		if got.Pending == "moved" {
			args["attempts"] = got.Attempts
			if aligned++; aligned <= maxAligned || left() > 0 {
				continue
			}
			return hold{}, withTimeout(fault.New(fault.TargetNotActionable, "the frame does not come to rest").With("locator", l).With("attempts", got.Attempts), timeout)
		}
		if got.Pending == "" {
			if a.until == "drawn" && framed && !got.Fully && got.Part != nil && shown < 2 {
				shown++
				if moved, err := at.reveal(ctx, p, *got.Part); err == nil && len(moved) > 0 {
					continue // the ancestors show more of it now
				}
			}
			var occluder json.RawMessage
			if a.until == "" {
				if occluder, err = at.over(ctx, p, got.X, got.Y); err != nil {
					if framed && isFrameFault(fault.CodeOf(err)) && left() > 0 && pause(ctx, frameRetry) {
						continue
					}
					return hold{}, err
				}
			}
			if occluder == nil || force {
				h.aim = aim{X: got.X, Y: got.Y, Target: got.Target, Frame: frameOf(p, at)}
				h.at, h.handle, h.seen, h.part, h.focused, h.from, h.acted = at, got.Handle, got.Seen, got.Part, got.Focused, got.From, got.Acted
				h.watched = got.Watched
				h.found = &actFound{
					CandidateCount: got.Count, Ambiguous: got.Ambiguous, PressedLabel: got.Label, Scrolls: got.Scrolls, Attempts: got.Attempts,
					WaitedMS: time.Since(start).Milliseconds(),
				}
				out := h
				h.watch = nil
				return out, nil
			}
			got.Pending, got.Code, got.Message = "covered", fault.TargetNotActionable, "the frame is covered where the element is"
			got.Evidence = map[string]any{"locator": l, "reason": "covered", "occluded_by": occluder}
		}
		moved := false
		if (got.Pending == "outside" || got.Pending == "covered") && got.Part != nil && framed && !a.still {
			performed, err := at.reveal(ctx, p, *got.Part)
			if err != nil {
				if left() <= 0 {
					return hold{}, err
				}
				continue // the frame went away
			}
			moved = len(performed) > 0
		}
		if left() <= 0 && !(moved && round < 3) {
			e := &fault.Error{Code: got.Code, Message: got.Message, Evidence: got.Evidence}
			if _, ok := fault.Lookup(e.Code); !ok {
				e.Code = fault.TargetNotActionable
			}
			return hold{}, withTimeout(e, timeout)
		}
		if len(got.Attempts) > 0 {
			args["attempts"] = got.Attempts
		}
		if !moved && (got.Pending == "outside" || got.Pending == "covered") && !pause(ctx, frameRetry) {
			return hold{}, ctx.Err()
		}
	}
}

// maxAligned is how often the browser may move frames for a call whose time is
// over.
const maxAligned = 3

// withTimeout says how long was waited: the page knows of the last slice only.
func withTimeout(err error, timeout time.Duration) error {
	if f := fault.From(err); f.Code == fault.TargetNotActionable || f.Code == fault.TargetNotFound {
		return f.With("timeout_ms", timeout.Round(time.Millisecond).Milliseconds())
	}
	return err
}

// enterInTime is enter that waits for a frame which is not there yet.
func enterInTime(ctx context.Context, p Page, l locator, left func() time.Duration) (place, error) {
	for {
		at, err := l.enter(ctx, p)
		if err == nil || !isFrameFault(fault.CodeOf(err)) && fault.CodeOf(err) != fault.PageNavigated || left() <= 0 {
			return at, err
		}
		if !pause(ctx, frameRetry) {
			return at, ctx.Err()
		}
	}
}

// frameOf describes the frame of a place; nil for the main frame.
func frameOf(p Page, at place) *aimFrame {
	if at.view == nil {
		return nil
	}
	frames := p.Frames()
	out := &aimFrame{CrossOrigin: crossOrigin(frames, at.frame)}
	for _, f := range frames {
		if f.ID == at.frame {
			out.URL = f.URL
		}
	}
	return out
}

// crossOrigin says whether a frame has another origin than the main one, which is the
// first of frames. A document without an address of its own has the origin of its parent;
// one in another process than a parent of the main origin, that could be in the same, has
// an origin that nobody shares: it is sandboxed.
func crossOrigin(frames []FrameInfo, id FrameID) bool {
	for i, f := range frames {
		if f.ID != id {
			continue
		}
		switch {
		case i == 0:
			return false
		case !addressless(f.URL) && !sameOrigin(frames[0].URL, f.URL):
			return true
		case addressless(f.URL) && !f.Remote:
			return crossOrigin(frames[:i], f.Parent)
		case addressless(f.URL):
			return true
		}
		return f.Remote && !crossOrigin(frames[:i], f.Parent)
	}
	return false
}

func addressless(url string) bool {
	return url == "" || strings.HasPrefix(url, "about:") || strings.HasPrefix(url, "blob:")
}

func sameOrigin(main, frame string) bool {
	a, errA := url.Parse(main)
	b, errB := url.Parse(frame)
	return errA == nil && errB == nil && a.Scheme == b.Scheme && a.Host == b.Host
}

// press sends events at a held element and says whether they arrived there.
// A press that something else would have got has been held back from the page;
// then the error is target_not_actionable and nothing has happened.
func (h hold) press(ctx context.Context, p Page, events []MouseEvent, mods Modifiers) error {
	err := sendClick(ctx, p, events, mods)
	if h.watch == nil {
		return err
	}
	if err != nil {
		h.watch.end(ctx)
		return err
	}
	seen := h.watch.result(ctx)
	if seen.Lost && h.watched && h.at.view != nil {
		return fault.New(fault.TargetNotActionable, "the frame was replaced before the press came to it").
			With("reason", "replaced").With("point", Point{h.X, h.Y})
	}
	if !seen.Known || seen.Arrived != nil && *seen.Arrived {
		return nil
	}
	if seen.Arrived == nil {
		if h.at.view == nil || seen.Here {
			return nil // a listener of the page that came first kept it from us
		}
		// The browser finds the frame of a press by what it drew last: just after
		// a scroll that can be the document around the frame.
		pause(ctx, frameRetry)
		occluder, _ := h.at.over(ctx, p, h.X, h.Y)
		return fault.New(fault.TargetNotActionable, "the press did not reach the frame").
			With("reason", "covered").With("occluded_by", occluder).With("point", Point{h.X, h.Y})
	}
	return fault.New(fault.TargetNotActionable, "another element moved under the press, which was held back").
		With("reason", "covered").With("occluded_by", seen.OccludedBy).With("point", Point{h.X, h.Y})
}

// maxPresses bounds how often a press that was held back is tried again.
const maxPresses = 4

// actOn reaches the element of a locator and presses there, again when the
// press was held back and there is time left.
func actOn(ctx context.Context, p Page, l locator, a actAim, t actTarget, events func(aim) []MouseEvent, mods Modifiers) (hold, error) {
	timeout := actTimeout(ctx, t.TimeoutMS)
	start := time.Now()
	for n := 1; ; n++ {
		h, err := reach(ctx, p, l, a, max(timeout-time.Since(start), 0), t.Force)
		if err != nil {
			if n > 1 && fault.CodeOf(err) == fault.TargetNotActionable {
				return hold{}, fault.From(err).With("presses_held_back", n-1)
			}
			return hold{}, err
		}
		h.found.WaitedMS = time.Since(start).Milliseconds()
		err = h.press(ctx, p, events(h.aim), mods)
		if err == nil || fault.CodeOf(err) != fault.TargetNotActionable {
			return h, err
		}
		if n == maxPresses || timeout-time.Since(start) <= 0 {
			return hold{}, fault.From(err).With("locator", l).With("presses_held_back", n)
		}
		if h.at.view != nil {
			// Nobody tells when the browser has drawn the frame where it is now; a
			// busy machine takes its time.
			pause(ctx, min(frameRetry<<(2*n), max(timeout-time.Since(start), 0)))
		}
	}
}
