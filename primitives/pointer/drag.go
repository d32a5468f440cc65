package pointer

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/keys"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/quirks"
)

type pointerDragIn struct {
	From  dragEnd `json:"from"`
	To    dragEnd `json:"to"`
	Steps *int    `json:"steps"`
	// DurationMS is accepted and ignored, as upstream does.
	DurationMS int `json:"duration_ms"`
	// Trusted asks for upstream's trusted timing: 60 movements, 12 ms apart.
	// Every drag here is trusted, but for the quirk synthetic_input, under which only this
	// one is.
	Trusted     bool `json:"trusted"`
	Points      *int `json:"points"`
	MoveDelayMS *int `json:"move_delay_ms"`
	// HoldMS is how long the button is held still before the first movement.
	HoldMS int `json:"hold_ms"`
	// TimeoutMS is how long to wait for ends that are named by locators.
	TimeoutMS *int `json:"timeout_ms"`
	// Path are points that the pointer passes between the ends: of the element of From, or of the viewport where From
	// is a point.
	Path []actionability.Position `json:"path"`
}

// dragEnd is a point, or a locator: its members inline or below locator.
type dragEnd struct {
	raw     json.RawMessage
	point   bool // x or y is there, perhaps null
	x, y    arguments.Coordinate
	locator locator.Locator
	named   bool // the locator says something
	// position is where in the element of the locator the end is; nil for a point that the page chooses.
	position *actionability.Position
	path     []actionability.Position // that begins here
}

func (e *dragEnd) UnmarshalJSON(b []byte) error {
	*e = dragEnd{raw: bytes.Clone(b)}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return err
	}
	x, hasX := members["x"]
	y, hasY := members["y"]
	if hasX || hasY {
		e.point = true
		for raw, into := range map[*json.RawMessage]*arguments.Coordinate{&x: &e.x, &y: &e.y} {
			if len(*raw) == 0 {
				continue
			}
			if err := into.UnmarshalJSON(*raw); err != nil {
				return err
			}
		}
		return nil
	}
	if position, ok := members["position"]; ok {
		if err := json.Unmarshal(position, &e.position); err != nil {
			return err
		}
		delete(members, "position")
	}
	rest, err := json.Marshal(members)
	if err != nil {
		return err
	}
	var target locator.SelectorOrLocator
	if err := target.UnmarshalJSON(rest); err != nil {
		return err
	}
	e.locator = target.Locator
	e.named = target.Locator.NamesElement()
	return nil
}

type pointerDragOut struct {
	// Dragged means that the events were sent, not that anything was dropped.
	Dragged  bool             `json:"dragged"`
	From     primitives.Point `json:"from"`
	To       primitives.Point `json:"to"`
	Steps    int              `json:"steps"`
	Points   int              `json:"points"` // movements sent between pickup and the end
	Fidelity string           `json:"fidelity"`
	// Target is the element under the press, DropTarget the one under the release
	// before anything was pressed; null where nothing was.
	Target      actionability.ActedOn    `json:"target"`
	DropTarget  actionability.ActedOn    `json:"drop_target"`
	Diagnostics dragDiagnostics          `json:"diagnostics"`
	Dialog      *primitives.OpenedDialog `json:"dialog,omitempty"`
}

type dragDiagnostics struct {
	Viewport json.RawMessage `json:"viewport"`
	From     any             `json:"from"`
	To       any             `json:"to"`
}

type dragCoordinates struct {
	Source string           `json:"source"`
	Input  json.RawMessage  `json:"input"`
	Point  primitives.Point `json:"point"`
}

type dragViewport struct {
	Width   float64 `json:"width"`
	Height  float64 `json:"height"`
	ScrollX float64 `json:"scroll_x"`
	ScrollY float64 `json:"scroll_y"`
}

const (
	// leastPoints is how many movements lie between the ends at least: sorting
	// libraries follow the pointer and miss what it jumps over.
	leastPoints                        = 10
	minTrustedPoints, maxTrustedPoints = 12, 200
	defaultTrustedPoints               = 60
	minMoveDelay                       = 4
	defaultMoveDelay                   = 12
	maxMoveDelay                       = 60
	// maxSyntheticSteps holds where the schema, which says the same, is not asked.
	maxSyntheticSteps = 40
	// pickupMoves small movements of (pickupX, pickupY) come first: a drag
	// begins when the pointer has left a threshold around the press.
	pickupMoves      = 4
	pickupX, pickupY = 4, 2
	// beforeDrop is how long the pointer rests over the end before its last movement: lists
	// that are sorted while the pointer moves heed none for 30 ms after each change.
	beforeDrop = 40 * time.Millisecond
	// maxSettles is how often what makes way at the end of a drag is waited for.
	maxSettles = 4
)

// pointerDrag presses at one end, moves to the other and releases there. Both
// ends are found before anything is pressed. The browser turns the movements
// into its own drag and drop where the element is draggable.
//
// Where input is synthetic it is one movement for each step, all in one task of the
// page, and no drag and drop comes of it.
var pointerDrag = primitives.Define("pointer.drag", func(
	ctx context.Context, p primitives.Page, in pointerDragIn,
) (pointerDragOut, error) {
	var info struct {
		Viewport dragViewport `json:"viewport"`
	}
	if err := p.Call(ctx, "", "viewport_info", nil, &info); err != nil {
		return pointerDragOut{}, err
	}
	if in.Trusted {
		p = primitives.TrustedInput(p)
	}
	in.From.path = in.Path
	ends, scrolled, err := in.ends(ctx, p, info.Viewport)
	if err != nil {
		return pointerDragOut{}, err
	}
	if scrolled {
		if err := p.Call(ctx, "", "viewport_info", nil, &info); err != nil {
			return pointerDragOut{}, err
		}
	}
	from, to := ends[0], ends[1]
	if err := insideViewport(from.path, info.Viewport); err != nil {
		return pointerDragOut{}, err
	}
	steps, points, delay := in.course()
	if primitives.FidelityOf(p) == primitives.FidelitySynthetic {
		points = min(max(steps, 1), maxSyntheticSteps)
		err = primitives.Dispatched(
			p.Call(ctx, "", "drag_synthetic", map[string]any{"from": from.point, "to": to.point, "steps": points}, nil),
		)
	} else {
		// The browser may take a frame that has just come for the document around it.
		x := arguments.Coordinate{Given: true, Value: from.point.X}
		y := arguments.Coordinate{Given: true, Value: from.point.Y}
		if _, err := actionability.AtReached(ctx, p, x, y); err != nil {
			return pointerDragOut{}, err
		}
		err = drag{
			page:    p,
			from:    from.point,
			to:      to.point,
			points:  points,
			delay:   delay,
			view:    info.Viewport,
			over:    to.frame,
			hold:    time.Duration(in.HoldMS) * time.Millisecond,
			path:    from.path,
			settles: len(in.Path) == 0 && !primitives.QuirksOf(p).Has(quirks.DragEndsAsTheyAre),
		}.run(ctx)
	}
	if err != nil {
		return pointerDragOut{}, err
	}
	viewport, err := json.Marshal(info.Viewport)
	if err != nil {
		return pointerDragOut{}, err
	}
	return pointerDragOut{
		Dragged:     true,
		From:        from.point,
		To:          to.point,
		Steps:       steps,
		Points:      points,
		Fidelity:    primitives.FidelityOf(p),
		Target:      from.target,
		DropTarget:  to.target,
		Diagnostics: dragDiagnostics{viewport, from.seen, to.seen},
		Dialog:      primitives.DialogOpenOn(p),
	}, nil
})

// course is how the pointer travels. Without a delay each movement waits only
// until the page has handled the one before.
func (in pointerDragIn) course() (steps, points int, delay time.Duration) {
	steps = 1
	if in.Steps != nil {
		steps = *in.Steps
	}
	switch {
	case in.Points != nil:
		points = min(max(*in.Points, minTrustedPoints), maxTrustedPoints)
	case in.Trusted && in.Steps != nil:
		points = min(max(steps, minTrustedPoints), maxTrustedPoints)
	case in.Trusted:
		points = defaultTrustedPoints
	default:
		points = max(steps, leastPoints)
	}
	ms := 0
	switch {
	case in.MoveDelayMS != nil:
		ms = min(max(*in.MoveDelayMS, minMoveDelay), maxMoveDelay)
	case in.Trusted:
		ms = defaultMoveDelay
	}
	return steps, points, time.Duration(ms) * time.Millisecond
}

// aboutEnd says in the evidence which end failed.
func aboutEnd(err error, which string, raw json.RawMessage) error {
	f := fault.From(err)
	switch f.Code {
	case fault.TargetNotFound, fault.TargetNotActionable, fault.FrameNotFound, fault.FrameCrossOrigin,
		fault.InvalidSelector:
		return f.With(which, raw)
	}
	return err
}

// drag is one journey of the pressed pointer.
type drag struct {
	page     primitives.Page
	from, to primitives.Point
	points   int
	delay    time.Duration
	hold     time.Duration
	path     []primitives.Point // what is drawn along it is drawn exactly: there are no movements to pick up
	view     dragViewport
	over     primitives.FrameID // of the end
	settles  bool
}

// run releases the button whatever happens: after a failure where it was
// pressed, so that nothing is dropped on the way.
func (d drag) run(ctx context.Context) (err error) {
	if err := d.page.Mouse(ctx, primitives.MouseEvent{
		Type: primitives.MouseMoved,
		X:    d.from.X,
		Y:    d.from.Y,
	}); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keys.ReleaseBound)
			defer cancel()
			_ = d.page.Mouse(ctx, d.held(d.from), d.event(primitives.MouseReleased, d.from, 0))
		}
	}()
	if err := d.page.Mouse(
		ctx, d.event(primitives.MousePressed, d.from, actionability.ButtonBits["left"]),
	); err != nil {
		return err
	}
	if err := primitives.Sleep(ctx, max(2*d.delay, d.hold)); err != nil {
		return err
	}
	if err := d.travel(ctx); err != nil {
		return err
	}
	if err := d.move(ctx, d.to); err != nil {
		return err
	}
	if err := d.settle(ctx); err != nil {
		return err
	}
	if err := primitives.Sleep(ctx, 3*d.delay); err != nil {
		return err
	}
	return d.page.Mouse(ctx, d.event(primitives.MouseReleased, d.to, 0))
}

// travel moves from one end to short of the other.
func (d drag) travel(ctx context.Context) error {
	if len(d.path) > 0 {
		return d.follow(ctx)
	}
	for n := 1; n <= pickupMoves; n++ {
		at := primitives.Point{
			X: min(d.from.X+float64(n*pickupX), d.view.Width-1),
			Y: min(d.from.Y+float64(n*pickupY), d.view.Height-1),
		}
		if err := d.move(ctx, at); err != nil {
			return err
		}
	}
	for n := 1; n <= d.points; n++ {
		part := float64(n) / float64(d.points+1)
		if err := d.move(ctx, primitives.Point{
			X: d.from.X + (d.to.X-d.from.X)*part,
			Y: d.from.Y + (d.to.Y-d.from.Y)*part,
		}); err != nil {
			return err
		}
	}
	return nil
}

// strideOfPath is how far two movements along a path lie apart, and mostStrides how many there are between two of its
// points.
const (
	strideOfPath = 12.0
	mostStrides  = 20
)

// follow moves along the path.
func (d drag) follow(ctx context.Context) error {
	at := d.from
	for i, next := range append(slices.Clone(d.path), d.to) {
		strides := min(max(int(math.Hypot(next.X-at.X, next.Y-at.Y)/strideOfPath), 1), mostStrides)
		for n := 1; n <= strides; n++ {
			if i == len(d.path) && n == strides {
				break // the end itself is moved to after this
			}
			part := float64(n) / float64(strides)
			if err := d.move(ctx, primitives.Point{
				X: at.X + (next.X-at.X)*part,
				Y: at.Y + (next.Y-at.Y)*part,
			}); err != nil {
				return err
			}
		}
		at = next
	}
	return nil
}

// settle moves a little at the end, and again after things have made way for what is
// dragged: a list that is sorted heeds no movement while its elements glide
// aside, and where they come to rest decides about the drop. What cannot be queried
// is as settled as it will be.
func (d drag) settle(ctx context.Context) error {
	if !d.settles {
		return nil
	}
	if err := primitives.Sleep(ctx, beforeDrop); err != nil {
		return err
	}
	for n := range maxSettles {
		var rest struct {
			Moved bool `json:"moved"`
		}
		if err := d.page.Call(ctx, d.over, "drag_rest", nil, &rest); err != nil || n > 0 && !rest.Moved {
			return ctx.Err()
		}
		aside := primitives.Point{X: d.to.X, Y: d.to.Y + 1}
		if aside.Y >= d.view.Height {
			aside.Y = d.to.Y - 1
		}
		for _, at := range []primitives.Point{aside, d.to} {
			if err := d.move(ctx, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// move waits until the page has handled the movement: movements that meet
// within a frame would be merged into one.
func (d drag) move(ctx context.Context, at primitives.Point) error {
	if err := d.page.Mouse(ctx, d.held(at)); err != nil {
		return err
	}
	return primitives.Sleep(ctx, d.delay)
}

func (d drag) held(at primitives.Point) primitives.MouseEvent {
	e := d.event(primitives.MouseMoved, at, actionability.ButtonBits["left"])
	e.ClickCount = 0
	return e
}

func (d drag) event(kind primitives.MouseType, at primitives.Point, buttons int) primitives.MouseEvent {
	return primitives.MouseEvent{
		Type:       kind,
		X:          at.X,
		Y:          at.Y,
		Button:     "left",
		Buttons:    buttons,
		ClickCount: 1,
	}
}
