package primitives

import (
	"context"

	"github.com/outrider-run/outrider/primitives/fault"
)

// markerIn names a marker. marker.query calls it id and the two movements call
// it marker; each takes both.
type markerIn struct {
	ID     string `json:"id"`
	Marker string `json:"marker"`
}

// resolve runs the marker's recipe. kind is the type it must have, "" for any.
func (in markerIn) resolve(ctx context.Context, p Page, primitive, kind string) (MarkerPlace, error) {
	id := in.ID
	if id == "" {
		id = in.Marker
	}
	if id == "" {
		return MarkerPlace{}, fault.New(fault.InvalidInput, "the id of a marker is needed").With("missing_required", []string{"marker"})
	}
	s, err := sessionOf(p, primitive, "marker.resolve")
	if err != nil {
		return MarkerPlace{}, err
	}
	return s.Marker(ctx, id, kind)
}

// markerOut says where a marker is now.
type markerOut struct {
	Marker     string `json:"marker"`
	Type       string `json:"type"`
	Location   *Point `json:"location"` // null when the recipe named no place
	ResolvedAt string `json:"resolved_at"`
}

func markerAnswer(m MarkerPlace) markerOut {
	return markerOut{m.ID, m.Type, m.Location, m.ResolvedAt.UTC().Format("2006-01-02T15:04:05.000Z07:00")}
}

// markerQuery resolves a marker. It is no pure read: the recipe is run, its
// presses included.
var markerQuery = Define("marker.query", func(ctx context.Context, p Page, in markerIn) (markerOut, error) {
	m, err := in.resolve(ctx, p, "marker.query", "")
	return markerAnswer(m), err
})

type markerMoveOut struct {
	markerOut
	Moved bool `json:"moved"`
	// Target is what has the caret, or is under the pointer, afterwards; null
	// where nothing is.
	Target actedOn     `json:"target"`
	Dialog *seenDialog `json:"dialog,omitempty"`
}

// cursorMoveTo puts the caret where the marker says: the recipe itself does it.
var cursorMoveTo = Define("cursor.move_to", func(ctx context.Context, p Page, in markerIn) (markerMoveOut, error) {
	m, err := in.resolve(ctx, p, "cursor.move_to", "cursor")
	if err != nil {
		return markerMoveOut{}, err
	}
	target, err := focusedTarget(ctx, p)
	return markerMoveOut{markerAnswer(m), true, target, dialogOf(p)}, err
})

// pointerMoveTo runs the recipe and then moves the pointer to the place it led
// to.
var pointerMoveTo = Define("pointer.move_to", func(ctx context.Context, p Page, in markerIn) (markerMoveOut, error) {
	m, err := in.resolve(ctx, p, "pointer.move_to", "pointer")
	if err != nil {
		return markerMoveOut{}, err
	}
	if m.Location == nil {
		return markerMoveOut{}, fault.New(fault.MarkerPromiseUnkept, "the recipe of the pointer marker named no place").With("marker", m.ID)
	}
	at := func(v float64) coordinate { return coordinate{given: true, value: v} }
	a, err := takeAim(ctx, p, at(m.Location.X), at(m.Location.Y))
	if err != nil {
		return markerMoveOut{}, err
	}
	if err := p.Mouse(ctx, MouseEvent{Type: MouseMoved, X: a.X, Y: a.Y}); err != nil {
		return markerMoveOut{}, err
	}
	return markerMoveOut{markerAnswer(m), true, a.Target, dialogOf(p)}, nil
})
