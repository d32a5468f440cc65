package runtime

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/sites"
)

// forbids decides whether an action of a map may use a primitive at all. The upstream
// extension has no such check.
func (h *Host) forbids(m *sites.Map, primitive string) *fault.Error {
	need := sites.PermissionFor(primitive)
	if h.opts.Quirks.Has(quirks.MapsAsTheyCome) || h.opts.MapPermissions.Allow(m, need) {
		return nil
	}
	return m.Denied(need, "it uses "+primitive+"; nothing was done").With("primitive", primitive)
}

// boundsOf are the origins that something done on behalf of a map keeps to, nil for none. via
// is the map by which it is offered, page the address on which it begins.
func (h *Host) boundsOf(m, via *sites.Map, page string) *sites.Bounds {
	if m == nil || h.opts.Quirks.Has(quirks.MapsAsTheyCome) {
		return nil
	}
	return h.opts.MapPermissions.BoundsOf(m, via, page)
}

// within returns a context in which pages are read and acted on within the bounds of a map.
// One that has bounds keeps them: what an action brings about is no freer than it is.
func (h *Host) within(ctx context.Context, m, via *sites.Map, page string) context.Context {
	if primitives.BoundsOf(ctx) != nil {
		return ctx
	}
	if b := h.boundsOf(m, via, page); b != nil {
		return primitives.WithBounds(ctx, b)
	}
	return ctx
}

// boundsIn are those of within.
func boundsIn(ctx context.Context) *sites.Bounds {
	b, _ := primitives.BoundsOf(ctx).(*sites.Bounds)
	return b
}

// admitted says why a page may not be touched at all, nil when it may.
func admitted(ctx context.Context, page primitives.Page) *fault.Error {
	p, ok := page.(admittingPage)
	if !ok {
		return nil // it checks each call
	}
	if err := p.Admit(ctx, ""); err != nil {
		return plainRefusal(fault.From(err))
	}
	return nil
}

// forbidsAddress decides whether a primitive may lead to the address among its arguments.
func forbidsAddress(b *sites.Bounds, primitive string, args json.RawMessage) *fault.Error {
	if primitive != "browser.navigate" && primitive != "browser.open_tab" {
		return nil
	}
	var in struct {
		URL string `json:"url"`
	}
	_ = json.Unmarshal(args, &in) // what is no address is the primitive's to refuse
	if in.URL == "" {
		return nil
	}
	if err := b.RefusesAddress(in.URL); err != nil {
		return err.With("primitive", primitive)
	}
	return nil
}

// plainRefusal is a refusal of bounds without what was being done to the page: that is the
// host's business.
func plainRefusal(err *fault.Error) *fault.Error {
	var cause *fault.Error
	for e := error(err); errors.As(e, &cause) && cause.Code == fault.PermissionDenied; e = cause.Err {
		err = cause
	}
	return err
}
