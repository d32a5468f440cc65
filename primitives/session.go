package primitives

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

// SessionPage is a Page together with the runtime's side of its tab. The
// runtime passes one to Registry.Invoke; a bare Page serves every primitive
// that needs the page alone.
type SessionPage interface {
	Page
	Session() Session
}

// Session is what a handler may ask of the runtime that owns the tab. It has
// only methods that some primitive uses; package runtime implements it. It is
// safe for concurrent use.
type Session interface {
	// SetPacing sets the least distance between the starts of two paced
	// primitives on this tab.
	SetPacing(least time.Duration)

	Stores

	TabControl
	Storage
	CallLog
	Announcing
	OverlayWatching

	// Marker finds a marker of the document that the tab shows and runs its
	// recipe, the presses in it included. kind is the type it must have, "" for
	// any. It fails with marker_not_found, marker_type_mismatch and
	// marker_recipe_step_failed.
	Marker(ctx context.Context, id, kind string) (MarkerPlace, error)
}

// sessionOf returns the session behind p, capability_unavailable when the host
// runs primitives without one.
func sessionOf(p Page, primitive, capability string) (Session, error) {
	if s, ok := p.(SessionPage); ok {
		return s.Session(), nil
	}
	return nil, unavailable(primitive, capability, "there is no session behind this page")
}

// unavailable says what is missing and on which host, so that a caller can look
// for another one.
func unavailable(primitive, capability, reason string) *fault.Error {
	return fault.New(fault.CapabilityUnavailable, "this host does not provide %s", primitive).
		With("primitive", primitive).With("capability", capability).With("adapter", Adapter).With("reason", reason)
}
