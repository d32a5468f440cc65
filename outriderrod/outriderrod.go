// Package outriderrod gives code of rod a tab of ours, so that both work on it in one program. It starts no browser,
// and changes neither of the two libraries. Programs that move from rod call it.
//
//	old, stop, err := outriderrod.Page(ctx, tab)
//	if err != nil {
//		return err
//	}
//	defer stop()
//	old.MustElement("#town").MustInput("Cape Town") // rod
//	err = tab.ByRole("button", "Order").Click(ctx)   // ours
//
// rod's page is a session of the protocol beside ours: what rod turns on there changes nothing of what a tab does. Its
// limits stay: a frame of another origin makes it panic, and acts of rod are neither checked nor recorded.
package outriderrod

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/cdp"
	"github.com/go-rod/rod/lib/proto"

	"github.com/outrider-run/outrider"
)

// Page gives the tab as a page of rod. ctx bounds the start alone. stop ends what rod has of the browser and leaves the
// tab open; the end of the tab's browser does that too. The page's Browser is that of the tab: pages that it opens have
// the cookies of the tab and are tabs of its session. It cannot close the browser.
func Page(ctx context.Context, tab *outrider.Tab) (page *rod.Page, stop func(), err error) {
	var target struct {
		TargetInfo struct {
			TargetID         proto.TargetTargetID
			BrowserContextID proto.BrowserBrowserContextID
		}
	}
	if err := tab.CDP(ctx, "Target.getTargetInfo", nil, &target); err != nil {
		return nil, nil, err
	}
	session, err := tab.Session().OpenCDP(ctx)
	if err != nil {
		return nil, nil, err
	}
	var isolated struct {
		BrowserContextIDs []proto.BrowserBrowserContextID
	}
	if err := session.Call(ctx, "Target.getBrowserContexts", nil, &isolated); err != nil {
		session.Close()
		return nil, nil, err
	}
	c := newConnection(session)
	browser := rod.New().ControlURL("").Client(c).NoDefaultDevice()
	for _, id := range isolated.BrowserContextIDs {
		if id == target.TargetInfo.BrowserContextID {
			browser.BrowserContextID = id
		}
	}
	if err := browser.Connect(); err != nil {
		c.stop()
		return nil, nil, err
	}
	page, err = browser.PageFromTarget(target.TargetInfo.TargetID)
	if err != nil {
		c.stop()
		return nil, nil, err
	}
	return page, c.stop, nil
}

// noDeadline is long enough for rod, whose calls end with its contexts or with the page.
const noDeadline = 1000 * time.Hour

// connection is a rod.CDPClient.
type connection struct {
	session *outrider.CDPSession
	events  chan *cdp.Event
	cancel  context.CancelFunc
	ended   sync.WaitGroup
	once    sync.Once
}

func newConnection(session *outrider.CDPSession) *connection {
	ctx, cancel := context.WithCancel(context.Background())
	c := &connection{session: session, events: make(chan *cdp.Event), cancel: cancel}
	events := session.Events(ctx)
	c.ended.Go(func() {
		defer close(c.events) // rod's goroutines end with it
		for e := range events {
			select {
			case c.events <- &cdp.Event{SessionID: e.SessionID, Method: e.Method, Params: e.Params}:
			case <-ctx.Done():
				return
			}
		}
	})
	return c
}

// Event has all events, once.
func (c *connection) Event() <-chan *cdp.Event { return c.events }

// Call sends a command. What the browser refuses is an error of rod.
func (c *connection) Call(ctx context.Context, sessionID, method string, params any) ([]byte, error) {
	if method == "Browser.close" || method == "Target.disposeBrowserContext" {
		return nil, errors.New("outriderrod: the browser is not rod's: Session.Close closes it")
	}
	bounded, cancel := ctx, context.CancelFunc(func() {})
	if _, ok := ctx.Deadline(); !ok {
		bounded, cancel = context.WithTimeout(ctx, noDeadline)
	}
	defer cancel()
	var result json.RawMessage
	err := c.session.CallIn(bounded, sessionID, method, params, &result)
	switch {
	case err == nil:
		return result, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, outrider.Code("tab_closed")):
		return nil, cdp.ErrSessionNotFound
	}
	var e *outrider.Error
	if !errors.As(err, &e) || e.Evidence["browser_says"] == nil {
		return nil, err
	}
	refused := &cdp.Error{}
	refused.Code, _ = e.Evidence["browser_code"].(int)
	refused.Message, _ = e.Evidence["browser_says"].(string)
	refused.Data, _ = e.Evidence["browser_data"].(string)
	return nil, refused
}

// stop ends the session and waits for the goroutine that hands out its events.
func (c *connection) stop() {
	c.once.Do(func() {
		c.session.Close()
		c.cancel()
		c.ended.Wait()
	})
}
