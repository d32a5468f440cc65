package provider

import (
	"context"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// openTab opens an empty tab in a session.
func (r *request) openTab(ctx context.Context, s *session, foreground bool) (runtime.TabStatus, *Failure) {
	if s.workspace != nil {
		tab, err := s.workspace.Open(ctx, "", foreground)
		if err != nil {
			return tab, r.server.refused(err)
		}
		return tab, nil
	}
	var opened struct {
		TabID int `json:"tab_id"`
	}
	if tabs := s.tabs(r.server); len(tabs) > 0 {
		r.page = tabs[0]
	}
	if _, err := r.do(ctx, "browser.open_tab", map[string]any{"active": foreground}, &opened); err != nil {
		return runtime.TabStatus{}, r.failed(err)
	}
	return s.page(r.server, pageID(runtime.TabStatus{TabID: opened.TabID}))
}

// activate makes a page the active one of its session and shows it.
func (r *request) activate(ctx context.Context, s *session, page runtime.TabStatus) *Failure {
	if s.workspace != nil {
		if _, err := s.workspace.Activate(ctx, page.TabID); err != nil {
			return r.failed(fault.From(err))
		}
		return nil
	}
	r.page = page
	if _, err := r.do(ctx, "browser.claimed_tabs.activate", map[string]any{"tab_id": page.TabID}, nil); err != nil {
		return r.failed(err)
	}
	return nil
}

type openIn struct {
	URL        string `json:"url"`
	PageID     string `json:"page_id"`
	NewPage    bool   `json:"new_page"`
	Foreground *bool  `json:"foreground"`
	WaitUntil  string `json:"wait_until"`
}

// openPage loads an address in a page, a new one where it is asked for or where
// the session has none.
func openPage(ctx context.Context, r *request) (any, *Failure) {
	var in openIn
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	if in.NewPage && in.PageID != "" {
		return nil, invalidRequest("/page_id", "give page_id or new_page, not both")
	}
	page, failure := r.session.page(r.server, in.PageID)
	if failure != nil && in.PageID != "" {
		return nil, r.orNotRunning(failure)
	}
	if in.NewPage || failure != nil {
		return r.openNew(ctx, in)
	}
	if in.Foreground != nil && *in.Foreground {
		if failure := r.activate(ctx, r.session, page); failure != nil {
			return nil, failure
		}
	}
	r.page = page
	return r.navigate(ctx, in)
}

// openNew opens a page and loads an address in it; a page whose address cannot
// be loaded at all does not stay.
func (r *request) openNew(ctx context.Context, in openIn) (any, *Failure) {
	page, failure := r.openTab(ctx, r.session, in.Foreground == nil || *in.Foreground)
	if failure != nil {
		return nil, failure
	}
	r.page = page
	if in.URL == "" {
		return r.about(runtime.Reply{URL: page.URL}, map[string]any{
			"title":            page.Title,
			"navigation_state": "loaded",
		}), nil
	}
	out, failure := r.navigate(ctx, in)
	if failure != nil && failure.Code != NavigationTimeout {
		if err := r.closePage(context.WithoutCancel(ctx), page); err != nil {
			r.server.log.Warn("closing a page that did not load", "error", err)
		}
	}
	return out, failure
}

// navigate loads an address and waits as asked. The primitive waits for the load
// event; a page that is slow to load is only an error where load was asked for.
func (r *request) navigate(ctx context.Context, in openIn) (any, *Failure) {
	var nav struct {
		Loaded       bool `json:"loaded"`
		SameDocument bool `json:"same_document"`
		Status       int  `json:"status"`
		Tab          struct {
			URL   string `json:"url"`
			Title string `json:"title"`
		} `json:"tab"`
	}
	reply, err := r.do(ctx, "browser.navigate", map[string]any{"url": in.URL}, &nav)
	if err != nil {
		if err.Code == fault.InvalidInput || err.Code == fault.InvalidArguments {
			return nil, r.failed(err).with("path", "/url")
		}
		if err.Code == fault.Timeout || err.Code == fault.HandlerTimeout {
			f := r.failed(err)
			f.Code, f.Retryable = NavigationTimeout, true
			return nil, f
		}
		return nil, r.failed(err)
	}
	state := "loaded"
	switch {
	case in.WaitUntil == "networkidle":
		args := map[string]any{
			"conditions": []any{map[string]any{"load": "load"}, map[string]any{"network_idle_ms": 500}},
		}
		if own := r.ownTimeout(); own > 0 {
			args["timeout_ms"] = own.Milliseconds()
		}
		if _, err := r.do(ctx, "page.wait", args, nil); err != nil {
			return nil, r.navigationTimedOut(err)
		}
	case !nav.Loaded && !nav.SameDocument && in.WaitUntil == "load":
		f := newFailure(NavigationTimeout, "the document came, and did not finish loading").
			with("page_id", pageID(r.page))
		f.Retryable = true
		return nil, f
	case !nav.Loaded && !nav.SameDocument:
		state = "loading"
	}
	reply.URL = nav.Tab.URL
	out := r.about(reply, map[string]any{"title": nav.Tab.Title, "navigation_state": state})
	if nav.Status > 0 {
		out["http_status"] = nav.Status
		if nav.Status >= 400 {
			r.warn("http_error", "the server answered with an error status")
		}
	}
	return out, nil
}

func (r *request) navigationTimedOut(err *fault.Error) *Failure {
	f := r.failed(err)
	if err.Code == fault.Timeout || err.Code == fault.HandlerTimeout {
		f.Code, f.Retryable = NavigationTimeout, true
	}
	return f
}

// history goes back or forward, or loads the page again.
func history(action string) func(context.Context, *request) (any, *Failure) {
	return func(ctx context.Context, r *request) (any, *Failure) {
		var moved struct {
			URL    string `json:"url"`
			Title  string `json:"title"`
			Moved  bool   `json:"moved"`
			Loaded *bool  `json:"loaded"`
		}
		reply, err := r.do(ctx, "page.history", map[string]any{"action": action}, &moved)
		if err != nil {
			if _, ends := err.Evidence["steps"]; ends && err.Code == fault.NavigationFailed { // there is no such entry
				return r.about(
					runtime.Reply{URL: r.page.URL}, map[string]any{"title": r.page.Title, "navigated": false},
				), nil
			}
			return nil, r.navigationTimedOut(err)
		}
		reply.URL = moved.URL
		return r.about(reply, map[string]any{"title": moved.Title, "navigated": moved.Moved}), nil
	}
}
