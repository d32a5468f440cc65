package pointer

import (
	"context"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/session"
)

// markerIn names a marker. marker.query calls it id and the two movements call
// it marker; each takes both.
type markerIn struct {
	ID     string `json:"id"`
	Marker string `json:"marker"`
}

// resolve runs the marker's recipe. kind is the type it must have, "" for any.
func (in markerIn) resolve(
	ctx context.Context, p primitives.Page, primitive, kind string,
) (session.MarkerPlace, error) {
	id := in.ID
	if id == "" {
		id = in.Marker
	}
	if id == "" {
		return session.MarkerPlace{}, fault.New(fault.InvalidInput, "the id of a marker is needed").
			With("missing_required", []string{"marker"})
	}
	s, err := session.Of(p, primitive, "marker.resolve")
	if err != nil {
		return session.MarkerPlace{}, err
	}
	return s.Marker(ctx, id, kind)
}

// markerOut is where a marker is.
type markerOut struct {
	Marker     string            `json:"marker"`
	Type       string            `json:"type"`
	Location   *primitives.Point `json:"location"` // null when the recipe named no place
	ResolvedAt string            `json:"resolved_at"`
}

func markerAnswer(m session.MarkerPlace) markerOut {
	return markerOut{m.ID, m.Type, m.Location, jsonout.Time(m.ResolvedAt)}
}

// markerQuery resolves a marker. It is no pure read: the recipe is run, its
// clicks included.
var markerQuery = primitives.Define("marker.query", func(
	ctx context.Context, p primitives.Page, in markerIn,
) (markerOut, error) {
	m, err := in.resolve(ctx, p, "marker.query", "")
	return markerAnswer(m), err
})

type markerMoveOut struct {
	markerOut
	Moved bool `json:"moved"`
	// Target is the element that has the caret, or is under the pointer, afterwards; null
	// where nothing is.
	Target actionability.ActedOn    `json:"target"`
	Dialog *primitives.OpenedDialog `json:"dialog,omitempty"`
}

// cursorMoveTo puts the caret where the marker says: the recipe itself does it.
var cursorMoveTo = primitives.Define("cursor.move_to", func(
	ctx context.Context, p primitives.Page, in markerIn,
) (markerMoveOut, error) {
	m, err := in.resolve(ctx, p, "cursor.move_to", "cursor")
	if err != nil {
		return markerMoveOut{}, err
	}
	target, err := actionability.FocusedTarget(ctx, p)
	return markerMoveOut{markerAnswer(m), true, target, primitives.DialogOpenOn(p)}, err
})

// pointerMoveTo runs the recipe and then moves the pointer to the place it led
// to.
var pointerMoveTo = primitives.Define("pointer.move_to", func(
	ctx context.Context, p primitives.Page, in markerIn,
) (markerMoveOut, error) {
	m, err := in.resolve(ctx, p, "pointer.move_to", "pointer")
	if err != nil {
		return markerMoveOut{}, err
	}
	if m.Location == nil {
		return markerMoveOut{}, fault.New(fault.MarkerPromiseUnkept, "the recipe of the pointer marker named no place").
			With("marker", m.ID)
	}
	at := func(v float64) arguments.Coordinate { return arguments.Coordinate{Given: true, Value: v} }
	a, err := actionability.AtReached(ctx, p, at(m.Location.X), at(m.Location.Y))
	if err != nil {
		return markerMoveOut{}, err
	}
	if err := p.Mouse(ctx, primitives.MouseEvent{Type: primitives.MouseMoved, X: a.X, Y: a.Y}); err != nil {
		return markerMoveOut{}, err
	}
	return markerMoveOut{markerAnswer(m), true, a.Target, primitives.DialogOpenOn(p)}, nil
})
