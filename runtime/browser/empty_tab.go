package browser

import (
	"context"
	"errors"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/route"
	"github.com/outrider-run/outrider/runtime/browser/storage"
)

// neighbours implements storage.Browser: the other tabs of a tab's browser context, and
// empty ones for origins that none of them shows.
type neighbours struct{ *Tab }

// SharedTabs implements storage.Browser.
func (n neighbours) SharedTabs() []storage.Document {
	var out []storage.Document
	for _, t := range n.browser.Tabs() {
		if t.context == n.context {
			out = append(out, t)
		}
	}
	return out
}

// OpenEmpty implements storage.Browser. The tab answers its requests by itself.
func (n neighbours) OpenEmpty(ctx context.Context, origin string) (storage.Document, func(), error) {
	t, err := n.browser.NewTab(ctx, "", TabOptions{Background: true, Context: n.context})
	if err != nil {
		return nil, nil, err
	}
	closeTab := func() { _ = t.Close(contextWithin(closeTimeout)) }
	if err := t.keepEmpty(ctx, true); err != nil {
		closeTab()
		return nil, nil, err
	}
	if _, err := t.Navigate(ctx, primitives.NavigateOptions{URL: origin + "/"}); err != nil {
		closeTab()
		return nil, nil, err
	}
	return t, closeTab, nil
}

// keepEmpty has the tab answer its requests by itself, or no longer.
func (t *Tab) keepEmpty(ctx context.Context, on bool) error {
	t.traffic.Keep()
	intercept := t.browser.routesOf(t.context).Command()
	if on {
		t.empty.Store(true)
		intercept = []cdp.Command{
			{Method: "Fetch.enable", Params: []byte(`{"patterns":[{"urlPattern":"*"}]}`)},
			{Method: "Network.setBypassServiceWorker", Params: []byte(`{"bypass":true}`)},
		}
	}
	intercept = append([]cdp.Command{t.traffic.EnableCommand()}, intercept...)
	err := t.browser.client.Broadcast(ctx, t.Lifetime(), []*cdp.Session{t.TopSession()}, intercept...)
	if !on {
		t.empty.Store(false)
	}
	return cdp.Explain(err, "opening an empty document")
}

// CallInEmpty implements primitives.StoredPage.
func (t *Tab) CallInEmpty(ctx context.Context, origins []string, fn string, args func(origin string) any) (err error) {
	if err := t.keepEmpty(ctx, true); err != nil {
		return err
	}
	for _, origin := range origins {
		_, err = t.Navigate(ctx, primitives.NavigateOptions{URL: origin + "/"})
		if err == nil {
			err = t.Call(ctx, "", fn, args(origin), nil)
		}
		if err != nil {
			break
		}
	}
	_, left := t.Navigate(ctx, primitives.NavigateOptions{URL: "about:blank"})
	return errors.Join(err, left, t.keepEmpty(contextWithin(closeTimeout), false))
}

// onRequestPaused answers a request that is held: of a tab that is kept empty, of a
// browser that is offline, or of a context with routes. It is the reader's.
func (t *Tab) onRequestPaused(s *cdp.Session, params []byte) {
	switch {
	case t.empty.Load():
	case t.browser.offline != nil:
		t.browser.offline.HandleEvent(s, params)
		return
	default:
		t.browser.routesOf(t.context).HandleEvent(t.browser.client, s, params)
		return
	}
	t.browser.client.Post(route.Document(t.browser.client, s, params))
}
