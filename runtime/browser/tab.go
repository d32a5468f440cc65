package browser

import (
	"bytes"
	"context"
	"errors"
	"net/url"
	"path"
	"strings"
	"sync/atomic"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/console"
	"github.com/outrider-run/outrider/runtime/browser/emulate"
	"github.com/outrider-run/outrider/runtime/browser/network"
	"github.com/outrider-run/outrider/runtime/browser/page"
	"github.com/outrider-run/outrider/runtime/browser/route"
	"github.com/outrider-run/outrider/runtime/browser/storage"
	"github.com/outrider-run/outrider/runtime/browser/webmcp"
)

// Tab is one page of the browser with its frames. It is put together from the rooms
// that do its work, which keep their own state and do not know each other, and is safe
// for concurrent use.
type Tab struct {
	*page.Page
	traffic  *network.Traffic
	console  *console.Log
	store    *storage.Store
	emulator *emulate.Emulator
	cast     *screencast   // nil without Watch.Picture
	tools    *webmcp.Tools // nil without Options.PageTools

	browser *Browser
	context string // browser context
	own     cdp.BrowserContext
	opener  *Tab

	// Guarded by Browser.mu.
	announced bool // reported as a tab
	children  int  // tabs that it opened and that are attached, or were
	refused   int  // of these, those that were closed because of a limit
	mostTabs  int  // that limit
	verdict   verdict

	// empty: every request is answered with an empty document, see OpenEmpty.
	empty atomic.Bool
	// heads: the Network domain is on until the first answer of a navigation came.
	heads     atomic.Bool
	challenge atomic.Pointer[route.Challenge] // of the navigation under way, that had no answer
}

var _ primitives.Page = (*Tab)(nil)

func newTab(b *Browser, s *cdp.Session, info targetInfo) *Tab {
	t := &Tab{browser: b, context: info.BrowserContextID}
	t.own = cdp.BrowserContext{Client: b.client, ID: b.ownContext(info.BrowserContextID)}
	t.Page = page.New(
		b.client, s, page.Target{ID: info.TargetID, URL: info.URL, Title: info.Title}, (*observer)(t),
		page.Options{Logger: b.log, Patience: b.opts.Patience},
	)
	t.traffic = network.New(b.client, t.Page, b.egress)
	t.console = console.New(b.client, t.Page)
	t.store = storage.New(t.own, t.Page, neighbours{t})
	t.emulator = emulate.New(t.own, t.Page, t.traffic, &b.agent, b.emulation())
	t.emulator.Begin(b.emulatedIn(t.own.ID))
	if b.opts.PageTools {
		t.tools = webmcp.New(b.client, t.Page, (*observer)(t).toolsChanged)
	}
	t.watched(b.opts.Watch)
	return t
}

// sessionCommands are those with which the rooms of the tab take part in a new session.
func (t *Tab) sessionCommands(s *cdp.Session) []cdp.Command {
	if t.browser.offline != nil || t.browser.routesOf(t.context).Active() {
		t.traffic.Keep()
	}
	out := t.traffic.SessionCommands(s)
	out = append(out, t.console.SessionCommands(s)...)
	out = append(out, t.cast.SessionCommands(s)...)
	out = append(out, t.tools.SessionCommands(s)...)
	out = append(out, t.browser.offline.SessionCommands(s)...)
	out = append(out, t.browser.routesOf(t.context).SessionCommands(s)...)
	if script := t.browser.opts.Script; script != nil {
		params := cdp.Object("source", script())
		out = append(out, cdp.Command{Session: s.ID, Method: "Page.addScriptToEvaluateOnNewDocument", Params: params})
	}
	return append(out, t.emulator.SessionCommands(s)...)
}

// handleEvent gives an event to the room that it is for. The reader calls it.
func (t *Tab) handleEvent(s *cdp.Session, method, params []byte) {
	switch string(method) {
	case "Fetch.requestPaused":
		t.onRequestPaused(s, params)
	case "Fetch.authRequired":
		t.onAuthRequired(s, params)
	case "Page.screencastFrame":
		t.cast.HandleEvent(s, params)
	case "WebMCP.toolsAdded", "WebMCP.toolsRemoved", "WebMCP.toolResponded":
		t.tools.HandleEvent(s, method, params)
	case "Page.frameNavigated":
		t.tools.Navigated(params)
		t.Page.HandleEvent(s, method, params)
	case "Page.frameDetached":
		t.tools.Detached(params)
		t.Page.HandleEvent(s, method, params)
	case "Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded":
		t.console.HandleEvent(method, params)
	default:
		if bytes.HasPrefix(method, []byte("Network.")) {
			t.onHead(method, params)
			t.traffic.HandleEvent(s, method, params)
			return
		}
		if t.Page.HandleEvent(s, method, params) || string(method) != "Runtime.bindingCalled" {
			return
		}
		if report, ok := t.browser.listener.Report(params); ok {
			t.browser.opts.OnSignal(t, report)
		} else if report, ok := t.browser.follower.Report(params); ok {
			t.browser.opts.OnPerson(t, report)
		}
	}
}

// observer implements page.Observer: what happens to a tab's page is passed on to its
// other rooms and reported.
type observer Tab

func (o *observer) report(kind EventKind) { o.browser.events.add(Event{Kind: kind, Tab: (*Tab)(o)}) }

func (o *observer) Navigated()    { o.report(TabNavigated) }
func (o *observer) Changed()      { o.report(TabChanged) }
func (o *observer) Crashed()      { o.report(TabCrashed) }
func (o *observer) toolsChanged() { o.report(ToolsChanged) }
func (o *observer) DialogOpened() {
	o.report(DialogOpened)
	o.dialog(true)
}

func (o *observer) DialogClosed() {
	o.report(DialogClosed)
	o.dialog(false)
}

// dialog reports the newest dialog.
func (o *observer) dialog(open bool) {
	w := o.browser.opts.Watch
	if w == nil || w.Dialog == nil {
		return
	}
	if d := o.Activity().LastDialog; d != nil {
		w.Dialog((*Tab)(o), *d, open)
	}
}

func (o *observer) FramesChanged() {
	if report := o.browser.opts.OnFrames; report != nil {
		report((*Tab)(o))
	}
}

func (o *observer) FrameBegan(s *cdp.Session, frame primitives.FrameID) {
	if o.browser.listener != nil {
		o.browser.listener.FrameBegan(s, string(frame), o.Page.Tab().URL)
	}
	o.browser.follower.FrameBegan(s, string(frame), "")
}

func (o *observer) DocumentReplaced(frame primitives.FrameID, loader string, top bool) {
	o.traffic.DocumentReplaced(frame, loader, top)
}

func (o *observer) DocumentQuiet(loader string) { o.traffic.DocumentQuiet(loader) }

func (o *observer) SessionDetached(s *cdp.Session) { o.traffic.SessionDetached(s) }

// Context is the browser context of the tab.
func (t *Tab) Context() string { return t.context }

// Opener is the tab whose page opened this one, nil when there is none.
func (t *Tab) Opener() *Tab { return t.opener }

// Browser is the browser the tab belongs to.
func (t *Tab) Browser() *Browser { return t.browser }

// Peer implements primitives.Page.
func (t *Tab) Peer(tabID int) (primitives.Page, error) {
	if t.browser.opts.Peer == nil {
		return nil, fault.New(fault.TabClosed, "there is no tab %d", tabID)
	}
	return t.browser.opts.Peer(t, tabID)
}

// Navigate implements primitives.Page, within the origins that are allowed.
func (t *Tab) Navigate(ctx context.Context, opts primitives.NavigateOptions) (primitives.Navigation, error) {
	egress := t.browser.egress
	if err := egress.CheckNavigation(opts.URL); err != nil && !opts.Reload {
		return primitives.Navigation{}, err
	}
	withoutUser, err := t.signedIn(ctx, opts.URL)
	if err != nil {
		return primitives.Navigation{}, err
	}
	opts.URL = withoutUser
	_, refused := egress.Refused(0)
	t.challenge.Store(nil)
	t.watchHead()
	n, err := t.Page.Navigate(ctx, opts)
	t.leaveHead()
	if err == nil && n.Status == 401 && t.challenge.Load() != nil && t.browser.Shell() {
		// It shows what the server says beside its challenge, where Chromium shows a failure.
		err = fault.New(fault.NavigationFailed, "the address could not be loaded").
			With("error_text", "net::ERR_INVALID_AUTH_CREDENTIALS")
	}
	err = t.explainPDF(t.explainChallenge(err), opts.URL)
	if cause := egress.ExplainNavigation(refused, err); cause != nil {
		err = cdp.Explain(cause, "navigating")
	}
	return n, err
}

// explainPDF says of a PDF file that the headless shell could not open where it can be seen.
func (t *Tab) explainPDF(err error, address string) error {
	var f *fault.Error
	if !t.browser.Shell() || !errors.As(err, &f) || f.Evidence["error_text"] != "net::ERR_ABORTED" {
		return err
	}
	u, bad := url.Parse(address)
	if bad != nil || !strings.EqualFold(path.Ext(u.Path), ".pdf") {
		return err
	}
	return f.Next("the headless shell shows no PDF files: start with --browser chromium, or read its bytes " +
		"with page.fetch")
}
