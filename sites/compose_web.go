package sites

import (
	"context"
	"maps"
)

// WantsWeb reports whether a map that applies to a page imports from the web and
// nobody has read that yet.
func (l *Library) WantsWeb(pageURL string) bool {
	if l == nil || len(l.composed) == 0 {
		return false
	}
	for _, m := range l.For(pageURL) {
		if c := l.composed[m]; c != nil && c.Pending() {
			return true
		}
	}
	return false
}

// WithWeb returns a library in which the maps that apply to a page are composed
// with what they import from the web, read through fetch. l stays as it is. An
// import that fails offers nothing, says why in the list of the page, and takes
// nothing from the rest of its map. It returns when everything was read or ctx
// ends; what was not read by then has failed.
func (l *Library) WithWeb(ctx context.Context, pageURL string, fetch Fetcher, limits FetchLimits) *Library {
	out := *l
	out.composed = maps.Clone(l.composed)
	im := newImporter(l.maps, l.opts)
	im.ctx = ctx
	im.fetch = fetch
	im.pageURL = pageURL
	im.limits = limits
	for _, m := range l.For(pageURL) {
		if c := l.composed[m]; c != nil && c.Pending() {
			out.composed[m] = compose(m, im)
		}
	}
	return &out
}
