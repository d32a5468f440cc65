package browser

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/page"
)

// NewTab opens a tab, loads url unless it is empty, and waits for the load event
// up to opts.LoadTimeout; a page that takes longer is not an error. When the
// navigation fails the tab is closed again.
func (b *Browser) NewTab(ctx context.Context, url string, opts TabOptions) (*Tab, error) {
	params := append([]byte(`{"url":"about:blank","background":`), strconv.FormatBool(opts.Background)...)
	if b.process != nil && !b.opts.Headed && !b.opts.OneWindow {
		params = append(params, `,"newWindow":true`...)
	}
	if b.Shell() {
		params = append(params, fmt.Sprintf(`,"left":%d,"top":%d`, shellCorner, shellCorner)...)
	}
	if in := cmp.Or(opts.Context, b.own); in != "" {
		params = cdp.AppendQuoted(append(params, `,"browserContextId":`...), in)
	}
	params = append(params, '}')
	created := make(chan cdp.Reply, 1)
	var target string
	abandoned := false // both are guarded by b.mu until created has the reply
	_, err := b.client.Start(ctx, cdp.Command{Method: "Target.createTarget", Params: params, OnReply: func(
		r cdp.Reply,
	) {
		// On the reader, so that the tab is known as ours before it is ready.
		if r.Err == nil {
			b.mu.Lock()
			target = string(cdp.PlainString(cdp.Member(r.Result, "targetId")))
			b.requested[target] = true
			late := abandoned
			b.mu.Unlock()
			if late {
				b.dismiss(target)
			}
		}
		created <- r
	}})
	if err != nil {
		return nil, cdp.Explain(err, "opening a tab")
	}
	ctx, cancel := context.WithTimeout(ctx, cdp.CommandTimeout)
	defer cancel()
	select {
	case r := <-created:
		if r.Err != nil {
			return nil, cdp.Explain(r.Err, "opening a tab")
		}
	case <-ctx.Done():
		b.mu.Lock()
		abandoned = true
		opened := target
		b.mu.Unlock()
		if opened != "" {
			b.dismiss(opened)
		}
		return nil, cdp.Explain(ctx.Err(), "opening a tab")
	}
	t, err := b.awaitTab(ctx, target)
	if err != nil {
		b.dismiss(target)
		return nil, cdp.Explain(err, "opening a tab")
	}
	if url == "" || url == "about:blank" {
		return t, nil
	}
	load := opts.LoadTimeout
	if load == 0 {
		load = page.DefaultLoad
	}
	going := primitives.NavigateOptions{}.Within(ctx)
	going.URL = url
	going.LoadTimeout, going.AnswerTimeout = min(load, going.LoadTimeout), min(load, going.AnswerTimeout)
	if _, err := t.Navigate(ctx, going); err != nil {
		_ = t.Close(contextWithin(closeTimeout))
		return nil, err
	}
	return t, nil
}

// shellCorner is where windows of the headless shell are put, to the right and down. It has a mouse of its own at the
// corner of its screen, which goes over a window there when the size of that changes.
const shellCorner = 10

// moveFromMouse moves the window of a tab that a page has opened in the headless shell.
func (b *Browser) moveFromMouse(target string) {
	window := cdp.Command{Method: "Browser.getWindowForTarget", Params: cdp.Object("targetId", target)}
	window.OnReply = func(r cdp.Reply) {
		var out struct {
			ID int `json:"windowId"`
		}
		if r.Err != nil || json.Unmarshal(r.Result, &out) != nil {
			return
		}
		b.client.Post(cdp.Command{
			Method: "Browser.setWindowBounds",
			Params: fmt.Appendf(
				nil, `{"windowId":%d,"bounds":{"left":%d,"top":%d}}`, out.ID, shellCorner, shellCorner,
			),
			OnReply: b.client.LogFailure("Browser.setWindowBounds"),
		})
	}
	b.client.Post(window)
}

// dismiss closes a tab that nobody waits for any more, without waiting for that. It has no page of anybody yet.
func (b *Browser) dismiss(target string) {
	b.client.Post(cdp.Command{Method: "Target.closeTarget", Params: cdp.Object("targetId", target)})
}

func (b *Browser) awaitTab(ctx context.Context, target string) (*Tab, error) {
	for seen := false; ; {
		changed := b.change.Wait()
		b.mu.Lock()
		there := false
		for _, t := range b.tabs {
			if t.TargetID() != target {
				continue
			}
			if t.announced {
				b.mu.Unlock()
				return t, nil
			}
			there = true
		}
		b.mu.Unlock()
		if seen && !there {
			return nil, fault.New(fault.TabClosed, "the tab was closed while it was opened")
		}
		seen = there
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-b.done:
			return nil, fault.New(fault.BrowserLost, "the browser ended")
		}
	}
}

// ownContext is the name of a browser context in commands about it: that of one which
// NewContext created, "" for the profile's own and those of others.
func (b *Browser) ownContext(id string) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.contexts[id] {
		return id
	}
	return ""
}

// NewContext makes a browser context: cookies, storage and cache of its own.
func (b *Browser) NewContext(ctx context.Context) (string, error) {
	var out struct {
		BrowserContextID string `json:"browserContextId"`
	}
	if err := b.client.Do(
		ctx, "", "Target.createBrowserContext", json.RawMessage(`{"disposeOnDetach":true}`), &out,
	); err != nil {
		return "", cdp.Explain(err, "making a browser context")
	}
	b.mu.Lock()
	b.contexts[out.BrowserContextID] = true
	b.mu.Unlock()
	if err := b.client.DoAll(ctx, b.transfers.Behavior(out.BrowserContextID)); err != nil {
		b.log.Debug("directing downloads failed", "error", err)
	}
	return out.BrowserContextID, nil
}

// DisposeContext ends a browser context and closes its tabs without asking them.
func (b *Browser) DisposeContext(ctx context.Context, id string) error {
	b.mu.Lock()
	delete(b.contexts, id)
	delete(b.emulated, id)
	b.mu.Unlock()
	b.dropRoutes(id)
	var commands []cdp.Command
	for _, t := range b.Tabs() {
		if t.context == id {
			commands = append(commands, t.Dismissal()...)
		}
	}
	err := b.client.DoAll(ctx, append(commands, cdp.Command{
		Method: "Target.disposeBrowserContext",
		Params: cdp.Object("browserContextId", id),
	})...)
	var gone *cdp.Error
	if errors.As(err, &gone) && strings.HasPrefix(gone.Message, "Failed to find context") {
		return nil
	}
	return cdp.Explain(err, "ending a browser context")
}
