package primitives

import "context"

type pageInfoIn struct{}

type pageInfoOut struct {
	URL   string `json:"url"`
	Title string `json:"title"`
}

// pageInfo asks the document, not the tab: the tab's address lags behind a
// navigation that has just been committed.
var pageInfo = Define("page.info", func(ctx context.Context, p Page, _ pageInfoIn) (pageInfoOut, error) {
	var out pageInfoOut
	err := p.Call(ctx, "", "page_info", nil, &out)
	return out, err
})
