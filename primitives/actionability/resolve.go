// Package actionability resolves what an action is aimed at, waits until the element can take it, and checks that
// a click arrived there. It does not know which primitive acts: families pass requirements and events. The page's
// part is in the page scripts actionability/actionable.js and hit_test_guard.js.
package actionability

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

// Target is the target of an acting primitive: a point as upstream
// has it, a locator, or a ref. Exactly one of them.
type Target struct {
	X       arguments.Coordinate `json:"x"`
	Y       arguments.Coordinate `json:"y"`
	Locator locator.Locator      `json:"locator"`
	Ref     string               `json:"ref"`
	// TimeoutMS is how long to wait for what may still come; nil is
	// defaultTimeout. It never exceeds the call's own deadline.
	TimeoutMS *int `json:"timeout_ms"`
	// Force needs no more than a point of the element inside the viewport.
	Force bool `json:"force"`
	// Position is where in the element to act; nil leaves that to us.
	Position *Position `json:"position"`
}

// Position is a point of an element, in CSS pixels from the top left corner of its box.
type Position struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
}

const (
	defaultTimeout = 5 * time.Second
	longestTimeout = 2 * time.Minute
	// AnswerMargin is the most that is kept of the call's deadline, to answer what was in the way.
	AnswerMargin = 150 * time.Millisecond
	// frameSlice bounds how long a wait inside a frame trusts what it knows of the
	// frame's place.
	frameSlice = 250 * time.Millisecond
)

// Element returns the locator that is meant, with ok false for a point. An
// argument too many is invalid_input that names them.
func (t Target) Element() (l locator.Locator, ok bool, err error) {
	if t.Position != nil && (t.X.Given || t.Y.Given) {
		return l, false, fault.New(fault.InvalidInput, "position is a point of an element: it stands beside no x and y")
	}
	return OneTarget(t.Locator, t.Ref, t.X.Given || t.Y.Given, "x and y")
}

// OneTarget is the locator of a locator or a ref; ok is false when neither is
// given. other says that something else aims already, named what.
func OneTarget(l locator.Locator, ref string, other bool, what string) (_ locator.Locator, ok bool, err error) {
	var fields []string
	if other {
		fields = append(fields, what)
	}
	if l.Given() {
		fields = append(fields, "locator")
	}
	if ref != "" {
		fields = append(fields, "ref")
	}
	if len(fields) > 1 {
		return locator.Locator{}, false, fault.New(fault.InvalidInput, "give exactly one of %s, locator and ref", what).
			With("given", fields)
	}
	switch {
	case ref != "":
		return locator.RefLocator(ref), true, nil
	case l.Given():
		if !l.NamesElement() {
			return locator.Locator{}, false, fault.New(fault.InvalidInput, "the locator names no element").
				With("locator", l)
		}
		return l, true, nil
	}
	return locator.Locator{}, false, nil
}

// Timeout is how long an action may wait, by its argument and the deadline of
// the call.
func Timeout(ctx context.Context, ms *int) time.Duration {
	d := defaultTimeout
	if ms != nil {
		d = min(time.Duration(*ms)*time.Millisecond, longestTimeout)
	}
	d -= primitives.Spent(ctx)
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		d = min(d, left-primitives.AnswerMargin(ctx, left, AnswerMargin))
	}
	return max(d, 0)
}

// ElementTarget names an element in the ways that upstream does not have.
type ElementTarget struct {
	Locator   locator.Locator `json:"locator"`
	Ref       string          `json:"ref"`
	TimeoutMS *int            `json:"timeout_ms"`
}

// Requirements says what an element must be before something is done to it.
type Requirements struct {
	Click   bool // a button will be clicked
	Enabled bool // the element has to take it
	guard   bool // clicks that hit something else are kept from the page
	arrival bool // the pointer acts there: in a frame it has to come there first
	// Until is "attached" or "drawn" where no click is meant.
	Until    string
	Editable bool // a read-only control is waited for
	Focus    bool // the element is given the focus
	Still    bool // nothing is scrolled
	focusKey string
	position *Position
}

// ForClick are the requirements of a click.
var ForClick = Requirements{Click: true, Enabled: true, guard: true}

// pageAnswer is the answer of the page function act_target.
type pageAnswer struct {
	X         float64           `json:"x"`
	Y         float64           `json:"y"`
	Target    json.RawMessage   `json:"target"`
	Count     int               `json:"candidate_count"`
	Ambiguous bool              `json:"ambiguous"`
	Handle    string            `json:"handle"`
	Scrolls   int               `json:"scrolls"`
	Label     string            `json:"pressed_label"`
	Seen      *primitives.Rect  `json:"seen"` // what the viewport shows, of an element that is to be drawn
	Fully     bool              `json:"fully"`
	Focused   *bool             `json:"focused"` // of an element that was given the focus
	From      ScrollOffsets     `json:"scrolled_from"`
	Hosts     []string          `json:"hosts"` // elements whose closed shadow roots have to be opened first
	Part      *locator.ClipRect `json:"part"`
	Attempts  json.RawMessage   `json:"attempts"`
	Acted     ActedOn           `json:"acted"`   // the target as answers report it, unless it is to be clicked
	Watched   bool              `json:"watched"` // the call of the watch is in the page
	Reachable bool              `json:"reachable"`

	Pending  string         `json:"pending"`
	Code     fault.Code     `json:"code"`
	Message  string         `json:"message"`
	Evidence map[string]any `json:"evidence"`
}

// Resolved is the resolved target of an action.
type Resolved struct {
	ActionPoint
	At      locator.Place
	Handle  string
	watch   *clickWatch     // nil without a guard
	watched bool            // it sees all that happens from the probe on
	arrival *pointerArrival // nil where the pointer comes for certain, or nothing tells
	far     bool            // a movement that came anywhere in the document will do
	Found   *Found
	Seen    *primitives.Rect
	part    *locator.ClipRect
	focused *bool
	Acted   ActedOn
	From    ScrollOffsets // of the frame's viewport, before anything was scrolled
}

type ScrollOffsets struct {
	ScrollX float64 `json:"scroll_x"`
	ScrollY float64 `json:"scroll_y"`
}

// Found says in the answer how the element was found.
type Found struct {
	CandidateCount int             `json:"candidate_count"`
	Ambiguous      bool            `json:"ambiguous,omitempty"`
	PressedLabel   string          `json:"pressed_label,omitempty"`
	WaitedMS       int64           `json:"waited_ms"`
	Scrolls        int             `json:"scrolls"`
	Attempts       json.RawMessage `json:"attempts,omitempty"`
}

// Resolve waits until an action on the element of a locator would arrive there,
// in one page call where the element is in the main frame and at rest. In a
// frame each ancestor is queried too, because only it knows what lies over the
// frame. A document that is replaced meanwhile is waited for as well: nothing
// has been done yet.
//
// Failures are target_not_found and target_not_actionable with the attempts as
// evidence, multiple_targets, invalid_selector, element_stale and the frame
// codes.
func Resolve(
	ctx context.Context, p primitives.Page, l locator.Locator, a Requirements, timeout time.Duration, force bool,
) (Resolved, error) {
	start := time.Now()
	left := func() time.Duration { return timeout - time.Since(start) }
	args := map[string]any{"locator": l, "click": a.Click, "enabled": a.Enabled}
	if a.Until != "" {
		args["until"] = a.Until
		args["editable"] = a.Editable
		args["focus"] = a.Focus
	}
	if a.focusKey != "" {
		args["focus_key"] = a.focusKey
	}
	if a.position != nil {
		args["position"] = a.position
	}
	if force {
		args["force"] = true
	}
	if a.Still {
		args["still"] = true
	}
	h := Resolved{}
	// Every way out but the one that returns the target ends the watch.
	defer func() { h.watch.end(ctx) }()
	aligned := 0
	opened := 0 // how often shadow roots were opened
	shown := 0  // how often ancestors were made to show more of what is there
	for round := 0; ; round++ {
		at, err := enterInTime(ctx, p, l, left)
		if err != nil {
			return Resolved{}, err
		}
		framed := at.View != nil
		wait := max(left(), 0)
		if framed {
			args["view"], args["partial"] = at.View, true
			wait = min(wait, frameSlice)
		} else {
			delete(args, "view")
			delete(args, "partial")
		}
		if at.Searching { // it may come in another document
			args["partial"] = true
			wait = min(wait, frameSlice)
		}
		args["timeout_ms"] = wait.Milliseconds()
		args["read_ms"] = (left() / 2).Milliseconds() // the other half is for the target
		if a.guard && !force {
			h.watch.end(ctx)
			h.watch = watchClick(ctx, p, at)
			args["guard"] = h.watch.id
		}
		delete(args, "reach")
		var reached string
		if a.arrival && framed && primitives.FidelityOf(p) == primitives.FidelityTrusted {
			reached = newArrivalID()
			args["reach"] = reached
		}
		var got pageAnswer
		act := "a" + strconv.FormatInt(actIDs.Add(1), 36)
		args["call"] = act
		if err := primitives.CallWithin(ctx, p, at.Frame, "act_target", args, &got, left()); err != nil {
			if ctx.Err() != nil {
				giveUp(ctx, p, at.Frame, act)
				return Resolved{}, WithTimeout(err, timeout)
			}
			// The document was replaced, or the frame with it.
			code := fault.CodeOf(err)
			if (code == fault.PageNavigated || framed && locator.IsFrameFault(code)) && left() > 0 &&
				primitives.Pause(ctx, locator.FrameRetry) {
				delete(args, "attempts")
				continue
			}
			return Resolved{}, WithTimeout(err, timeout)
		}
		if len(got.Hosts) > 0 {
			if _, err := p.OpenShadows(ctx, at.Frame, got.Hosts); err != nil {
				return Resolved{}, err
			}
			args["attempts"] = got.Attempts
			opened++
			args["searched"] = left() <= 0
			if opened >= locator.OpenRounds {
				args["hosts_in"] = locator.OpenPause.Milliseconds()
			}
			continue
		}
		if got.Pending == "moved" {
			args["attempts"] = got.Attempts
			if aligned++; aligned <= maxAligned || left() > 0 {
				continue
			}
			return Resolved{}, WithTimeout(fault.New(fault.TargetNotActionable, "the frame does not come to rest").
				With("locator", l).With("attempts", got.Attempts), timeout)
		}
		if got.Pending == "" {
			if a.Until == "drawn" && framed && !got.Fully && got.Part != nil && shown < 2 {
				shown++
				if moved, err := at.Reveal(ctx, p, *got.Part); err == nil && len(moved) > 0 {
					continue // after the scroll the ancestors show more of it
				}
			}
			var occluder json.RawMessage
			if a.Until == "" {
				occluder, err = at.Covering(ctx, p, got.X, got.Y, h.watch.around())
				if err != nil {
					if framed && locator.IsFrameFault(fault.CodeOf(err)) && left() > 0 &&
						primitives.Pause(ctx, locator.FrameRetry) {
						continue
					}
					return Resolved{}, err
				}
			}
			if occluder == nil || force {
				h.ActionPoint = ActionPoint{X: got.X, Y: got.Y, Target: got.Target, Frame: frameOf(p, at)}
				h.At = at
				h.Handle = got.Handle
				h.Seen = got.Seen
				h.part = got.Part
				h.focused = got.Focused
				h.From = got.From
				h.Acted = got.Acted
				h.watched = got.Watched
				if got.Reachable {
					h.arrival = &pointerArrival{page: p, frame: at.Frame, id: reached}
				}
				h.Found = &Found{
					CandidateCount: got.Count,
					Ambiguous:      got.Ambiguous,
					PressedLabel:   got.Label,
					Scrolls:        got.Scrolls,
					Attempts:       got.Attempts,
					WaitedMS:       time.Since(start).Milliseconds(),
				}
				out := h
				h.watch = nil
				return out, nil
			}
			got.Pending = "covered"
			got.Code = fault.TargetNotActionable
			got.Message = "the frame is covered where the element is"
			got.Evidence = map[string]any{"locator": l, "reason": "covered", "occluded_by": occluder}
		}
		moved := false
		if (got.Pending == "outside" || got.Pending == "covered") && got.Part != nil && framed && !a.Still {
			performed, err := at.Reveal(ctx, p, *got.Part)
			if err != nil {
				if left() <= 0 {
					return Resolved{}, err
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
			return Resolved{}, WithTimeout(e, timeout)
		}
		if len(got.Attempts) > 0 {
			args["attempts"] = got.Attempts
		}
		if !moved && (got.Pending == "outside" || got.Pending == "covered") &&
			!primitives.Pause(ctx, locator.FrameRetry) {
			return Resolved{}, ctx.Err()
		}
	}
}

// actIDs are those of the page calls of act_target.
var actIDs atomic.Int64

// giveUp ends a page call whose context has ended: one that goes on to wait would scroll, or move the focus, later.
func giveUp(ctx context.Context, p primitives.Page, frame primitives.FrameID, act string) {
	soon, cancel := context.WithTimeout(context.WithoutCancel(ctx), givenUpWait)
	defer cancel()
	_ = p.Call(soon, frame, "act_given_up", map[string]any{"call": act}, nil)
}

// maxAligned is how often the browser may move frames for a call whose time is
// over.
const maxAligned = 3

// WithTimeout says how long was waited: the page knows of the last slice only.
func WithTimeout(err error, timeout time.Duration) error {
	if f := fault.From(err); f.Code == fault.TargetNotActionable || f.Code == fault.TargetNotFound {
		return f.With("timeout_ms", timeout.Round(time.Millisecond).Milliseconds())
	}
	return err
}

// enterInTime is enter that waits for a frame which is not there yet.
func enterInTime(
	ctx context.Context, p primitives.Page, l locator.Locator, left func() time.Duration,
) (locator.Place, error) {
	for {
		at, err := l.Enter(ctx, p)
		if err == nil || !locator.IsFrameFault(fault.CodeOf(err)) && fault.CodeOf(err) != fault.PageNavigated ||
			left() <= 0 {
			return at, err
		}
		if !primitives.Pause(ctx, locator.FrameRetry) {
			return at, ctx.Err()
		}
	}
}

// frameOf describes the frame of a place; nil for the main frame.
func frameOf(p primitives.Page, at locator.Place) *Frame {
	if at.View == nil {
		return nil
	}
	frames := p.Frames()
	out := &Frame{CrossOrigin: crossOrigin(frames, at.Frame)}
	for _, f := range frames {
		if f.ID == at.Frame {
			out.URL = f.URL
		}
	}
	return out
}

// crossOrigin reports whether a frame has another origin than the main one, which is the
// first of frames. A document without an address of its own has the origin of its parent;
// one in another process than a parent of the main origin, that could be in the same, has
// an origin that nobody shares: it is sandboxed.
func crossOrigin(frames []primitives.FrameInfo, id primitives.FrameID) bool {
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

// Click sends events at a resolved target and reports whether they arrived there.
// A click that would have hit something else is kept from the page. Then the error
// is target_not_actionable and nothing has happened.
func (h Resolved) Click(
	ctx context.Context, p primitives.Page, events []primitives.MouseEvent, mods primitives.Modifiers,
) error {
	err := sendClick(ctx, p, events, mods)
	if h.watch == nil {
		return err
	}
	if err != nil {
		h.watch.end(ctx)
		return err
	}
	seen, kept := h.watch.result(ctx)
	at := primitives.Point{X: h.X, Y: h.Y}
	if ctx.Err() != nil && !seen.Known {
		return fault.From(ctx.Err()).With("input_sent", true).With("point", at)
	}
	if seen.Lost && h.watched && h.At.View != nil {
		return clickUnseen("the frame was replaced when it was clicked", "replaced", at)
	}
	if !seen.Known || seen.Arrived != nil && *seen.Arrived {
		return nil
	}
	if seen.Arrived == nil {
		if h.At.View == nil || seen.Here {
			return nil // a listener of the page that came first kept it from us
		}
		if kept != nil {
			return heldBack{fault.New(
				fault.TargetNotActionable, "the frame moved from under the click, which was held back",
			).With("reason", "covered").With("occluded_by", kept.OccludedBy).With("point", at)}
		}
		// It went somewhere: the document that it was meant for is not asked again.
		occluder, _ := h.At.Covering(ctx, p, h.X, h.Y, "")
		return clickUnseen("the click did not reach the frame", "covered", at).With("occluded_by", occluder)
	}
	return heldBack{fault.New(fault.TargetNotActionable, "another element moved under the click, which was held back").
		With("reason", "covered").With("occluded_by", seen.OccludedBy).With("point", at)}
}

// clickUnseen is the failure of a click that was sent and did not come to where it was meant to. It may
// have had an effect elsewhere, so it is not repeated.
func clickUnseen(what, reason string, at primitives.Point) *fault.Error {
	return fault.New(fault.TargetNotActionable, "%s", what).With("reason", reason).With("point", at).
		With("input_sent", true).Next("the click may have had an effect: read the page before you repeat it")
}

// heldBack is the failure of a click that came and was kept from the page: the only one that may be sent again.
type heldBack struct{ cause *fault.Error }

func (e heldBack) Error() string { return e.cause.Error() }
func (e heldBack) Unwrap() error { return e.cause }

// maxClicks bounds how often a click that was kept from the page is tried again.
const maxClicks = 4

// Act resolves the element of a locator and sends events there. They are sent again only when a click was
// kept from the page, and there is time left. In a frame the pointer has come there before a button goes down.
func Act(
	ctx context.Context, p primitives.Page, l locator.Locator, a Requirements, t Target,
	events func(ActionPoint) []primitives.MouseEvent, mods primitives.Modifiers,
) (Resolved, error) {
	timeout := Timeout(ctx, t.TimeoutMS)
	start := time.Now()
	left := func() time.Duration { return max(timeout-time.Since(start), 0) }
	a.arrival, a.position = true, t.Position
	held := 0
	for moves := 0; ; {
		h, err := Resolve(ctx, p, l, a, left(), t.Force)
		if err != nil {
			if held > 0 && fault.CodeOf(err) == fault.TargetNotActionable {
				return Resolved{}, fault.From(err).With("presses_held_back", held)
			}
			return Resolved{}, err
		}
		h.Found.WaitedMS = time.Since(start).Milliseconds()
		h.far = moves >= farMoves
		again, err := h.arriveAtTarget(ctx)
		if err != nil {
			h.watch.end(ctx)
			return Resolved{}, err
		}
		if again && !t.Force {
			h.watch.end(ctx)
			if moves++; moves >= mostMoves && left() <= 0 {
				occluder, _ := h.At.Covering(ctx, p, h.X, h.Y, "")
				return Resolved{}, notReached(primitives.Point{X: h.X, Y: h.Y}).With("locator", l).
					With("occluded_by", occluder)
			}
			if !primitives.Pause(ctx, min(movePause(moves-1), frameSlice)) {
				return Resolved{}, ctx.Err()
			}
			continue
		}
		err = h.Click(ctx, p, events(h.ActionPoint), mods)
		if err == nil {
			return h, nil
		}
		var kept heldBack
		if !errors.As(err, &kept) {
			return Resolved{}, err
		}
		if held++; held == maxClicks || left() <= 0 {
			return Resolved{}, kept.cause.With("locator", l).With("presses_held_back", held)
		}
		if h.At.View != nil {
			// No event reports when the browser has drawn the frame in its new place. A
			// busy machine takes its time.
			primitives.Pause(ctx, min(locator.FrameRetry<<(2*held), left()))
		}
	}
}
