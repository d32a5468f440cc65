package browser

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/page"
)

// watch implements primitives.PageWatch: it compares what there is with what there was
// when it began.
type watch struct {
	tab       *Tab
	page      page.Activity
	requests  int
	downloads int
	known     map[*Tab]bool
	related   map[*Tab]page.Activity // windows that the page has opened, those beside it, and its opener
	children  int
	refused   int
}

// Watch implements primitives.ActedPage.
func (t *Tab) Watch(ctx context.Context) (primitives.PageWatch, error) {
	if err := t.recordTraffic(ctx); err != nil {
		return nil, cdp.Explain(err, "watching the page")
	}
	w := &watch{
		tab:       t,
		page:      t.Activity(),
		requests:  t.traffic.Last(),
		downloads: t.browser.transfers.Last(),
		known:     map[*Tab]bool{},
		related:   map[*Tab]page.Activity{},
	}
	for _, o := range t.browser.Tabs() {
		w.known[o] = true
		if o != t && (o.opener == t || t.opener != nil && (t.opener == o || t.opener == o.opener)) {
			w.related[o] = o.Activity()
		}
	}
	w.children = t.browser.childrenOf(t)
	w.refused, _ = t.browser.refusedOf(t)
	return w, nil
}

// Events implements primitives.PageWatch.
func (w *watch) Events() primitives.PageEvents {
	now := w.tab.Activity()
	e := primitives.PageEvents{
		From:        w.page.URL,
		To:          now.URL,
		NewDocument: now.Documents != w.page.Documents,
		Gone:        now.Over,
	}
	e.Loading = now.Loading && !e.NewDocument
	if now.Dialogs != w.page.Dialogs && now.LastDialog != nil {
		e.Dialogs = append(e.Dialogs, *now.LastDialog)
	}
	arriving := 0
	for _, o := range w.tab.browser.admitted() {
		if o.opener == w.tab && !w.known[o] {
			e.Tabs = append(e.Tabs, o.Tab())
			if blank := o.Activity(); blank.Loading && (blank.URL == "" || blank.URL == "about:blank") {
				arriving++ // the document that it was opened for
			}
		}
	}
	for _, o := range w.tab.browser.admitted() {
		before, related := w.related[o]
		if !related {
			continue
		}
		switch now := o.Activity(); {
		case now.Over:
		case now.Documents != before.Documents:
			e.Navigated = append(e.Navigated, o.Tab())
		case now.Loading && !before.Loading:
			arriving++
		}
	}
	e.Refused, e.MostTabs = w.tab.browser.refusedOf(w.tab)
	e.Refused -= w.refused
	// A window that the page has asked for is attached later, and ready later still.
	asked := now.Windows - w.page.Windows - (w.tab.browser.childrenOf(w.tab) - w.children)
	e.Opening = w.tab.browser.opening(w.tab) + max(0, asked) + arriving
	e.Requests, e.Pending = w.tab.traffic.Since(w.requests)
	e.Downloads = w.tab.browser.transfers.Since(w.tab.browser.ownContext(w.tab.context), w.downloads)
	return e
}

// reportedTime bounds the wait for the browser's reports.
const reportedTime = 200 * time.Millisecond

// opening counts the tabs that a tab has opened and that are not ready yet.
func (b *Browser) opening(by *Tab) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for _, t := range b.tabs {
		if t.opener == by && (!t.announced || b.undecided(t)) {
			n++
		}
	}
	return n
}

func (b *Browser) childrenOf(t *Tab) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return t.children
}

// Reported implements primitives.PageWatch. The browser answers the command in the order
// in which it is given work, so what the page did before has been reported then.
func (w *watch) Reported(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, reportedTime)
	defer cancel()
	_, _, _ = w.tab.History(ctx)
}

// Next implements primitives.PageWatch.
func (w *watch) Next(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	tab, requests := w.tab.Page.Changed(), w.tab.traffic.Changed()
	tabs, downloads := w.tab.browser.change.Wait(), w.tab.browser.transfers.Changed()
	select {
	case <-tab:
	case <-downloads:
	case <-requests:
	case <-tabs:
	case <-timer.C:
	case <-ctx.Done():
	}
}
