package outrider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"time"

	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/primitives"
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

// Downloads iterates over the downloads of the session that end after the call. One that brought no file is an error,
// and the loop may go on. It ends with ctx or with the session.
func (t *Tab) Downloads(ctx context.Context) iter.Seq2[*Download, error] {
	known := map[string]bool{}
	name := func(d primitives.Download) string { return d.ID + d.Started.String() }
	page, err := t.shown()
	if err == nil {
		var before []primitives.Download
		before, err = page.Downloads()
		for _, d := range before {
			known[name(d)] = !d.Ended.IsZero()
		}
	}
	return func(yield func(*Download, error) bool) {
		for {
			if err != nil {
				yield(nil, fromFault(err))
				return
			}
			changed := page.DownloadsChanged()
			var all []primitives.Download
			all, err = page.Downloads()
			if err != nil {
				continue
			}
			for _, d := range all {
				if d.Ended.IsZero() || known[name(d)] {
					continue
				}
				known[name(d)] = true
				if !yield(ended(d)) {
					return
				}
			}
			select {
			case <-changed:
			case <-page.Lifetime().Done():
				page, err = t.shown()
			case <-ctx.Done():
				return
			case <-t.session.ended.Done():
				return
			}
		}
	}
}

// ended is a download that has ended.
func ended(d primitives.Download) (*Download, error) {
	if d.State != primitives.DownloadCompleted {
		e := fault.New(fault.StateMismatch, "the download brought no file: it is %s", d.State)
		return nil, fromFault(e.With("state", d.State).With("filename", d.Filename))
	}
	return &Download{Name: d.Filename, Path: d.Path, URL: d.URL, Size: d.Received, SHA256: d.SHA256}, nil
}

// WaitPopup runs act and waits for the tab that opens then.
func (t *Tab) WaitPopup(ctx context.Context, act func() error) (*Tab, error) {
	ctx, cancel := t.session.within(ctx)
	defer cancel()
	popups := t.Popups(ctx)
	if err := act(); err != nil {
		return nil, err
	}
	for tab, err := range popups {
		return tab, err
	}
	return nil, t.didNotCome(ctx, "popup")
}

// Popups iterates over the tabs of the session that open after the call. It ends with ctx or with the session.
func (t *Tab) Popups(ctx context.Context) iter.Seq2[*Tab, error] {
	known := map[string]bool{}
	for _, tab := range t.session.Tabs() {
		known[tab.id] = true
	}
	events := t.session.Events(ctx)
	return func(yield func(*Tab, error) bool) {
		for e := range events {
			if e.Kind != TabReady || known[e.Tab.id] {
				continue
			}
			known[e.Tab.id] = true
			if !yield(e.Tab, nil) {
				return
			}
		}
	}
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

var pageOn = []command{{"Page.enable", nil}}

// WaitNavigation runs act and waits until the page that it leads to has loaded, or the address within the document has
// changed.
func (t *Tab) WaitNavigation(ctx context.Context, act func() error) error {
	methods := []string{"Page.frameNavigated", "Page.navigatedWithinDocument"}
	loads := false
	err := t.after(ctx, "navigation", pageOn, methods, act, func(_ *watched, e CDPEvent) (bool, error) {
		if e.SessionID != "" { // of a frame in another process
			return false, nil
		}
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

// Dialogs iterates over the dialogs that open after the call. Answer each before the next turn: at the end of the loop
// one that is open is answered with no. It ends with ctx or with the tab; an error ends it too.
func (t *Tab) Dialogs(ctx context.Context) iter.Seq2[*Dialog, error] {
	methods := []string{"Page.javascriptDialogOpening"}
	return stream(ctx, t, pageOn, methods, func(_ *watched, e CDPEvent) (*Dialog, bool, error) {
		d := &Dialog{tab: t}
		var in struct{ Type, Message string }
		err := decode(e.Params, &in)
		d.Type, d.Message = in.Type, in.Message
		return d, true, err
	})
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
