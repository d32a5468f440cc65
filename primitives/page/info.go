package page

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
)

type pageInfoIn struct{}

type pageInfoOut struct {
	URL        string `json:"url"`
	Title      string `json:"title"`
	HTTPStatus int    `json:"http_status,omitempty"`
	File       *file  `json:"file,omitempty"`
}

// file is a document that the browser shows by means of its own: a PDF, an image, a video.
type file struct {
	ContentType string `json:"content_type"`
	Name        string `json:"name"`
	Bytes       int    `json:"bytes,omitempty"`
}

// pageInfo queries the document, not the tab: the tab's address lags behind a
// navigation that has just been committed.
var pageInfo = primitives.Define("page.info", func(
	ctx context.Context, p primitives.Page, _ pageInfoIn,
) (pageInfoOut, error) {
	var out pageInfoOut
	err := p.Call(ctx, "", "page_info", nil, &out)
	return out, err
})
