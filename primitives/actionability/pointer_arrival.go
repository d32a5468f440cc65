package actionability

import (
	"context"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/locator"
)

// pointerArrival reports whether the pointer comes to a document in a frame.
//
// The browser finds the frame of input by what it drew last. In a frame that another process has
// just loaded, or that has just moved, input can go to the document around it, and no event reports
// when that is over. So the pointer is moved first, which presses nothing and may be repeated, and a
// button goes down once, when a movement has come to where it is meant to.
type pointerArrival struct {
	page  primitives.Page
	frame primitives.FrameID
	id    string
}

// mostMoves bounds how often the pointer is moved to a frame: six pauses, 1.3 seconds together.
const mostMoves = 7

// farMoves is how often a movement that came to another place of the document is repeated: a
// frame in perspective is measured with a rest.
const farMoves = 4

// movePause is the pause after the n-th movement that did not come.
func movePause(n int) time.Duration { return min(20*time.Millisecond<<n, time.Second) }

// newArrivalID is the id of one watch for the pointer.
func newArrivalID() string { return "m" + strconv.FormatInt(clickIDs.Add(1), 36) }

// moved moves the pointer, and says whether that came to the document, and near the point.
func (r pointerArrival) moved(ctx context.Context, at primitives.Point) (came, near bool, err error) {
	if err := r.page.Mouse(ctx, primitives.MouseEvent{Type: primitives.MouseMoved, X: at.X, Y: at.Y}); err != nil {
		return false, false, err
	}
	var seen struct {
		Came bool `json:"came"`
		Near bool `json:"near"`
	}
	err = r.page.Call(ctx, r.frame, "pointer_arrived", map[string]any{"id": r.id}, &seen)
	return seen.Came, seen.Near, err
}

// AtReached is At for a point that the pointer is about to act on. In a frame of another process the
// pointer has been there when it returns, and what is described is what it came to. It fails with
// target_not_actionable where the pointer does not come; nothing has been pressed then.
func AtReached(ctx context.Context, p primitives.Page, x, y arguments.Coordinate) (ActionPoint, error) {
	if primitives.FidelityOf(p) != primitives.FidelityTrusted {
		return At(ctx, p, x, y)
	}
	id := newArrivalID()
	for n := 0; ; n++ {
		a, err := at(ctx, p, x, y, id)
		if err != nil || a.arrival == nil {
			return a, err
		}
		came, near, err := a.arrival.moved(ctx, primitives.Point{X: a.X, Y: a.Y})
		code := fault.CodeOf(err)
		if err != nil && code != fault.PageNavigated && !locator.IsFrameFault(code) {
			return ActionPoint{}, err
		}
		if near || came && n >= farMoves {
			return a, nil
		}
		if n == mostMoves-1 || !primitives.Pause(ctx, movePause(n)) {
			return ActionPoint{}, notReached(primitives.Point{X: a.X, Y: a.Y})
		}
	}
}

// notReached is the failure of an action that was not begun.
func notReached(at primitives.Point) *fault.Error {
	return fault.New(fault.TargetNotActionable, "the pointer does not reach the frame, so nothing was pressed").
		With("reason", "covered").With("point", at)
}

// ClickAt sends a click at a point that was reached, once.
func ClickAt(ctx context.Context, p primitives.Page, events []primitives.MouseEvent, mods primitives.Modifiers) error {
	return sendClick(ctx, p, events, mods)
}

// arriveAtTarget moves the pointer to a resolved target in a frame, until it comes there. again says that
// the target has to be resolved anew.
func (h Resolved) arriveAtTarget(ctx context.Context) (again bool, err error) {
	if h.arrival == nil {
		return false, nil
	}
	came, near, err := h.arrival.moved(ctx, primitives.Point{X: h.X, Y: h.Y})
	code := fault.CodeOf(err)
	if code == fault.PageNavigated || locator.IsFrameFault(code) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return !near && !(came && h.far), nil
}
