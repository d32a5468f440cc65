package primitives

import "context"

type pageInfoIn struct{}

type pageInfoOut struct {
	URL        string `json:"url"`
	Title      string `json:"title"`
	HTTPStatus int    `json:"http_status,omitempty"`
}

// pageInfo asks the document, not the tab: the tab's address lags behind a
// navigation that has just been committed.
var pageInfo = Define("page.info", func(ctx context.Context, p Page, _ pageInfoIn) (pageInfoOut, error) {
	var out pageInfoOut
	err := p.Call(ctx, "", "page_info", nil, &out)
	return out, err
})

// HTTPStatus is the status with which the document of the page was answered, 0
// when it is not known: it did not come by HTTP, or from a cache that forgot it.
func HTTPStatus(ctx context.Context, p Page) (int, error) {
	var out pageInfoOut
	err := p.Call(ctx, "", "page_info", nil, &out)
	return out.HTTPStatus, err
}
