package session

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Page is a Page together with the runtime's side of its tab. The
// runtime passes one to Registry.Invoke; a bare Page serves every primitive
// that needs the page alone.
type Page interface {
	primitives.Page
	Session() Session
}

// Session has what a handler may call of the runtime that owns the tab. It has
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
	Outcomes
	Announcing
	OverlayWatching

	// Marker finds a marker of the document that the tab shows and runs its
	// recipe, the clicks in it included. kind is the type it must have, "" for
	// any. It fails with marker_not_found, marker_type_mismatch and
	// marker_recipe_step_failed.
	Marker(ctx context.Context, id, kind string) (MarkerPlace, error)
}

// Of returns the session behind p, capability_unavailable when the host
// runs primitives without one.
func Of(p primitives.Page, primitive, capability string) (Session, error) {
	if s, ok := p.(Page); ok {
		return s.Session(), nil
	}
	return nil, Unavailable(primitive, capability, "there is no session behind this page")
}

// Unavailable says what is missing and on which host, so that a caller can look
// for another one.
func Unavailable(primitive, capability, reason string) *fault.Error {
	return fault.New(fault.CapabilityUnavailable, "this host does not provide %s", primitive).
		With("primitive", primitive).
		With("capability", capability).With("adapter", primitives.Adapter).With("reason", reason)
}

// Announcing switches a session's subscription to live regions.
type Announcing interface {
	// Listen begins to observe the live regions of a tab, all frames, from then on
	// and over navigations, and returns when the documents that are there
	// are observed. It may be called again.
	Listen(ctx context.Context, tabID int) error
}

// CallLog reads the calls that the runtime answered.
type CallLog interface {
	// CallEvents returns the newest events, oldest first, how many the log
	// holds and how many it had no room for.
	CallEvents(limit int) (events []json.RawMessage, held, dropped int)
	// NameSession gives the session a name, SessionName returns it: "" before.
	NameSession(name string)
	SessionName() string
}

// Outcomes are what became of the calls of a session that carried an idempotency key.
type Outcomes interface {
	// Outcome is what became of the call with a key.
	Outcome(key string) Outcome
}

// Storage reads the storage that the maps of a session came from. Answers
// are in the form of the primitives.
type Storage interface {
	// StoredFile reads a file that a map of the page declares.
	StoredFile(pageURL, id, path string, maxBytes int) (json.RawMessage, *fault.Error)
	// StoredPaths lists the bundle that was imported.
	StoredPaths() (json.RawMessage, *fault.Error)
	// ImportStored takes a bundle.
	ImportStored(bundle json.RawMessage) (json.RawMessage, *fault.Error)
	// StoredAsset reads a file of a scope ("private", "public",
	// "shared/<name>") that an overlay is made of: asset_not_found,
	// unsafe_path.
	StoredAsset(scope, path string) ([]byte, *fault.Error)
	// StoredSource reads a file by the name that the map gives it on whose
	// behalf the primitive runs: asset_not_found, unsafe_path,
	// permission_denied, payload_too_large; invalid_input without a map.
	StoredSource(path string) ([]byte, *fault.Error)
}

// OverlayWatching reports events of a tab's overlay, also those that a person causes.
type OverlayWatching interface {
	// WatchOverlay listens as long as the document has an overlay or a launcher.
	WatchOverlay()
}

// MarkerPlace is a marker whose recipe has just run.
type MarkerPlace struct {
	ID         string
	Type       string // "cursor" or "pointer"
	Location   *primitives.Point
	ResolvedAt time.Time
}
