package browser

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
)

// watch implements primitives.PageWatch.
type watch struct {
	t         *Tab
	url       string
	commits   int
	dialogs   int
	seq       int
	downloads int
	known     map[*Tab]bool
}

// Watch implements primitives.ActedPage.
func (t *Tab) Watch(ctx context.Context) (primitives.PageWatch, error) {
	if err := t.startTraffic(ctx); err != nil {
		return nil, t.b.explain(err, "watching the page")
	}
	w := &watch{t: t, known: map[*Tab]bool{}}
	for _, o := range t.b.Tabs() {
		w.known[o] = true
	}
	t.mu.Lock()
	w.url, w.commits, w.dialogs = t.identity.URL, t.commits, t.dialogsSeen
	t.mu.Unlock()
	t.net.mu.Lock()
	w.seq = t.net.seq
	t.net.mu.Unlock()
	t.b.downloads.mu.Lock()
	w.downloads = t.b.downloads.last
	t.b.downloads.mu.Unlock()
	return w, nil
}

// Seen implements primitives.PageWatch.
func (w *watch) Seen() primitives.PageEvents {
	t := w.t
	e := primitives.PageEvents{From: w.url}
	t.mu.Lock()
	e.To, e.NewDocument = t.identity.URL, t.commits != w.commits
	e.Loading = (t.loading || t.redirect) && t.commits == w.commits
	if t.dialogsSeen != w.dialogs && t.lastDialog != nil {
		e.Dialogs = append(e.Dialogs, *t.lastDialog)
	}
	select {
	case <-t.life.over:
		e.Gone = true
	default:
	}
	t.mu.Unlock()
	for _, o := range t.b.Tabs() {
		if o.opener == t && !w.known[o] {
			e.Tabs = append(e.Tabs, o.Tab())
		}
	}
	t.net.mu.Lock()
	for _, x := range t.net.entries {
		if x.Seq > w.seq {
			e.Requests = append(e.Requests, x.NetworkRequest)
			if x.open && !x.stream {
				e.Pending++
			}
		}
	}
	t.net.mu.Unlock()
	t.b.downloads.mu.Lock()
	e.Downloads = t.b.downloads.last - w.downloads
	t.b.downloads.mu.Unlock()
	return e
}

// Next implements primitives.PageWatch.
func (w *watch) Next(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	tab, net, tabs := w.t.change.wait(), w.t.net.change.wait(), w.t.b.change.wait()
	select {
	case <-tab:
	case <-net:
	case <-tabs:
	case <-timer.C:
	case <-ctx.Done():
	}
}
