package browser

import (
	"context"
	"encoding/base64"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// NetworkBody implements primitives.ObservedPage.
func (t *Tab) NetworkBody(ctx context.Context, id string, part primitives.BodyPart, limit int) (primitives.NetworkBody, error) {
	n := &t.net
	n.mu.Lock()
	var e *exchange
	for _, o := range n.entries {
		if o.ID == id {
			e = o
		}
	}
	var request string
	var s *session
	open := false
	if e != nil {
		request, s, open = e.request, e.s, e.open
	}
	n.mu.Unlock()
	if e == nil {
		return primitives.NetworkBody{}, fault.New(fault.TargetNotFound, "no recorded request has this id").With("id", id)
	}
	gone := func(err error) error {
		return &fault.Error{Code: fault.TargetNotFound, Message: "the browser does not have this body", Err: err,
			Evidence: map[string]any{"id": id, "pending": open},
			NextStep: "bodies of redirects, failed requests and large or old answers are not kept; make the request again"}
	}
	if part == primitives.RequestBody {
		var out struct {
			PostData string `json:"postData"`
		}
		if err := t.askIn(ctx, s, "Network.getRequestPostData", object("requestId", request), &out); err != nil {
			if _, refused := errorMessage(err); refused {
				return primitives.NetworkBody{}, gone(err)
			}
			return primitives.NetworkBody{}, t.b.explain(err, "reading a body")
		}
		return cutBody([]byte(out.PostData), limit), nil
	}
	var out struct {
		Body    string `json:"body"`
		Encoded bool   `json:"base64Encoded"`
	}
	if err := t.askIn(ctx, s, "Network.getResponseBody", object("requestId", request), &out); err != nil {
		if _, refused := errorMessage(err); refused {
			return primitives.NetworkBody{}, gone(err)
		}
		return primitives.NetworkBody{}, t.b.explain(err, "reading a body")
	}
	data := []byte(out.Body)
	if out.Encoded {
		decoded, err := base64.StdEncoding.DecodeString(out.Body)
		if err != nil {
			return primitives.NetworkBody{}, fault.Wrap(fault.Internal, err, "decoding a body")
		}
		data = decoded
	}
	return cutBody(data, limit), nil
}

func cutBody(data []byte, limit int) primitives.NetworkBody {
	b := primitives.NetworkBody{Data: data, Total: len(data)}
	if len(data) > limit {
		b.Data = data[:limit]
	}
	return b
}
