package browser

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
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
	t.empty.Store(true)
	err = n.browser.client.Broadcast(ctx, t.Lifetime(), []*cdp.Session{t.TopSession()},
		cdp.Command{Method: "Fetch.enable", Params: []byte(`{"patterns":[{"urlPattern":"*"}]}`)},
		cdp.Command{Method: "Network.setBypassServiceWorker", Params: []byte(`{"bypass":true}`)})
	if err != nil {
		closeTab()
		return nil, nil, cdp.Explain(err, "opening an empty document")
	}
	if _, err := t.Navigate(ctx, primitives.NavigateOptions{URL: origin + "/"}); err != nil {
		closeTab()
		return nil, nil, err
	}
	return t, closeTab, nil
}

// onRequestPaused answers a request of a tab that is kept empty. It is the reader's.
func (t *Tab) onRequestPaused(s *cdp.Session, params []byte) {
	if !t.empty.Load() {
		t.browser.offline.HandleEvent(s, params)
		return
	}
	id := string(cdp.PlainString(cdp.Member(params, "requestId")))
	answer := `{"requestId":"` + id + `","responseCode":200,"responseHeaders":[{"name":"content-type","value":"text/html"}],"body":"PCFkb2N0eXBlIGh0bWw+"}`
	t.browser.client.Post(cdp.Command{Session: s.ID, Method: "Fetch.fulfillRequest", Params: []byte(answer)})
}
