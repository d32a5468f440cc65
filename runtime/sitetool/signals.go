package sitetool

import (
	"context"
	"slices"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/attach"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/signal"
	"github.com/outrider-run/outrider/runtime/siteaction"
)

// siteSignals answers mode signals: what the page may say, and whether it is
// forwarded. With a name and enabled it switches that first.
func (x *Tool) siteSignals(ctx context.Context, c siteaction.Caller, in arguments) call.Reply {
	o, url, err := x.actions.OfferFor(ctx, c.Message().Map)
	if err != nil {
		return call.Reply{Err: err}
	}
	applying := o.Library.For(url)
	if in.Enabled != nil || in.Name != "" {
		var names []string
		for _, s := range signal.OfferedBy(o.Library, applying) {
			names = append(names, s.Name)
		}
		if !slices.Contains(names, in.Name) {
			return call.Reply{Err: fault.New(
				fault.UnknownReference, "the maps of this page declare no signal %s", fault.Clip(in.Name, 100),
			).With("signal", fault.Clip(in.Name, 100)).With("nearest", fault.Near(in.Name, names))}
		}
	}
	if in.Enabled != nil {
		x.signals.Enable(ctx, in.Name, *in.Enabled)
	}
	rows := x.signals.List(o.Library, applying)
	if in.Name != "" {
		rows = slices.DeleteFunc(rows, func(r signal.Listed) bool { return r.Name != in.Name })
	}
	return call.Encoded(map[string]any{"ok": true, "url": url, "signals": rows})
}

// siteAttachments answers mode attachments: what hangs on the page, and why
// something does not. With a name and enabled it first puts that attachment on
// the page of this tab, also one that is installed by hand, or takes it away.
func (x *Tool) siteAttachments(ctx context.Context, c siteaction.Caller, in arguments) call.Reply {
	o, url, err := x.actions.OfferFor(ctx, c.Message().Map)
	if err != nil {
		return call.Reply{Err: err}
	}
	applying := o.Library.For(url)
	if in.Enabled != nil || in.Name != "" {
		var ids []string
		for _, a := range attach.OfferedBy(o.Library, applying) {
			ids = append(ids, a.ID)
		}
		if !slices.Contains(ids, in.Name) {
			return call.Reply{Err: fault.New(
				fault.UnknownReference, "the maps of this page declare no attachment %s", fault.Clip(in.Name, 100),
			).With("attachment", fault.Clip(in.Name, 100)).With("nearest", fault.Near(in.Name, ids))}
		}
	}
	if in.Enabled != nil {
		x.attachments.Switch(ctx, in.Name, *in.Enabled)
	}
	rows := x.attachments.List(o.Library, applying)
	if in.Name != "" {
		rows = slices.DeleteFunc(rows, func(r attach.Listed) bool { return r.ID != in.Name })
	}
	return call.Encoded(map[string]any{"ok": true, "url": url, "attachments": rows})
}
