package primitives

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// WithQuirks returns p with the quirks of a profile: handlers find them with
// QuirksOf, and the page library is told those that it decides. Without quirks
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
	if q, ok := p.(interface{ Quirks() quirks.Set }); ok {
		return q.Quirks()
	}
	return quirks.Set{}
}

type quirkyPage struct {
	Page
	set    quirks.Set
	member json.RawMessage // the names for the page library, nil for none
}

func (q quirkyPage) Quirks() quirks.Set { return q.set }

// Call implements Page. The names travel as the argument quirks, which the
// library takes before it looks for its function.
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

// Peer implements Page: the other tab has the same quirks.
func (q quirkyPage) Peer(tabID int) (Page, error) {
	p, err := q.Page.Peer(tabID)
	if err != nil {
		return nil, err
	}
	return WithQuirks(p, q.set), nil
}
