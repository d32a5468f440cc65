package page

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// ReleaseBlindly releases a key as Keys does, but also while a dialog is open.
func (p *Page) ReleaseBlindly(ctx context.Context, e primitives.KeyEvent) error {
	c := cdp.Command{Session: p.session.ID, Method: "Input.dispatchKeyEvent", Params: keyParams(e)}
	c.Observe = p.observeRelease(c)
	calls, err := p.client.Start(ctx, c)
	if err != nil {
		return err
	}
	_, err = p.client.Wait(ctx, calls[0])
	return err
}

// changes counts the changes of a page, and hears nothing else.
type changes struct {
	Observer
	n int
}

func (c *changes) Changed() { c.n++ }

// Describe plays, on a tab that shows "browser title" at address, that its document reports
// what it is and that the browser reports the same after it. It returns how often the page
// reported a change.
func Describe(address, title string) (changed int, described primitives.TabInfo) {
	observer := &changes{}
	s := cdp.NewSession("s", "", "")
	p := New(nil, s, Target{ID: "t", URL: address, Title: "browser title"}, observer, Options{})
	p.main, p.commits = "f", 1
	p.frames["f"] = &frame{id: "f", session: s}
	report := p.newLoadReport()
	payload, _ := json.Marshal(description{URL: address, Title: title, Status: 200})
	params, _ := json.Marshal(map[string]any{
		"name":               loadReportBinding,
		"payload":            report.nonce + " " + string(payload),
		"executionContextId": 7,
	})
	p.onLoadReport(s, params)
	described = p.Tab()
	p.SetTarget(Target{ID: "t", URL: address, Title: described.Title})
	return observer.n, described
}
