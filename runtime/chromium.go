package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/outrider-run/outrider/primitives"
	addresses "github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
)

// start launches the browser, opens the first tabs and starts the supervisor.
func (h *Host) start(ctx context.Context) error {
	adopt := h.opts.Browser.Attach != "" && len(h.opts.Open) == 0
	b, err := h.launchReading(ctx, adopt)
	h.mu.Lock()
	h.browser = b
	h.mu.Unlock()
	if err != nil {
		return err
	}
	if h.opts.Ready != nil {
		h.signals.Relisten(ctx)
	}
	h.life.Go(h.supervise)
	if h.opts.Limits.TabMemory > 0 {
		h.life.Go(h.watchMemory)
	}
	if adopt {
		tabs := b.Tabs()
		slices.SortStableFunc(tabs, func(x, y *browser.Tab) int { // the first is active: one that answers
			return boolean(x.Tab().Busy) - boolean(y.Tab().Busy)
		})
		for _, bt := range tabs {
			h.adopt(bt)
		}
	}
	open := h.opts.Open
	if len(open) == 0 && len(h.tabList()) == 0 && !h.opts.NoFirstTab {
		open = []string{"about:blank"}
	}
	opened := 0
	if h.opts.Prepare != nil {
		opened, err = h.prepare(ctx, b, open)
		if err != nil {
			return err
		}
	}
	for i, url := range open {
		if i < opened {
			continue
		}
		if err := h.openAtStart(ctx, b, url, i > 0); err != nil {
			return err
		}
	}
	return nil
}

// boolean is 1 for true.
func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// openAtStart opens one of the first tabs. It has its place before its page can open others.
func (h *Host) openAtStart(ctx context.Context, b *browser.Browser, address string, background bool) error {
	release, err := h.reserve()
	if err != nil {
		return h.arrived(address, nil, err)
	}
	defer release()

	bt, err := b.NewTab(ctx, address, browser.TabOptions{Background: background, LoadTimeout: h.opts.LoadTimeout})
	return h.arrived(address, bt, err)
}

// arrived tells of an address that was to be opened, in bt. Its error ends the start.
func (h *Host) arrived(address string, bt *browser.Tab, err error) error {
	id := ""
	if bt != nil {
		if t := h.adopt(bt); t != nil {
			id = t.Status().RuntimeID
		}
	}
	if err != nil {
		err = fault.Wrap(fault.NavigationFailed, err, "opening %s", fault.Clip(addresses.WithoutUser(address), 200))
	}
	if h.opts.OnOpen == nil {
		return err
	}
	h.opts.OnOpen(addresses.WithoutUser(address), id, err)
	return nil
}

// prepare has the first tab prepared, and returns how many of the addresses it shows
// already.
func (h *Host) prepare(ctx context.Context, b *browser.Browser, open []string) (opened int, err error) {
	var first *browser.Tab
	if len(h.tabList()) == 0 {
		first, err = b.NewTab(ctx, "about:blank", browser.TabOptions{LoadTimeout: h.opts.LoadTimeout})
		if err != nil {
			return 0, err
		}
		h.adopt(first)
	}
	if err := h.opts.Prepare(ctx, h); err != nil || first == nil {
		return 0, err
	}
	if len(h.opts.Open) == 0 {
		return len(open), nil // the tab stays where it was taken
	}
	_, err = first.Navigate(ctx, primitives.NavigateOptions{URL: open[0], LoadTimeout: h.opts.LoadTimeout})
	return 1, h.arrived(open[0], first, err)
}

// launchReading launches the browser while the maps are read. What is wrong with them ends the
// launch, and is the error.
func (h *Host) launchReading(ctx context.Context, adopt bool) (*browser.Browser, error) {
	if h.opts.Ready == nil {
		return h.launch(ctx, adopt)
	}
	launching, stop := context.WithCancel(ctx)
	defer stop()
	var reading sync.WaitGroup
	var failed error
	reading.Go(func() {
		failed = h.opts.Ready()
		if failed != nil {
			stop()
		}
	})
	b, err := h.launch(launching, adopt)
	reading.Wait()
	if failed != nil {
		err = failed
	}
	return b, err
}

func (h *Host) launch(ctx context.Context, adopt bool) (*browser.Browser, error) {
	options := h.opts.Browser
	options.AdoptTabs = options.AdoptTabs || adopt
	options.OnEvent = h.onBrowserEvent
	options.Admits = true
	options.OnSignal = h.onSignal
	options.OnFrames = h.onFrames
	options.Watch = h.watch()
	options.Listen = listenScript(h.signals.Script())
	options.Peer = func(_ *browser.Tab, id int) (primitives.Page, error) { return h.peer(id) }
	options.Secrets = append(slices.Clone(options.Secrets), h.opts.Secrets.Values()...)
	if options.Logger == nil {
		options.Logger = h.opts.Logger
	}
	return browser.Launch(ctx, options)
}

// adopt makes a tab of the browser a tab of this host and announces it, unless
// it is one already.
func (h *Host) adopt(bt *browser.Tab) *Tab { return h.adoptInto(bt, h.workspaceOf(bt)) }

func (h *Host) adoptInto(bt *browser.Tab, w *Workspace) *Tab {
	info := bt.Tab()
	first := len(h.tabsOf(w)) == 0
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		return nil
	}
	for _, t := range h.tabs {
		if t.shows(bt) {
			h.mu.Unlock()
			return t
		}
	}
	h.nextTab++
	id := h.nextTab
	t := newTab(h, id, TabStatus{
		RuntimeID:       "outrider-" + h.opts.NewID(),
		RuntimeKey:      fmt.Sprintf("outrider:%s:tab:%d", h.id, id),
		AuthorizationID: "authorization-" + h.opts.NewID(),
		TabID:           id,
		URL:             info.URL,
		Title:           info.Title,
		Active:          first,
	})
	if w != nil {
		t.workspace, t.status.Workspace = w, w.id
	}
	h.openServices(t)
	t.attach(bt)
	h.tabs = append(h.tabs, t)
	h.workers.Go(t.work)
	for _, f := range t.features {
		h.workers.Go(func() { f.Run(t.ctx) })
	}
	h.mu.Unlock()
	t.services.signals.Take(bt)
	bt.SetIdentity(t.identity())
	t.recordPage(bt)
	t.emit(TabReady)
	return t
}

func (t *Tab) identity() primitives.TabInfo {
	s := t.Status()
	return primitives.TabInfo{
		ID:              s.TabID,
		RuntimeID:       s.RuntimeID,
		RuntimeKey:      s.RuntimeKey,
		AuthorizationID: s.AuthorizationID,
		Active:          s.Active,
	}
}

// shows reports whether p is the tab's page, or was until it went away.
func (t *Tab) shows(p primitives.Page) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown == p
}

func (h *Host) tabShowing(p primitives.Page) *Tab {
	for _, t := range h.tabList() {
		if t.shows(p) {
			return t
		}
	}
	return nil
}

func (h *Host) peer(id int) (primitives.Page, error) {
	for _, t := range h.tabList() {
		if t.id == id {
			t.mu.Lock()
			defer t.mu.Unlock()
			if t.page != nil && !observe.Detached(t.page) {
				return t.page, nil
			}
			return nil, fault.New(fault.BrowserLost, "the browser of tab %d is being started again", id)
		}
	}
	return nil, fault.New(fault.TabClosed, "this runtime has no tab %d", id)
}

func (h *Host) onBrowserEvent(ev browser.Event) {
	if ev.Tab == nil {
		return // BrowserLost: the supervisor waits for the browser itself
	}
	if ev.Kind == browser.TabOpened {
		if !ev.Requested && !h.tooMany(ev.Tab) {
			h.adopt(ev.Tab)
			ev.Tab.Admit()
		}
		return
	}
	t := h.tabShowing(ev.Tab)
	if t == nil {
		if ev.Kind == browser.TabClosed {
			h.signals.Forget(ev.Tab)
		}
		return
	}
	switch ev.Kind {
	case browser.TabNavigated, browser.TabChanged:
		if ev.Kind == browser.TabNavigated {
			t.changed(call.DocumentReplaced)
		}
		t.refresh()
	case browser.TabCrashed:
		t.forget(ev.Tab)
		h.log.Warn("a tab crashed and is opened again", "tab", t.id)
		h.mu.Lock()
		if !h.closed {
			h.life.Go(func() { h.revive(t, ev.Tab) })
		}
		h.mu.Unlock()
	case browser.TabClosed:
		h.drop(t, fault.New(fault.TabClosed, "the tab was closed"))
	}
}

// refresh emits what the browser knows of the tab's document, when that is new.
func (t *Tab) refresh() {
	t.mu.Lock()
	before := t.status
	t.status = t.statusNow()
	changed := t.status.URL != before.URL || t.status.Title != before.Title || t.status.Busy != before.Busy
	t.mu.Unlock()
	if changed {
		t.emit(TabChanged)
		t.changed(call.AddressChanged)
	}
}

// drop removes a tab for good.
func (h *Host) drop(t *Tab, why *fault.Error) {
	h.mu.Lock()
	h.tabs = slices.DeleteFunc(h.tabs, func(o *Tab) bool { return o == t })
	h.mu.Unlock()
	t.remove(why)
	t.emit(TabRemoved)
}

// reopenSlack bounds how long opening a tab again may take, the loading of its page aside. A tab
// that exceeds it is dropped, so it is for a machine that hardly moves.
const reopenSlack = 30 * time.Second

// revive opens a crashed tab again at its address.
func (h *Host) revive(t *Tab, crashed *browser.Tab) {
	h.mu.Lock()
	b := h.browser
	h.mu.Unlock()
	if b == nil {
		return // the supervisor reopens every tab
	}
	ctx, cancel := context.WithTimeout(h.ctx, h.opts.LoadTimeout+reopenSlack)
	defer cancel()
	if err := crashed.Close(ctx); err != nil {
		h.log.Debug("closing a crashed tab", "tab", t.id, "error", err)
	}
	h.settle(b, t, h.reopen(ctx, b, t))
}

// settle drops a tab that could not be opened again, unless that is because
// its browser ended: then the supervisor tries anew.
func (h *Host) settle(b *browser.Browser, t *Tab, err error) {
	if err == nil || h.ctx.Err() != nil {
		return
	}
	select {
	case <-b.Done():
	default:
		h.log.Error("a tab could not be opened again", "tab", t.id, "error", err)
		h.drop(t, fault.Wrap(fault.TabClosed, err, "opening the tab again"))
	}
}

// reopen gives t a new page at its address, or an empty one when the address
// no longer loads.
func (h *Host) reopen(ctx context.Context, b *browser.Browser, t *Tab) error {
	id, err := t.ownWorkspace().contextIn(ctx, b)
	if err != nil {
		return err
	}
	options := browser.TabOptions{Background: true, LoadTimeout: h.opts.LoadTimeout, Context: id}
	bt, err := b.NewTab(ctx, t.addressAgain(), options)
	if errors.Is(err, fault.NavigationFailed) {
		h.log.Warn("a tab was opened again, empty, because its address does not load", "tab", t.id, "error", err)
		bt, err = b.NewTab(ctx, "about:blank", options)
	}
	if err != nil {
		return err
	}
	bt.SetIdentity(t.identity())
	t.attach(bt)
	t.recordPage(bt)
	t.services.signals.Take(bt)
	t.refresh()
	t.emit(TabReady)
	return nil
}

// stuckAgain is how soon a browser must be stuck again for its pages to be given up.
const stuckAgain = time.Minute

// leavePages has every tab opened again without its page.
func (h *Host) leavePages() {
	for _, t := range h.tabList() {
		t.mu.Lock()
		t.heavy = true
		t.mu.Unlock()
	}
}

// supervise waits for the browser to end, starts another one and brings the
// tabs back at their addresses, until the host closes.
func (h *Host) supervise() {
	var stuck time.Time // when the browser was last ended because a page kept it from answering
	for {
		h.mu.Lock()
		b := h.browser
		h.mu.Unlock()
		select {
		case <-h.ctx.Done():
			return
		case <-b.Done():
		}
		h.mu.Lock()
		h.browser = nil
		h.mu.Unlock()
		for _, t := range h.tabList() {
			t.mu.Lock()
			page := t.page
			t.mu.Unlock()
			t.detach(page)
		}
		closing, cancel := context.WithTimeout(context.WithoutCancel(h.ctx), 5*time.Second)
		_ = b.Close(closing) // it has ended; this waits for what served it
		cancel()
		if h.ctx.Err() != nil {
			return
		}
		h.log.Warn("the browser ended and is started again", "error", b.Err())
		if b.Stuck() {
			if time.Since(stuck) < stuckAgain {
				h.log.Warn("the tabs are opened again without their pages, one of which floods the browser")
				h.leavePages()
			}
			stuck = time.Now()
		}
		if !h.restart() {
			return
		}
	}
}

// restart launches a browser, trying until the host closes, and reopens the
// tabs side by side.
func (h *Host) restart() bool {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval, wait.MaxInterval = 200*time.Millisecond, 5*time.Second
	for {
		b, err := h.launch(h.ctx, false)
		if err == nil {
			h.mu.Lock()
			h.browser = b
			h.mu.Unlock()
			var opening sync.WaitGroup
			for _, t := range h.tabList() {
				opening.Go(func() {
					ctx, cancel := context.WithTimeout(h.ctx, h.opts.LoadTimeout+reopenSlack)
					defer cancel()
					h.settle(b, t, h.reopen(ctx, b, t))
				})
			}
			opening.Wait()
			return h.ctx.Err() == nil
		}
		h.log.Error("starting the browser again", "error", err)
		timer := time.NewTimer(wait.NextBackOff())
		select {
		case <-timer.C:
		case <-h.ctx.Done():
			timer.Stop()
			return false
		}
	}
}
