package page

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

type pageHistoryIn struct {
	Action  string `json:"action"`
	Steps   *int   `json:"steps"`
	NoCache bool   `json:"no_cache"`
}

type pageHistoryOut struct {
	Action       string         `json:"action"`
	URL          string         `json:"url"`
	Title        string         `json:"title"`
	Index        int            `json:"index"`
	Entries      []historyEntry `json:"entries"`
	Moved        bool           `json:"moved"`
	Loaded       *bool          `json:"loaded,omitempty"`
	SameDocument *bool          `json:"same_document,omitempty"`
	Status       *int           `json:"status,omitempty"` // 0: not an HTTP load
}

type historyEntry struct {
	Index int    `json:"index"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

// pageHistory lists the history of the tab, goes along it or loads the page
// again, and waits for the load event of the document that comes.
var pageHistory = primitives.Define("page.history", func(
	ctx context.Context, p primitives.Page, in pageHistoryIn,
) (pageHistoryOut, error) {
	out := pageHistoryOut{Action: in.Action}
	opts := primitives.NavigateOptions{}
	steps := 1
	if in.Steps != nil {
		steps = *in.Steps
	}
	switch in.Action {
	case "back":
		opts.Steps = -steps
	case "forward":
		opts.Steps = steps
	case "reload":
		opts.Reload, opts.NoCache = true, in.NoCache
	}
	if in.Action != "list" {
		nav, err := p.Navigate(ctx, opts.Within(ctx))
		if err != nil {
			return pageHistoryOut{}, err
		}
		out.Moved = true
		out.URL = nav.URL
		out.Title = nav.Title
		out.Loaded = &nav.Loaded
		out.SameDocument = &nav.SameDocument
		out.Status = &nav.Status
	}
	entries, current, err := p.History(ctx)
	if err != nil {
		return pageHistoryOut{}, err
	}
	out.Index, out.Entries = current, make([]historyEntry, len(entries))
	for i, e := range entries {
		out.Entries[i] = historyEntry{Index: i, URL: e.URL, Title: e.Title}
	}
	if in.Action == "list" && current < len(entries) {
		out.URL, out.Title = entries[current].URL, entries[current].Title
	}
	return out, nil
})
