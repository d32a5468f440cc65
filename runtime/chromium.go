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
