package primitives

import (
	"context"
	"fmt"
	"maps"

	"github.com/outrider-run/outrider/primitives/fault"
)

// HTTPStatus is the status with which the document of the page was answered, 0
// when it is not known: it did not come by HTTP, or from a cache that forgot it.
func HTTPStatus(ctx context.Context, p Page) (int, error) {
	var out struct {
		HTTPStatus int `json:"http_status"`
	}
	err := p.Call(ctx, "", "page_info", nil, &out)
	return out.HTTPStatus, err
}

// WithHTTPStatus adds the HTTP status of an error page to an error: such a page lacks
// what every other page has.
func WithHTTPStatus(ctx context.Context, p Page, err *fault.Error) *fault.Error {
	if _, known := err.Evidence["http_status"]; known {
		return err
	}
	status, e := HTTPStatus(ctx, p)
	if e != nil || status < 400 {
		return err
	}
	out := *err
	out.Evidence = maps.Clone(err.Evidence)
	out.Message += fmt.Sprintf("; the HTTP status of the page is %d", status)
	return out.With("http_status", status)
}
