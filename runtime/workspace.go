package runtime

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
)

// WorkspaceOptions say what a workspace is.
type WorkspaceOptions struct {
	// Isolated gives it a browser context: cookies, storage, cache and
	// permissions of its own, which end with it.
	Isolated bool
}

// Workspace is a group of tabs that belong to one client of a face: a session
// of the provider protocol or of MCP. Its tabs and the popups they open are not
// in Host.Tabs, are not announced to a bridge, and are found only by a Target
// that names the workspace; exactly one of them is active. It is safe for
// concurrent use.
type Workspace struct {
	host     *Host
	id       string
	isolated bool

	stores sessionStores // end with it

	making sync.Mutex // held while a context is made

	mu      sync.Mutex
	browser *browser.Browser // the one that context belongs to
	context string           // browser context; "" is the browser's own
	closed  bool
}

// NewWorkspace makes a workspace without a tab.
func (h *Host) NewWorkspace(ctx context.Context, opts WorkspaceOptions) (*Workspace, error) {
	w := &Workspace{host: h, id: "workspace-" + h.opts.NewID(), isolated: opts.Isolated}
	b := h.currentBrowser()
	if _, err := w.contextIn(ctx, b); err != nil {
		return nil, err
	}
	if b != nil {
		h.clipboards.Begins(ctx, b.Clipboard())
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, fault.New(fault.Cancelled, "the runtime is shutting down")
	}
	h.workspaces = append(h.workspaces, w)
	return w, nil
}

// ID names the workspace in Target.Workspace and TabStatus.Workspace.
func (w *Workspace) ID() string { return w.id }

// Isolated reports whether it has a browser context of its own.
func (w *Workspace) Isolated() bool { return w.isolated }

// Tabs returns the state of its tabs, oldest first.
func (w *Workspace) Tabs() []TabStatus {
	tabs := w.host.tabsOf(w)
	w.host.keepActive(tabs)
	return w.host.statuses(tabs)
}

// Open opens a tab at an address, "" for an empty one, waits for it to load,
// and makes it the active one if active. A page that does not finish within the
// host's LoadTimeout is not an error.
func (w *Workspace) Open(ctx context.Context, address string, active bool) (TabStatus, error) {
	return w.host.opened(w.host.openTab(ctx, w, address, active))
}

// OpenTab opens a tab of no workspace, as Workspace.Open does. It needs no other tab.
func (h *Host) OpenTab(ctx context.Context, address string, active bool) (TabStatus, error) {
	return h.opened(h.openTab(ctx, nil, address, active))
}

func (h *Host) opened(t *Tab, err error) (TabStatus, error) {
	if err != nil {
		return TabStatus{}, err
	}
	return h.hideStatus(t.Status()), nil
}

// Activate makes one of its tabs the active one and brings it to the front.
func (w *Workspace) Activate(ctx context.Context, tabID int) (TabStatus, error) {
	t, err := w.host.tabIn(w, tabID)
	if err != nil {
		return TabStatus{}, err
	}
	return w.host.opened(t, w.host.bringToFront(ctx, t))
}

// CloseTab closes one of its tabs, the last one too.
func (w *Workspace) CloseTab(ctx context.Context, tabID int) error {
	t, err := w.host.tabIn(w, tabID)
	if err != nil {
		return err
	}
	return w.host.closeTab(ctx, t)
}

// Close closes its tabs and ends its browser context. Calls that run on them
// end with tab_closed.
func (w *Workspace) Close(ctx context.Context) error {
	b, id, ok := w.leave()
	if !ok {
		return nil
	}
	tabs := w.host.tabsOf(w)
	w.host.recordLastStates(ctx, tabs)
	var failed error
	if id != "" && b == w.host.currentBrowser() {
		failed = b.DisposeContext(ctx, id)
	} else if id == "" {
		for _, t := range tabs {
			failed = errors.Join(failed, w.host.closeTab(ctx, t))
		}
	}
	for _, t := range tabs {
		select {
		case <-t.closed:
		case <-ctx.Done():
			return errors.Join(failed, ctx.Err())
		}
	}
	return failed
}

// Release ends the workspace and leaves its tabs open: from then on they are the
// host's and are announced. The cookies of an isolated one stay with them until
// the browser ends.
func (w *Workspace) Release() {
	if _, _, ok := w.leave(); !ok {
		return
	}
	for _, t := range w.host.tabsOf(w) {
		t.mu.Lock()
		t.workspace = nil
		t.status.Workspace = ""
		t.status.Active = false
		t.mu.Unlock()
		t.emit(TabReady)
	}
}

// Route answers requests of the tabs of w, of the host's own for nil: see browser.Browser.Route.
func (h *Host) Route(ctx context.Context, w *Workspace, rules []*browser.Route) error {
	b, id, err := h.contextOf(ctx, w)
	if err != nil {
		return err
	}
	return b.Route(ctx, id, rules)
}

// SignIn answers the servers of an origin that ask for a name and a password, in the tabs of w, in the
// host's own for nil. What the host was started with for that origin stays.
func (h *Host) SignIn(ctx context.Context, w *Workspace, c browser.Credentials) error {
	b, id, err := h.contextOf(ctx, w)
	if err != nil {
		return err
	}
	return b.SignIn(ctx, id, c)
}

// Emulate has the tabs of w, the host's own for nil, emulate from here on, and those that come: see
// browser.Browser.EmulateIn.
func (h *Host) Emulate(ctx context.Context, w *Workspace, e primitives.Emulation) error {
	b, id, err := h.contextOf(ctx, w)
	if err != nil {
		return err
	}
	return b.EmulateIn(ctx, id, e)
}

// Request makes a request with the cookies of w, those of the host's own tabs for nil: see
// browser.Browser.Request.
func (h *Host) Request(ctx context.Context, w *Workspace, q browser.HTTPRequest) (browser.HTTPAnswer, error) {
	b, id, err := h.contextOf(ctx, w)
	if err != nil {
		return browser.HTTPAnswer{}, err
	}
	return b.Request(ctx, id, q)
}

// contextOf is the browser, and the browser context of w in it; the browser's own for nil.
func (h *Host) contextOf(ctx context.Context, w *Workspace) (*browser.Browser, string, error) {
	b := h.currentBrowser()
	id, err := w.contextIn(ctx, b)
	if err == nil && b == nil {
		err = fault.New(fault.BrowserLost, "the browser is being started again")
	}
	return b, id, err
}

// leave takes the workspace from its host, once.
func (w *Workspace) leave() (*browser.Browser, string, bool) {
	w.mu.Lock()
	first := !w.closed
	w.closed = true
	b, id := w.browser, w.context
	w.mu.Unlock()
	h := w.host
	h.mu.Lock()
	h.workspaces = slices.DeleteFunc(h.workspaces, func(o *Workspace) bool { return o == w })
	h.mu.Unlock()
	h.clipboards.Ended(&w.stores.Clipboard)
	return b, id, first
}

// contextIn returns the browser context of the workspace in b, made anew when b
// has taken the place of a browser that ended.
func (w *Workspace) contextIn(ctx context.Context, b *browser.Browser) (string, error) {
	if w == nil {
		return "", nil
	}
	if w.ended() {
		return "", fault.New(fault.SessionLost, "the workspace is closed")
	}
	if !w.isolated {
		return "", nil
	}
	if b == nil {
		return "", fault.New(fault.BrowserLost, "the browser is being started again")
	}
	w.making.Lock()
	defer w.making.Unlock()
	w.mu.Lock()
	made, id := w.browser, w.context
	w.mu.Unlock()
	if made == b {
		return id, nil
	}
	id, err := b.NewContext(ctx)
	if err != nil {
		return "", err
	}
	w.mu.Lock()
	w.browser, w.context = b, id
	w.mu.Unlock()
	return id, nil
}

// workspaceOf finds where a tab belongs that nobody here opened: to the
// workspace of the tab that opened it, or to the one whose context it is in.
func (h *Host) workspaceOf(bt *browser.Tab) *Workspace {
	if opener := bt.Opener(); opener != nil {
		if t := h.tabShowing(opener); t != nil {
			return t.ownWorkspace()
		}
	}
	h.mu.Lock()
	workspaces := slices.Clone(h.workspaces)
	h.mu.Unlock()
	for _, w := range workspaces {
		if w.holds(bt.Context()) {
			return w
		}
	}
	return nil
}

func (w *Workspace) ended() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closed
}

func (w *Workspace) holds(context string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.context != "" && w.context == context
}

// ownWorkspace returns the workspace of a tab, nil for none.
func (t *Tab) ownWorkspace() *Workspace {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.workspace
}

// tabsOf lists the tabs of a workspace; those of none for nil.
func (h *Host) tabsOf(w *Workspace) []*Tab {
	return slices.DeleteFunc(h.tabList(), func(t *Tab) bool { return t.ownWorkspace() != w })
}

func (h *Host) currentBrowser() *browser.Browser {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.browser
}

// tabIn finds a tab of a workspace by its id.
func (h *Host) tabIn(w *Workspace, id int) (*Tab, error) {
	for _, t := range h.tabsOf(w) {
		if t.id == id {
			return t, nil
		}
	}
	return nil, fault.New(fault.TabClosed, "this runtime has no tab %d", id).With("tab_id", id)
}

// openTab opens a tab in a workspace, or among the host's own for nil.
func (h *Host) openTab(ctx context.Context, w *Workspace, address string, active bool) (*Tab, error) {
	b := h.currentBrowser()
	if b == nil {
		return nil, fault.New(fault.BrowserLost, "the browser is being started again")
	}
	release, err := h.reserve()
	if err != nil {
		return nil, err
	}
	defer release()
	id, err := w.contextIn(ctx, b)
	if err != nil {
		return nil, err
	}
	bt, err := b.NewTab(ctx, address, browser.TabOptions{
		Background:  !active,
		LoadTimeout: h.opts.LoadTimeout,
		Context:     id,
	})
	if err != nil {
		return nil, err
	}
	t := h.adoptInto(bt, w)
	if t == nil {
		return nil, fault.New(fault.Cancelled, "the runtime is shutting down")
	}
	t.refresh()
	if active {
		h.activate(t)
	}
	return t, nil
}

// closeTab closes a tab and returns after its removal was handled.
func (h *Host) closeTab(ctx context.Context, t *Tab) error {
	page, err := h.peer(t.id)
	if err != nil {
		return err
	}
	closer, ok := page.(closingPage)
	if !ok {
		return fault.New(fault.CapabilityUnavailable, "this tab cannot be closed").With("tab_id", t.id)
	}
	if err := closer.Close(ctx); err != nil {
		return err
	}
	select {
	case <-t.closed:
	case <-ctx.Done():
		return ctx.Err()
	}
	h.keepActive(h.tabsOf(t.ownWorkspace()))
	return nil
}

// bringToFront makes a tab the active one of its workspace, in the browser too.
func (h *Host) bringToFront(ctx context.Context, t *Tab) error {
	page, err := h.peer(t.id)
	if err != nil {
		return err
	}
	if p, ok := page.(activePage); ok {
		if err := p.Activate(ctx); err != nil {
			return err
		}
	}
	h.activate(t)
	return nil
}

func (h *Host) statuses(tabs []*Tab) []TabStatus {
	out := make([]TabStatus, len(tabs))
	for i, t := range tabs {
		out[i] = h.hideStatus(t.Status())
	}
	return out
}

func infos(tabs []*Tab) []primitives.TabInfo {
	out := make([]primitives.TabInfo, len(tabs))
	for i, t := range tabs {
		out[i] = t.info()
	}
	return out
}
