package primitives

import (
	"context"
	"encoding/json"
	"slices"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// WithQuirks returns p with the quirks of a profile: handlers find them with
// QuirksOf, and the page library receives those that it decides. Without quirks
// it is p itself.
func WithQuirks(p Page, set quirks.Set) Page {
	if set.Empty() {
		return p
	}
	q := quirkyPage{Page: p, set: set}
	if names := set.InPage(); len(names) > 0 {
		q.member, _ = json.Marshal(names) // a list of strings
	}
	return q
}

// QuirksOf returns the quirks that hold on p; none on a Page that says nothing.
func QuirksOf(p Page) quirks.Set {
	if q, ok := p.(profiled); ok {
		return q.Quirks()
	}
	return quirks.Set{}
}

// profiled is a Page with the quirks of a profile.
type profiled interface {
	Quirks() quirks.Set
}

type quirkyPage struct {
	Page
	set    quirks.Set
	member json.RawMessage // the names for the page library, nil for none
}

func (q quirkyPage) Quirks() quirks.Set { return q.set }

// Call implements Page. The names travel as the argument quirks, which the
// library reads before it finds its function.
func (q quirkyPage) Call(ctx context.Context, frame FrameID, fn string, args, out any) error {
	if q.member == nil {
		return q.Page.Call(ctx, frame, fn, args, out)
	}
	b, err := json.Marshal(args)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "encoding the arguments of a page call")
	}
	rest := []byte("}")
	if n := len(b); n > 2 && b[0] == '{' {
		rest = append([]byte{','}, b[1:]...)
	}
	with := append(append([]byte(`{"quirks":`), q.member...), rest...)
	return q.Page.Call(ctx, frame, fn, json.RawMessage(with), out)
}

// Mouse implements Page: where input is synthetic the page library dispatches
// the button events, all on one element; a movement is not dispatched. A drag does
// not come this way.
func (q quirkyPage) Mouse(ctx context.Context, events ...MouseEvent) error {
	if !q.set.Has(quirks.SyntheticInput) {
		return q.Page.Mouse(ctx, events...)
	}
	if !slices.ContainsFunc(events, func(e MouseEvent) bool { return e.Type != MouseMoved }) {
		return ctx.Err()
	}
	type event struct {
		Type      MouseType `json:"type"`
		X         float64   `json:"x"`
		Y         float64   `json:"y"`
		Button    string    `json:"button"`
		Buttons   int       `json:"buttons"`
		Count     int       `json:"count"`
		Modifiers Modifiers `json:"modifiers"`
	}
	list := make([]event, len(events))
	for i, e := range events {
		list[i] = event{e.Type, e.X, e.Y, e.Button, e.Buttons, e.ClickCount, e.Modifiers}
	}
	return Dispatched(q.Page.Call(ctx, "", "pointer_synthetic", map[string]any{"events": list}, nil))
}

// Dispatched reports the outcome of events that the page library was to dispatch: they count as
// sent when a listener of theirs left the document or opened a dialog.
func Dispatched(err error) error {
	if code := fault.CodeOf(err); code == fault.PageNavigated || code == fault.DialogOpen {
		return nil
	}
	return err
}

// upstreamKeys are the named keys whose codes the extension knows.
var upstreamKeys = []string{
	"Enter", "Escape", "Backspace", "Delete", "Tab", "ArrowUp",
	"ArrowDown", "ArrowLeft", "ArrowRight", "Home", "End", "Space",
	"Control", "Alt", "Meta", "Shift",
}

// Keys implements Page: keys that the extension's table lacks have no code.
func (q quirkyPage) Keys(ctx context.Context, events ...KeyEvent) error {
	if q.set.Has(quirks.PartialKeyTable) {
		events = slices.Clone(events)
		for i, e := range events {
			if utf8.RuneCountInString(e.Key) > 1 && !slices.Contains(upstreamKeys, e.Key) {
				events[i].Code = e.Key
				events[i].KeyCode = 0
				events[i].Text = ""
			}
		}
	}
	return q.Page.Keys(ctx, events...)
}

// TrustedInput returns p with the browser's own input, for callers that ask for
// it by name.
func TrustedInput(p Page) Page { return WithoutQuirks(p, quirks.SyntheticInput) }

// WithoutQuirks returns p without the quirks of these names.
func WithoutQuirks(p Page, names ...quirks.Name) Page {
	switch q := p.(type) {
	case quirkyPage:
		set := q.set
		for _, n := range names {
			set = set.Without(n)
		}
		return WithQuirks(q.Page, set)
	case interface {
		WithoutQuirks(names ...quirks.Name) Page
	}:
		return q.WithoutQuirks(names...)
	}
	return p
}

type ownWords struct{}

// InOwnWords marks the calls of a face of this host, which are not held to the
// vocabulary of the extension (quirks.UpstreamVocabulary).
func InOwnWords(ctx context.Context) context.Context {
	return context.WithValue(ctx, ownWords{}, true)
}

// HeldToUpstream reports whether a call under these quirks may use the vocabulary
// of the extension only.
func HeldToUpstream(ctx context.Context, set quirks.Set) bool {
	return set.Has(quirks.UpstreamVocabulary) && ctx.Value(ownWords{}) == nil
}

// UnknownUpstream is how the extension fails for a name that it does not have.
func UnknownUpstream(name string) *fault.Error {
	return fault.New(fault.HandlerFailed, "Unknown action: %s", fault.Clip(name, 100))
}

// Peer implements Page: the other tab has the same quirks.
func (q quirkyPage) Peer(tabID int) (Page, error) {
	p, err := q.Page.Peer(tabID)
	if err != nil {
		return nil, err
	}
	return WithQuirks(p, q.set), nil
}
