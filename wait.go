package outrider

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Download is a file that a page has given.
type Download struct {
	// Name is the name that the server suggests, made harmless. Path is where the file is.
	Name, Path, URL string
	Size            int64
	SHA256          string
}

// Open opens the file.
func (d *Download) Open() (io.ReadCloser, error) {
	f, err := os.Open(d.Path)
	return f, fromFault(err)
}

// WaitDownload runs act and waits until the download that begins then is complete. It needs
// [BrowserOptions.DownloadDir].
func (t *Tab) WaitDownload(ctx context.Context, act func() error) (*Download, error) {
	before, err := client.DownloadList(ctx, t, client.DownloadListArgs{Limit: 500})
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, d := range before.Downloads {
		known[d.DownloadID] = true
	}
	if err := act(); err != nil {
		return nil, err
	}
	for {
		patience := max(1, int(t.root().patience(ctx).Milliseconds()))
		d, err := client.DownloadWait(ctx, patient{t, nil}, client.DownloadWaitArgs{TimeoutMS: patience})
		if err != nil {
			return nil, err
		}
		if known[d.DownloadID] {
			continue
		}
		return &Download{
			Name: d.Filename, Path: d.Path, URL: d.URL, Size: int64(d.BytesReceived), SHA256: d.Sha256,
		}, nil
	}
}

// WaitPopup runs act and waits for the tab that opens then.
func (t *Tab) WaitPopup(ctx context.Context, act func() error) (*Tab, error) {
	ctx, cancel := t.session.within(ctx)
	defer cancel()
	known := map[string]bool{}
	for _, tab := range t.session.Tabs() {
		known[tab.id] = true
	}
	events := t.session.Events(ctx)
	if err := act(); err != nil {
		return nil, err
	}
	for e := range events {
		if e.Kind == TabReady && !known[e.Tab.id] {
			return e.Tab, nil
		}
	}
	return nil, t.didNotCome(ctx, "popup")
}

// within is ctx with the deadline of a call, unless it has one.
func (s *Session) within(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.callTimeout())
}

// didNotCome is the failure of a wait that its context has ended.
func (t *Tab) didNotCome(ctx context.Context, what string) error {
	deadline, limited := ctx.Deadline()
	if ctx.Err() == nil && (!limited || time.Until(deadline) > longestReserve) {
		return fromFault(fault.New(fault.TabClosed, "the tab was closed before the %s came", what))
	}
	code := fault.Timeout
	if errors.Is(ctx.Err(), context.Canceled) {
		code = fault.Cancelled
	}
	return t.ended(ctx, fault.New(code, "no %s came", what).With("waited_for", what))
}

// after runs act and gives the events of a session of the protocol, which match ends.
func (t *Tab) after(
	ctx context.Context, what string, domains, methods []string, act func() error,
	match func(*CDPSession, CDPEvent) (done bool, err error),
) error {
	ctx, cancel := t.session.within(ctx)
	defer cancel()
	s, err := t.OpenCDP(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, domain := range domains {
		if err := s.Call(ctx, domain+".enable", nil, nil); err != nil {
			return err
		}
	}
	events := s.Events(ctx, methods...)
	if err := act(); err != nil {
		return err
	}
	for e := range events {
		if done, err := match(s, e); done || err != nil {
			return err
		}
	}
	return t.didNotCome(ctx, what)
}

// WaitNavigation runs act and waits until the page that it leads to has loaded, or the address within the document has
// changed.
func (t *Tab) WaitNavigation(ctx context.Context, act func() error) error {
	methods := []string{"Page.frameNavigated", "Page.navigatedWithinDocument"}
	loads := false
	err := t.after(ctx, "navigation", []string{"Page"}, methods, act, func(_ *CDPSession, e CDPEvent) (bool, error) {
		var in struct {
			Frame struct {
				ParentID string `json:"parentId"`
			} `json:"frame"`
		}
		if err := decode(e.Params, &in); err != nil {
			return false, err
		}
		loads = e.Method == "Page.frameNavigated"
		return in.Frame.ParentID == "", nil
	})
	if err != nil || !loads {
		return err
	}
	return t.waitFor(ctx, client.PageWaitCondition{Load: "load"})
}

// Dialog is a JavaScript dialog, which blocks the page until it is answered.
type Dialog struct {
	// Type is alert, confirm, prompt or beforeunload.
	Type, Message string

	tab *Tab
}

// Accept answers yes, with a text for a prompt.
func (d *Dialog) Accept(ctx context.Context, text string) error {
	return d.tab.CallInto(ctx, "browser.dismiss_dialog", map[string]any{"accept": true, "prompt_text": text}, nil)
}

// Dismiss answers no.
func (d *Dialog) Dismiss(ctx context.Context) error {
	return d.tab.CallInto(ctx, "browser.dismiss_dialog", map[string]any{"accept": false}, nil)
}

// WaitDialog runs act and waits for the dialog that it opens. Answer it: it blocks the page.
func (t *Tab) WaitDialog(ctx context.Context, act func() error) (*Dialog, error) {
	within, cancel := t.session.within(ctx)
	defer cancel()
	err := act()
	if err == nil {
		// A wait for what cannot be ends when a dialog opens.
		err = t.waitFor(within, client.PageWaitCondition{URL: json.RawMessage(`{"equals":"about:never"}`)})
	}
	var e *Error
	if !errors.As(err, &e) || e.Code != Code(fault.DialogOpen) {
		if within.Err() != nil || errors.Is(err, Code(fault.Timeout)) {
			return nil, t.didNotCome(within, "dialog")
		}
		return nil, err
	}
	d := &Dialog{tab: t}
	d.Type, _ = e.Evidence["type"].(string)
	d.Message, _ = e.Evidence["message"].(string)
	return d, nil
}

// ConsoleLine is one message that a script logged.
type ConsoleLine struct {
	// Level is log, warning, error, info, debug and so on. Text joins the arguments.
	Level, Text string
}

// WaitConsole runs act and waits for the next line of the console.
func (t *Tab) WaitConsole(ctx context.Context, act func() error) (*ConsoleLine, error) {
	var line ConsoleLine
	began := time.Now()
	err := t.after(ctx, "line of the console", []string{"Runtime"}, []string{"Runtime.consoleAPICalled"}, act,
		func(_ *CDPSession, e CDPEvent) (bool, error) {
			var in struct {
				Type string `json:"type"`
				Args []struct {
					Value       json.RawMessage `json:"value"`
					Description string          `json:"description"`
				} `json:"args"`
				Timestamp float64 `json:"timestamp"`
			}
			if err := decode(e.Params, &in); err != nil {
				return false, err
			}
			if time.UnixMicro(int64(in.Timestamp * 1000)).Before(began) { // what the browser kept of before
				return false, nil
			}
			var parts []string
			for _, a := range in.Args {
				var text string
				if json.Unmarshal(a.Value, &text) != nil {
					text = string(a.Value)
				}
				if a.Value == nil {
					text = a.Description
				}
				parts = append(parts, text)
			}
			line = ConsoleLine{Level: in.Type, Text: strings.Join(parts, " ")}
			return true, nil
		})
	if err != nil {
		return nil, err
	}
	return &line, nil
}

// Response is an answer that a page got.
type Response struct {
	Method, URL string
	Status      int
	Header      http.Header
	// Body is empty where there is none, as of a redirect.
	Body io.ReadCloser

	id string
}

// WaitResponse runs act and waits for the answer to a request that begins then, with its body. address is a
// glob when it has a star (* within a path segment, ** anything), else a part of the address; "" is any.
func (t *Tab) WaitResponse(ctx context.Context, address string, act func() error) (*Response, error) {
	var out *Response
	requests := map[string]string{} // methods by id
	methods := []string{
		"Network.requestWillBeSent", "Network.responseReceived", "Network.loadingFinished", "Network.loadingFailed",
	}
	err := t.after(ctx, "response", []string{"Network"}, methods, act, func(s *CDPSession, e CDPEvent) (bool, error) {
		r, ended, err := response(e, requests)
		if err != nil {
			return false, err
		}
		if r != nil && out == nil && addressMatches(address, r.URL) {
			out = r
		}
		if out == nil || ended != out.id {
			return false, nil
		}
		out.Body, err = s.body(ctx, out.id)
		return true, err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Responses iterates over the answers that the page gets after the call, without their bodies. An error ends the loop.
func (t *Tab) Responses(ctx context.Context) iter.Seq2[*Response, error] {
	s, err := t.OpenCDP(ctx)
	if err == nil {
		err = s.Call(ctx, "Network.enable", nil, nil)
	}
	if err != nil {
		return func(yield func(*Response, error) bool) { yield(nil, err) }
	}
	events := s.Events(ctx, "Network.requestWillBeSent", "Network.responseReceived")
	return func(yield func(*Response, error) bool) {
		defer s.Close()
		requests := map[string]string{}
		for e := range events {
			r, _, err := response(e, requests)
			if r == nil && err == nil {
				continue
			}
			if !yield(r, err) || err != nil {
				return
			}
		}
	}
}

// response reads an event of the domain Network. ended is the id of a request that has ended.
func response(e CDPEvent, requests map[string]string) (r *Response, ended string, err error) {
	var in struct {
		ID      string `json:"requestId"`
		Request struct {
			Method string `json:"method"`
		} `json:"request"`
		Response struct {
			URL     string            `json:"url"`
			Status  int               `json:"status"`
			Headers map[string]string `json:"headers"`
		} `json:"response"`
	}
	if err := decode(e.Params, &in); err != nil {
		return nil, "", err
	}
	switch e.Method {
	case "Network.requestWillBeSent":
		requests[in.ID] = in.Request.Method
	case "Network.responseReceived":
		method, ours := requests[in.ID]
		if !ours {
			return nil, "", nil // asked for before
		}
		header := http.Header{}
		for name, value := range in.Response.Headers {
			for line := range strings.SplitSeq(value, "\n") {
				header.Add(name, line)
			}
		}
		body := io.NopCloser(strings.NewReader(""))
		return &Response{method, in.Response.URL, in.Response.Status, header, body, in.ID}, "", nil
	default:
		return nil, in.ID, nil
	}
	return nil, "", nil
}

// body is the body of an answer that has ended.
func (s *CDPSession) body(ctx context.Context, id string) (io.ReadCloser, error) {
	var in struct {
		Body    string `json:"body"`
		Encoded bool   `json:"base64Encoded"`
	}
	err := s.Call(ctx, "Network.getResponseBody", map[string]string{"requestId": id}, &in)
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
