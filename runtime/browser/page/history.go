package page

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

type tabHistory struct {
	CurrentIndex int `json:"currentIndex"`
	Entries      []struct {
		ID    int    `json:"id"`
		URL   string `json:"url"`
		Title string `json:"title"`
	} `json:"entries"`
}

// History implements primitives.Page. The browser answers, not the page: it
// works while the page is blocked.
func (p *Page) History(ctx context.Context) ([]primitives.HistoryEntry, int, error) {
	h, err := p.history(ctx)
	if err != nil {
		return nil, 0, cdp.Explain(err, "reading the history")
	}
	entries := make([]primitives.HistoryEntry, len(h.Entries))
	for i, e := range h.Entries {
		entries[i] = primitives.HistoryEntry{URL: address.WithoutUser(e.URL), Title: e.Title}
	}
	return entries, h.CurrentIndex, nil
}

func (p *Page) history(ctx context.Context) (tabHistory, error) {
	var h tabHistory
	err := p.do(ctx, "Page.getNavigationHistory", nil, &h)
	return h, err
}

// isAt reports whether an entry is the current one.
func (p *Page) isAt(ctx context.Context, entry int) bool {
	ctx, cancel := context.WithTimeout(ctx, describeTimeout)
	defer cancel()
	h, err := p.history(ctx)
	return err == nil && h.CurrentIndex >= 0 && h.CurrentIndex < len(h.Entries) &&
		h.Entries[h.CurrentIndex].ID == entry
}

// entryAt returns the browser's id of the entry so many steps away.
func (p *Page) entryAt(ctx context.Context, steps int) (int, error) {
	h, err := p.history(ctx)
	if err != nil {
		return 0, err
	}
	at := h.CurrentIndex + steps
	if at < 0 || at >= len(h.Entries) {
		return 0, fault.New(fault.NavigationFailed, "the history does not go so far").
			With("steps", steps).With("back", h.CurrentIndex).With("forward", max(0, len(h.Entries)-1-h.CurrentIndex))
	}
	return h.Entries[at].ID, nil
}
