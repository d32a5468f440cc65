package outrider

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"iter"
	"net/http"
	"regexp"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Request is a request that a page, one of its frames or workers makes.
type Request struct {
	Method, URL string
	// Header is what the page has set; the browser adds more, such as cookies.
	Header http.Header
	// Kind is Document, Script, Stylesheet, Image, XHR, Fetch and so on.
	Kind string
	// Body is what is sent, nil of none.
	Body []byte
}

// Response is an answer that a page, one of its frames or workers got.
type Response struct {
	Method, URL string
	Status      int
	Header      http.Header
	// Body is empty where there is none, as of a redirect.
	Body io.ReadCloser
}

// exchange names a request.
type exchange struct{ session, id string }

// networkEvent is what is read of the events of the domain Network.
type networkEvent struct {
	ID      string `json:"requestId"`
	Kind    string `json:"type"`
	Request struct {
		URL     string            `json:"url"`
		Method  string            `json:"method"`
		Headers map[string]string `json:"headers"`
		HasBody bool              `json:"hasPostData"`
		Body    []struct {
			Bytes []byte `json:"bytes"`
		} `json:"postDataEntries"`
	} `json:"request"`
	Redirect *networkResponse `json:"redirectResponse"`
	Response networkResponse  `json:"response"`
}

type networkResponse struct {
	URL     string            `json:"url"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
}

var networkOn = []command{{"Network.enable", nil}}

const (
	requestSent      = "Network.requestWillBeSent"
	responseReceived = "Network.responseReceived"
)

// WaitRequest runs act and waits for a request. address is a glob when it has a star (* within a path segment, **
// anything), else a part of the address; "" is any.
func (t *Tab) WaitRequest(ctx context.Context, address string, act func() error) (*Request, error) {
	var out *Request
	err := t.after(ctx, "request", networkOn, []string{requestSent}, act, func(w *watched, e CDPEvent) (bool, error) {
		r, _, err := w.request(ctx, e)
		if err != nil || !addressMatches(address, r.URL) {
			return false, err
		}
		out = r
		return true, nil
	})
	return out, err
}

// Requests iterates over the requests that the page makes after the call. It ends with ctx or with the tab; an error
// ends it too.
func (t *Tab) Requests(ctx context.Context) iter.Seq2[*Request, error] {
	return stream(ctx, t, networkOn, []string{requestSent}, func(w *watched, e CDPEvent) (*Request, bool, error) {
		return w.request(ctx, e)
	})
}

// request reads the event of a request.
func (w *watched) request(ctx context.Context, e CDPEvent) (*Request, bool, error) {
	var in networkEvent
	if err := decode(e.Params, &in); err != nil {
		return nil, false, err
	}
	out := &Request{
		Method: in.Request.Method, URL: in.Request.URL, Header: headerOf(in.Request.Headers), Kind: in.Kind,
	}
	for _, part := range in.Request.Body {
		out.Body = append(out.Body, part.Bytes...)
	}
	if !in.Request.HasBody || out.Body != nil {
		return out, true, nil
	}
	var sent struct { // what is long does not come with the event
		PostData string `json:"postData"`
	}
	err := w.CallIn(ctx, e.SessionID, "Network.getRequestPostData", map[string]string{"requestId": in.ID}, &sent)
	if errors.Is(err, Code(fault.InvalidArguments)) {
		return out, true, nil // the browser keeps none
	}
	out.Body = []byte(sent.PostData)
	return out, true, err
}

// headerOf is a header as net/http has it.
func headerOf(lines map[string]string) http.Header {
	header := http.Header{}
	for name, value := range lines {
		for line := range strings.SplitSeq(value, "\n") {
			header.Add(name, line)
		}
	}
	return header
}

// responses reads the answers of requests that have begun since it was made.
type responses struct{ methods map[exchange]string }

// read is the answer of an event and the request that it answers; it is nil of any other event.
func (x responses) read(e CDPEvent) (out *Response, of exchange, err error) {
	var in networkEvent
	if err := decode(e.Params, &in); err != nil {
		return nil, of, err
	}
	of = exchange{e.SessionID, in.ID}
	method, known := x.methods[of]
	got := &in.Response
	switch {
	case e.Method == requestSent:
		x.methods[of] = in.Request.Method
		got = in.Redirect
	case e.Method != responseReceived:
		return nil, of, nil
	}
	if !known || got == nil {
		return nil, of, nil
	}
	body := io.NopCloser(strings.NewReader(""))
	return &Response{method, got.URL, got.Status, headerOf(got.Headers), body}, of, nil
}

// WaitResponse runs act and waits for the answer to a request that begins then, with its body. address is that of
// [Tab.WaitRequest].
func (t *Tab) WaitResponse(ctx context.Context, address string, act func() error) (*Response, error) {
	var out *Response
	var awaited exchange
	all := responses{map[exchange]string{}}
	methods := []string{requestSent, responseReceived, "Network.loadingFinished", "Network.loadingFailed"}
	err := t.after(ctx, "response", networkOn, methods, act, func(w *watched, e CDPEvent) (bool, error) {
		r, of, err := all.read(e)
		switch {
		case err != nil:
			return false, err
		case out == nil && r != nil && addressMatches(address, r.URL):
			out, awaited = r, of
			return e.Method == requestSent, nil // a redirect has no body
		case out == nil || of != awaited || e.Method == responseReceived:
			return false, nil
		}
		out.Body, err = w.body(ctx, of)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Responses iterates over the answers that the page gets after the call, without their bodies. It ends with ctx or with
// the tab; an error ends it too.
func (t *Tab) Responses(ctx context.Context) iter.Seq2[*Response, error] {
	all := responses{map[exchange]string{}}
	methods := []string{requestSent, responseReceived}
	return stream(ctx, t, networkOn, methods, func(_ *watched, e CDPEvent) (*Response, bool, error) {
		r, _, err := all.read(e)
		return r, r != nil, err
	})
}

// body is the body of an answer that has ended.
func (w *watched) body(ctx context.Context, of exchange) (io.ReadCloser, error) {
	var in struct {
		Body    string `json:"body"`
		Encoded bool   `json:"base64Encoded"`
	}
	err := w.CallIn(ctx, of.session, "Network.getResponseBody", map[string]string{"requestId": of.id}, &in)
	if errors.Is(err, Code(fault.InvalidArguments)) {
		return io.NopCloser(strings.NewReader("")), nil // the browser keeps none
	}
	if err != nil {
		return nil, err
	}
	data := []byte(in.Body)
	if in.Encoded {
		data, err = base64.StdEncoding.DecodeString(in.Body)
		if err != nil {
			return nil, fromFault(fault.Wrap(fault.InvalidResult, err, "decoding a body"))
		}
	}
	return io.NopCloser(bytes.NewReader(data)), nil
}

// addressMatches: a glob when it has a star (* within a path segment, ** anything), else a part.
func addressMatches(want, address string) bool {
	if !strings.Contains(want, "*") {
		return strings.Contains(address, want)
	}
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), `\*\*`, `.*`)
	pattern = strings.ReplaceAll(pattern, `\*`, `[^/]*`)
	ok, err := regexp.MatchString("^(?s:"+pattern+")$", address)
	return err == nil && ok
}
