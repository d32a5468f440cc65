package runtime

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/sites"
)

// boundedPage is a page as somebody sees it who keeps to some origins: what the browser
// knows of others is left out. The page itself checks each call: see primitives.WithBounds.
type boundedPage struct {
	primitives.Page
	bounds *sites.Bounds
}

// Quirks says which quirks hold: see primitives.QuirksOf.
func (p boundedPage) Quirks() quirks.Set { return primitives.QuirksOf(p.Page) }

// WithoutQuirks implements the interface that primitives.WithoutQuirks looks for.
func (p boundedPage) WithoutQuirks(names ...quirks.Name) primitives.Page {
	p.Page = primitives.WithoutQuirks(p.Page, names...)
	return p
}

// Peer implements primitives.Page.
func (p boundedPage) Peer(tabID int) (primitives.Page, error) {
	other, err := p.Page.Peer(tabID)
	if err != nil {
		return nil, err
	}
	return boundedPage{other, p.bounds}, nil
}

// Tab implements primitives.Page.
func (p boundedPage) Tab() primitives.TabInfo { return p.shown(p.Page.Tab()) }

// shown is a tab without address and title where they are of another origin.
func (p boundedPage) shown(t primitives.TabInfo) primitives.TabInfo {
	if p.bounds.RefusesAddress(t.URL) != nil {
		t.URL, t.Title = "", ""
	}
	return t
}

// Frames implements primitives.Page: those of other origins are left out, with all that is
// below them.
func (p boundedPage) Frames() []primitives.FrameInfo {
	all := p.Page.Frames()
	out := make([]primitives.FrameInfo, 0, len(all))
	shown := map[primitives.FrameID]bool{}
	for i, f := range all {
		if i > 0 && (!shown[f.Parent] || !p.own(f)) {
			continue
		}
		shown[f.ID] = true
		out = append(out, f)
	}
	return out
}

// own reports whether a frame can be one of the map's, by its address. One without an address
// of its own is checked when it is touched.
func (p boundedPage) own(f primitives.FrameInfo) bool {
	origin := sites.OriginOf(f.URL)
	return origin == "" || origin == "null" || p.bounds.Holds(origin)
}

// Navigate implements primitives.Page. An address that leads to another origin is known when
// the page is there; the history says it before.
func (p boundedPage) Navigate(ctx context.Context, opts primitives.NavigateOptions) (primitives.Navigation, error) {
	if opts.Steps != 0 {
		entries, current, err := p.Page.History(ctx)
		if err != nil {
			return primitives.Navigation{}, err
		}
		if to := current + opts.Steps; to >= 0 && to < len(entries) {
			if err := p.bounds.RefusesAddress(entries[to].URL); err != nil {
				return primitives.Navigation{}, err
			}
		}
	}
	nav, err := p.Page.Navigate(ctx, opts)
	if err != nil {
		return nav, err
	}
	if refused := p.bounds.RefusesAddress(nav.URL); refused != nil {
		return primitives.Navigation{}, leftOrigin(refused)
	}
	return nav, nil
}

// leftOrigin is the refusal after a navigation that has taken place.
func leftOrigin(refused *fault.Error) *fault.Error {
	out := *refused
	out.Message = strings.TrimSuffix(out.Message, "; the step was not done") +
		", where a redirect led; nothing of the page was read"
	return &out
}

// History implements primitives.Page.
func (p boundedPage) History(ctx context.Context) ([]primitives.HistoryEntry, int, error) {
	entries, current, err := p.Page.History(ctx)
	for i, e := range entries {
		if p.bounds.RefusesAddress(e.URL) != nil {
			entries[i] = primitives.HistoryEntry{}
		}
	}
	return entries, current, err
}

// Keys implements primitives.Page. The keys that paste bring what was copied, wherever that
// was.
func (p boundedPage) Keys(ctx context.Context, events ...primitives.KeyEvent) error {
	if slices.ContainsFunc(events, pastes) {
		return p.bounds.RefusesClipboard()
	}
	return p.Page.Keys(ctx, events...)
}

func pastes(e primitives.KeyEvent) bool {
	if e.Type == primitives.KeyUp {
		return false
	}
	held := func(m primitives.Modifiers) bool { return e.Modifiers&m != 0 }
	shortcut := strings.EqualFold(e.Key, "v") && (held(primitives.ModControl) || held(primitives.ModMeta))
	return shortcut || e.Key == "Insert" && held(primitives.ModShift) || e.Key == "Paste"
}

// Dialog implements primitives.Page: the text of another origin's is left out.
func (p boundedPage) Dialog() (primitives.Dialog, bool) {
	d, open := p.Page.Dialog()
	if open && p.bounds.RefusesAddress(d.URL) != nil {
		d.Message = ""
		d.DefaultPrompt = ""
		d.URL = ""
	}
	return d, open
}

// AnswerDialog implements primitives.Page.
func (p boundedPage) AnswerDialog(ctx context.Context, accept bool, promptText string) (primitives.Dialog, error) {
	if d, open := p.Page.Dialog(); open {
		if err := p.bounds.RefusesAddress(d.URL); err != nil {
			return primitives.Dialog{}, err
		}
	}
	return p.Page.AnswerDialog(ctx, accept, promptText)
}

// Watch implements primitives.Page.
func (p boundedPage) Watch(ctx context.Context) (primitives.PageWatch, error) {
	w, err := p.Page.Watch(ctx)
	if err != nil {
		return nil, err
	}
	return boundedWatch{w, p}, nil
}

// boundedWatch says of what an action has brought about only what is of the map's origins.
type boundedWatch struct {
	watch primitives.PageWatch
	page  boundedPage
}

func (w boundedWatch) Reported(ctx context.Context)              { w.watch.Reported(ctx) }
func (w boundedWatch) Next(ctx context.Context, d time.Duration) { w.watch.Next(ctx, d) }

// Events implements primitives.PageWatch.
func (w boundedWatch) Events() primitives.PageEvents {
	e := w.watch.Events()
	bounds := w.page.bounds
	if bounds.RefusesAddress(e.To) != nil {
		e.To = ""
	}
	requests := e.Requests
	e.Requests = nil
	for _, r := range requests {
		if bounds.RefusesAddress(r.Document) == nil && bounds.RefusesAddress(r.URL) == nil {
			e.Requests = append(e.Requests, r)
		}
	}
	tabs := e.Tabs
	e.Tabs = nil
	for _, t := range tabs {
		e.Tabs = append(e.Tabs, w.page.shown(t))
	}
	dialogs := e.Dialogs
	e.Dialogs = nil
	for _, d := range dialogs {
		if bounds.RefusesAddress(d.URL) != nil {
			d.Message = ""
			d.DefaultPrompt = ""
			d.URL = ""
		}
		e.Dialogs = append(e.Dialogs, d)
	}
	return e
}
