package network

import (
	"context"
	"encoding/base64"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// NetworkBody implements primitives.ObservedPage.
func (t *Traffic) NetworkBody(
	ctx context.Context, id string, part primitives.BodyPart, limit int,
) (primitives.NetworkBody, error) {
	t.mu.Lock()
	var e *exchange
	for _, o := range t.entries {
		if o.ID == id {
			e = o
		}
	}
	var request string
	var s *cdp.Session
	var sent []byte
	open := false
	moved := ""
	if e != nil {
		request = e.request
		s = e.session
		open = e.open
		sent = e.sent
		moved = e.RedirectedTo
	}
	t.mu.Unlock()
	if e == nil {
		return primitives.NetworkBody{}, fault.New(fault.TargetNotFound, "no recorded request has this id").
			With("id", id)
	}
	gone := func(err error) *fault.Error {
		return &fault.Error{Code: fault.TargetNotFound, Message: "the browser does not have this body", Err: err,
			Evidence: map[string]any{"id": id, "pending": open},
			NextStep: "bodies of redirects, failed requests and large or old answers are not kept; make the request " +
				"again"}
	}
	if part == primitives.ResponseBody && moved != "" {
		// The browser has one body for all requests of a chain: that of the last.
		return primitives.NetworkBody{}, gone(nil).With("redirected_to", moved)
	}
	if part == primitives.RequestBody {
		if sent != nil {
			return cutBody(sent, limit), nil
		}
		var out struct {
			PostData string `json:"postData"`
		}
		if err := t.client.DoIn(
			ctx, t.tab.Lifetime(), s, "Network.getRequestPostData", cdp.Object("requestId", request), &out,
		); err != nil {
			if _, refused := cdp.Message(err); refused {
				return primitives.NetworkBody{}, gone(err)
			}
			return primitives.NetworkBody{}, cdp.Explain(err, "reading a body")
		}
		return cutBody([]byte(out.PostData), limit), nil
	}
	var out struct {
		Body    string `json:"body"`
		Encoded bool   `json:"base64Encoded"`
	}
	if err := t.client.DoIn(
		ctx, t.tab.Lifetime(), s, "Network.getResponseBody", cdp.Object("requestId", request), &out,
	); err != nil {
		if _, refused := cdp.Message(err); refused {
			return primitives.NetworkBody{}, gone(err)
		}
		return primitives.NetworkBody{}, cdp.Explain(err, "reading a body")
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
