package sitetool

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/siteaction"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// preparedCheck sets up one check and judges it from an observation of its own, again
// after each change of the page while it fails, for as long as wait. The page
// returns to the address it had.
func (x *Tool) preparedCheck(
	ctx context.Context, c siteaction.Caller, o *mapset.Offer, m *sites.Map, k *manifest.Check, in arguments,
) checks.Check {
	wait := waitOf(in)
	began := x.actions.Status().URL
	setup, err := x.actions.Setup(ctx, c, o, m, k)
	var r checks.Check
	if err == nil {
		s := verify.Batch{Library: o.Library}
		whole, end := observe.Answerable(ctx)
		bounded, cancel := context.WithTimeout(whole, max(wait, siteaction.StateWait))
		_, e := observe.Until(whole, bounded, x.actions, func(ctx context.Context, page primitives.Page) (bool, error) {
			next := verify.Batch{Library: o.Library, Attached: x.attachments.State, Explain: true}
			if setup.Done {
				next.Prepared = k
			}
			next.AddCheck(m, k)
			if err := next.Evaluate(ctx, page); err != nil {
				return false, err
			}
			s = next
			return !s.Check(m, k).Breaks(), nil
		})
		cancel()
		end()
		if s.At.IsZero() {
			err = fault.From(e)
			if e == nil {
				err = fault.New(fault.Timeout, "the page could not be observed in time")
			}
		}
		r = s.Check(m, k)
		if page, e := x.actions.LivePage(ctx); e == nil {
			recall(ctx, page, &s, m, k, &r, in)
		}
	}
	if err != nil {
		s := verify.Batch{Library: o.Library, URL: x.actions.Status().URL, At: time.Now()}
		r = s.Check(m, k).NotRunFor(err)
	}
	r.Setup = &setup
	if err != nil && err.Code == fault.DialogOpen {
		// It was not open before: observing the checks without setup went well.
		setup.Dismissed = c.InvokeFor(
			ctx, nil, "browser.dismiss_dialog", json.RawMessage(`{"accept":false}`),
		).Err == nil
	}
	if r.Status == checks.Failed || r.Status == checks.Drifted || r.Status == checks.NotRun {
		ev := evidence{actions: x.actions, caller: c}
		r.Evidence = ev.collect(ctx, k, r)
	}
	if now := x.actions.Status().URL; now != began && ctx.Err() == nil {
		args := call.JSON(map[string]string{"url": began})
		if res := c.InvokeFor(ctx, nil, "browser.navigate", args); res.Err != nil {
			setup.LeftAt = now
		}
	}
	return r
}
