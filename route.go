package outrider

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"reflect"
	"strings"
	"sync"
)

// RouteWriter is the http.ResponseWriter that a handler of [Tab.Route] gets.
type RouteWriter interface {
	http.ResponseWriter
	// Continue lets the request go to its server, whatever else is written, with the method, the address, the header
	// and the body that the handler has given r.
	Continue()
	// Abort fails the request.
	Abort()
}

// Route has a handler in this program answer the requests of the tab whose address matches a glob: * is anything there.
// What the handler does not want to answer it lets go on, or fails:
//
//	stop, err := tab.Route(ctx, "*/prices", func(w outrider.RouteWriter, r *http.Request) {
//		if r.Method != http.MethodGet {
//			w.Continue()
//			return
//		}
//		fmt.Fprint(w, `{"price": 3}`)
//	})
//
// An http.Handler h answers as h.ServeHTTP(w, r). It ends with stop, or with the tab, and stop waits for the handlers
// that run. Requests of frames in other processes and of workers are not routed.
func (t *Tab) Route(
	ctx context.Context, address string, handler func(w RouteWriter, r *http.Request),
) (stop func(), err error) {
	s, err := t.OpenCDP(ctx)
	if err != nil {
		return nil, err
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	events := s.Events(serving, "Fetch.requestPaused")
	patterns := map[string]any{"patterns": []any{map[string]string{"urlPattern": address}}}
	if err := s.Call(ctx, "Fetch.enable", patterns, nil); err != nil {
		cancel()
		s.Close()
		return nil, err
	}
	var running sync.WaitGroup
	running.Go(func() {
		for e := range events {
			running.Go(func() { s.answer(serving, e, handler, t) })
		}
	})
	var once sync.Once
	return func() {
		once.Do(func() {
			cancel()
			s.Close() // what is held goes on
			running.Wait()
		})
	}, nil
}

// answer has a handler answer one request. One that panics fails it.
func (s *CDPSession) answer(ctx context.Context, e CDPEvent, handler func(RouteWriter, *http.Request), t *Tab) {
	var in pausedRequest
	if err := decode(e.Params, &in); err != nil {
		return
	}
	w := &routed{header: http.Header{}}
	r, err := http.NewRequestWithContext(ctx, in.Request.Method, in.Request.URL, strings.NewReader(in.Request.PostData))
	if err == nil {
		for name, value := range in.Request.Headers {
			r.Header.Set(name, value)
		}
		in.read = r.Clone(ctx)
		r.RequestURI = r.URL.RequestURI()
		w.handled(handler, r, t)
	} else {
		w.outcome = "continue"
	}
	var changed map[string]any
	if w.outcome == "continue" {
		changed, err = in.changed(r)
		if err != nil {
			w.outcome = "abort"
			t.session.log().Error("the body that a handler of a route gave cannot be read", "error", err)
		}
	}
	switch w.outcome {
	case "continue":
		err = s.Call(ctx, "Fetch.continueRequest", changed, nil)
	case "abort":
		err = s.Call(ctx, "Fetch.failRequest", map[string]any{"requestId": in.ID, "errorReason": "Aborted"}, nil)
	default:
		err = s.Call(ctx, "Fetch.fulfillRequest", w.fulfilment(in.ID), nil)
	}
	if err != nil && ctx.Err() == nil {
		t.session.log().Debug("a routed request was not answered", "error", err)
	}
}

// pausedRequest is a request that waits for its handler.
type pausedRequest struct {
	ID      string `json:"requestId"`
	Request struct {
		URL, Method string
		Headers     map[string]string
		PostData    string `json:"postData"`
	} `json:"request"`

	read *http.Request // as the handler got it
}

// changed are the parameters of Fetch.continueRequest: what the handler has made different.
func (in *pausedRequest) changed(r *http.Request) (map[string]any, error) {
	out := map[string]any{"requestId": in.ID}
	if r == nil {
		return out, nil
	}
	if r.Method != in.read.Method {
		out["method"] = r.Method
	}
	if r.URL.String() != in.read.URL.String() {
		out["url"] = r.URL.String()
	}
	if !reflect.DeepEqual(r.Header, in.read.Header) {
		out["headers"] = headerEntries(r.Header)
	}
	if r.Body != in.read.Body && r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		out["postData"] = base64.StdEncoding.EncodeToString(body)
	}
	return out, nil
}

// headerEntries is a header as the protocol has it.
func headerEntries(header http.Header) []map[string]string {
	entries := []map[string]string{}
	for name, values := range header {
		for _, value := range values {
			entries = append(entries, map[string]string{"name": name, "value": value})
		}
	}
	return entries
}

// routed collects the response that a handler writes.
type routed struct {
	header  http.Header
	status  int
	body    bytes.Buffer
	outcome string // continue or abort; "" for an answer
}

func (w *routed) Header() http.Header { return w.header }
func (w *routed) Continue()           { w.outcome = "continue" }
func (w *routed) Abort()              { w.outcome = "abort" }

func (w *routed) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *routed) Write(data []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(data)
}

// handled calls a handler, which belongs to the program: a panic of it must not end the program from a goroutine of
// ours.
func (w *routed) handled(handler func(RouteWriter, *http.Request), r *http.Request, t *Tab) {
	defer func() {
		if p := recover(); p != nil {
			w.outcome = "abort"
			t.session.log().Error("a handler of a route panicked", "panic", p)
		}
	}()
	handler(w, r)
}

// fulfilment are the parameters of Fetch.fulfillRequest.
func (w *routed) fulfilment(id string) map[string]any {
	w.WriteHeader(http.StatusOK)
	if w.header.Get("Content-Type") == "" && w.body.Len() > 0 {
		w.header.Set("Content-Type", http.DetectContentType(w.body.Bytes()))
	}
	return map[string]any{
		"requestId": id, "responseCode": w.status, "responseHeaders": headerEntries(w.header),
		"body": base64.StdEncoding.EncodeToString(w.body.Bytes()),
	}
}
