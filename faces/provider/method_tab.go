package provider

import (
	"context"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

func listTabs(_ context.Context, r *request) (any, *Failure) {
	tabs := []map[string]any{}
	for _, t := range r.session.tabs(r.server) {
		tabs = append(tabs, map[string]any{
			"tab_id":  tabID(t),
			"page_id": pageID(t),
			"url":     t.URL,
			"title":   t.Title,
			"active":  t.Active,
		})
	}
	return map[string]any{"tabs": tabs}, nil
}

func newTab(ctx context.Context, r *request) (any, *Failure) {
	var in openIn
	if failure := r.decode(&in); failure != nil {
		return nil, failure
	}
	opened, failure := r.openNew(ctx, openIn{URL: in.URL, Foreground: in.Foreground})
	if failure != nil {
		return nil, failure
	}
	out := opened.(map[string]any)
	out["tab_id"] = tabID(r.page)
	return out, nil
}

// tab finds the tab that the request names.
func (r *request) tab() (runtime.TabStatus, string, *Failure) {
	var in struct {
		TabID string `json:"tab_id"`
	}
	if failure := r.decode(&in); failure != nil {
		return runtime.TabStatus{}, "", failure
	}
	t, failure := r.session.page(r.server, in.TabID)
	if failure != nil {
		return t, in.TabID, r.orNotRunning(failure.with("tab_id", in.TabID))
	}
	return t, in.TabID, nil
}

func activateTab(ctx context.Context, r *request) (any, *Failure) {
	t, id, failure := r.tab()
	if failure != nil {
		return nil, failure
	}
	if failure := r.activate(ctx, r.session, t); failure != nil {
		return nil, failure
	}
	return map[string]any{"tab_id": id, "page_id": pageID(t), "activated": true}, nil
}

func closeTab(ctx context.Context, r *request) (any, *Failure) {
	t, id, failure := r.tab()
	if failure != nil {
		return nil, failure
	}
	if err := r.closePage(ctx, t); err != nil {
		return nil, r.failed(err)
	}
	return map[string]any{"tab_id": id, "page_id": pageID(t), "closed": true}, nil
}

func (r *request) closePage(ctx context.Context, t runtime.TabStatus) *fault.Error {
	if r.session.workspace != nil {
		if err := r.session.workspace.CloseTab(ctx, t.TabID); err != nil {
			return fault.From(err)
		}
		return nil
	}
	r.page = t
	_, err := r.do(ctx, "browser.close_tab", map[string]any{"tab_id": t.TabID}, nil)
	return err
}
