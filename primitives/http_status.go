package primitives

import "context"

// HTTPStatus is the status with which the document of the page was answered, 0
// when it is not known: it did not come by HTTP, or from a cache that forgot it.
func HTTPStatus(ctx context.Context, p Page) (int, error) {
	var out struct {
		HTTPStatus int `json:"http_status"`
	}
	err := p.Call(ctx, "", "page_info", nil, &out)
	return out.HTTPStatus, err
}
