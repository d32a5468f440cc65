package browserbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

const (
	// windowID is the window of every tab: there is no window manager.
	windowID = 1
	// resolveLimit is how long an action looks for its target, which may be scrolled
	// into view meanwhile. wait_for is for what is yet to come.
	resolveLimit = time.Second
	// wheelScreens is how far scroll goes without an amount, in viewport heights.
	wheelScreens = 0.8
	// jpegQuality is that of screenshots.
	jpegQuality = 80
	// dialogRounds bounds how many dialogs are answered for one call.
	dialogRounds = 5
)

type done struct {
	OK bool `json:"ok"`
}

// checkAddress refuses what may not be loaded before anything is begun.
func (a action) checkAddress() *Error {
	if a.kind != actNavigate && a.kind != actOpenTab {
		return nil
	}
	u, err := url.Parse(strings.TrimSpace(a.url))
	switch {
	case err != nil:
		return invalidAction("%s: url does not parse", a.kind)
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "", u.Scheme == "about" && u.Opaque == "blank":
		return nil
	}
	return invalidAction("%s: url is an absolute http or https address, or about:blank", a.kind)
}

// onTab does an action on a tab that was there when its turn came.
func (e *engine) onTab(ctx context.Context, f *flight, a action, id int) (any, *Error) {
	tab, own, ok := e.tab(id)
	if !ok {
		return nil, &Error{codeTabNotFound, fmt.Sprintf("there is no tab %d", id)}
	}
	if err := e.checkBlocked(a, tab); err != nil {
		return nil, err
	}
	if err := e.checkDocument(ctx, a, tab); err != nil {
		return nil, err
	}
	if a.kind == actCloseTab {
		return e.closeTab(ctx, f, tab)
	}
	if err := e.prepare(ctx, tab); err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.begin(tab, own).count()
	e.mu.Unlock()
	result, err := e.perform(ctx, a, tab)
	if now, _, ok := e.tab(id); ok {
		e.mu.Lock()
		e.moved(now)
		e.mu.Unlock()
	}
	return result, err
}

// checkDocument evaluates the document's address: what is known of the tab lags
// behind a navigation that has just been committed.
func (e *engine) checkDocument(ctx context.Context, a action, tab runtime.TabStatus) *Error {
	if e.blocked.empty() {
		return nil
	}
	var page struct{ URL string }
	if err := e.do(ctx, tab, "page.info", map[string]any{}, &page); err != nil {
		return nil // the action will say what is wrong
	}
	tab.URL = page.URL
	return e.checkBlocked(a, tab)
}

// checkBlocked refuses an action on a blocked domain, and reports it.
func (e *engine) checkBlocked(a action, tab runtime.TabStatus) *Error {
	for _, address := range []string{tab.URL, a.url} {
		if domain := domainOf(address); e.blocked.blocks(domain) {
			e.mu.Lock()
			defer e.mu.Unlock()
			event := map[string]any{"type": "domain_blocked", "domain": domain, "attemptedAction": a.kind}
			if tab.TabID != 0 {
				event["tabId"] = tab.TabID
			}
			e.out.event(event)
			if address == tab.URL {
				e.end(tab.TabID, endDomainBlocked)
			}
			return &Error{codeDomainBlocked, "the domain is blocked by the user"}
		}
	}
	return nil
}

// prepare is what attaching a debugger is to an extension.
func (e *engine) prepare(ctx context.Context, tab runtime.TabStatus) *Error {
	e.mu.Lock()
	ready := e.prepared[tab.TabID] || e.o.KeepWebDriver
	e.mu.Unlock()
	if ready {
		return nil
	}
	if err := e.do(ctx, tab, "emulate.webdriver", map[string]any{"value": false}, nil); err != nil {
		if ctx.Err() == nil && err.Code != fault.TabClosed {
			return &Error{codeAttachFailed, "the tab does not take commands: " + err.Message}
		}
		return translate(err)
	}
	e.mu.Lock()
	e.prepared[tab.TabID] = true
	e.mu.Unlock()
	return nil
}

// release undoes prepare when a session ended and its tab is still there. It
// goes before the requests that wait. e.mu is held.
func (e *engine) release(id int) {
	if e.closed {
		return
	}
	l := e.lanes[id]
	if l == nil {
		l = &lane{}
		e.lanes[id] = l
	}
	l.waiting = append([]func(){func() {
		ctx, cancel := context.WithTimeout(e.ctx, otherLimit)
		defer cancel()
		if tab, _, ok := e.tab(id); ok {
			if err := e.do(ctx, tab, "emulate.webdriver", map[string]any{"value": nil}, nil); err != nil {
				e.log.Debug("detaching from a tab", "tab", id, "code", err.Code)
			}
		}
	}}, l.waiting...)
	if !l.running {
		l.running = true
		e.work.Go(func() { e.drain(id, l) })
	}
}

// perform does what an action says on a tab that has a session.
func (e *engine) perform(ctx context.Context, a action, tab runtime.TabStatus) (any, *Error) {
	switch a.kind {
	case actNavigate:
		return e.navigate(ctx, a, tab)
	case actExtract:
		return e.extract(ctx, a, tab)
	case actEvaluate:
		return e.evaluate(ctx, a, tab)
	case actScreenshot:
		return e.screenshot(ctx, a, tab)
	case actPressKey:
		return ok(e.do(ctx, tab, "keyboard.press", map[string]any{"key": keyName(a.key)}, nil))
	case actScroll:
		args := map[string]any{}
		sign := 1.0
		if a.up {
			sign = -1
		}
		if a.amount > 0 {
			args["delta_y"] = sign * a.amount
		} else {
			args["screens"] = sign * wheelScreens
		}
		return ok(e.do(ctx, tab, "pointer.wheel", args, nil))
	}
	args, bad := e.target(a, tab.TabID)
	if bad != nil {
		return nil, bad
	}
	name := ""
	switch a.kind {
	case actClick:
		name = "pointer.click"
		args["force"] = true
		args["timeout_ms"] = resolveLimit.Milliseconds()
	case actHover:
		name = "page.hover"
		args["force"] = true
		args["timeout_ms"] = resolveLimit.Milliseconds()
	case actType:
		name, args["timeout_ms"] = "text.type", resolveLimit.Milliseconds()
		args["text"] = a.text
		args["trusted"] = true
		args["caret"] = "end"
	case actWaitFor:
		args["state"] = "rendered"
		name, args = "page.wait", map[string]any{"conditions": []any{args}, "timeout_ms": a.timeout.Milliseconds()}
	}
	err := e.do(ctx, tab, name, args, nil)
	return e.targeted(a, tab.TabID, err)
}

func ok(err *fault.Error) (any, *Error) {
	if err != nil {
		return nil, translate(err)
	}
	return done{true}, nil
}

// target is the element that an action names, as the primitives have it.
func (e *engine) target(a action, tabID int) (map[string]any, *Error) {
	if a.uid == "" {
		return map[string]any{"locator": map[string]any{"selector": a.selector}}, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	ref, ok := e.uids[tabID][a.uid]
	if !ok {
		return nil, staleUID()
	}
	return map[string]any{"ref": ref}, nil
}

func staleUID() *Error {
	return &Error{
		codeElementStale, "this uid is not known, because the page was replaced or not extracted yet; extract again",
	}
}

// targeted is the outcome of an action on an element. A uid of a document that
// has been replaced is stale; one whose element was removed finds nothing.
func (e *engine) targeted(a action, tabID int, err *fault.Error) (any, *Error) {
	if err == nil {
		return done{true}, nil
	}
	if err.Code == fault.ElementStale && a.uid != "" {
		switch err.Evidence["reason"] {
		case "document_replaced", "unknown":
			e.mu.Lock()
			delete(e.uids, tabID)
			e.mu.Unlock()
			return nil, staleUID()
		}
		return nil, &Error{codeElementNotFound, "the element of this uid is detached; extract again"}
	}
	out := translate(err)
	if out.Code == codeElementNotFound && err.Evidence["reason"] == "hidden" {
		out.Message = "the element is not rendered"
	}
	return nil, out
}

func (e *engine) screenshot(ctx context.Context, a action, tab runtime.TabStatus) (any, *Error) {
	var out struct {
		DataURL string `json:"data_url"`
	}
	err := e.do(ctx, tab, "browser.screenshot", map[string]any{
		"format":             "jpeg",
		"quality":            jpegQuality,
		"scale":              "css",
		"full_page":          a.fullPage,
		"capture_timeout_ms": (screenshotLimit - time.Second).Milliseconds(),
	}, &out)
	if err != nil {
		return nil, translate(err)
	}
	return map[string]string{"dataUrl": out.DataURL}, nil
}

// navigate loads an address in a tab that has a session.
func (e *engine) navigate(ctx context.Context, a action, tab runtime.TabStatus) (any, *Error) {
	e.mu.Lock()
	delete(e.uids, tab.TabID)
	e.mu.Unlock()
	if err := e.load(ctx, a, tab); err != nil {
		return nil, err
	}
	return done{true}, nil
}

// load goes to an address and waits for its load event. A redirect to a blocked
// domain is refused like the domain itself.
func (e *engine) load(ctx context.Context, a action, tab runtime.TabStatus) *Error {
	end := time.Now().Add(navigateLimit)
	var out struct {
		Loaded bool `json:"loaded"`
		Tab    struct {
			URL string `json:"url"`
		} `json:"tab"`
	}
	if err := e.do(ctx, tab, "browser.navigate", map[string]any{"url": strings.TrimSpace(a.url)}, &out); err != nil {
		return translate(err)
	}
	now := tab
	now.URL = out.Tab.URL
	if err := e.checkBlocked(action{kind: a.kind}, now); err != nil {
		return err
	}
	if out.Loaded {
		return nil
	}
	err := e.do(ctx, tab, "page.wait", map[string]any{
		"conditions": []any{map[string]any{"load": "load"}}, "timeout_ms": max(1, time.Until(end).Milliseconds()),
	}, nil)
	if err != nil {
		return translate(err)
	}
	return nil
}

// newTab opens a tab of the agent's own at an address.
func (e *engine) newTab(ctx context.Context, a action) (runtime.TabStatus, *Error) {
	var none runtime.TabStatus
	if err := e.checkBlocked(a, none); err != nil {
		return none, err
	}
	workspace, err := e.workspace(ctx)
	if err != nil {
		return none, translate(fault.From(err))
	}
	// Empty at first: what is set up for the tab is there before the page is.
	tab, err := workspace.Open(ctx, "", false)
	if err != nil {
		return none, translate(fault.From(err))
	}
	e.mu.Lock()
	e.fresh[tab.TabID] = true
	e.mu.Unlock()
	bad := e.prepare(ctx, tab)
	if bad == nil {
		bad = e.load(ctx, a, tab)
	}
	if bad == nil && a.focus {
		if _, err := workspace.Activate(ctx, tab.TabID); err != nil {
			bad = translate(fault.From(err))
		}
	}
	if now, _, ok := e.tab(tab.TabID); ok && bad == nil {
		return now, nil
	} else if bad == nil {
		return none, &Error{codeTabNotFound, "the tab was closed while it loaded"}
	}
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), otherLimit)
	defer cancel()
	if err := workspace.CloseTab(closing, tab.TabID); err != nil {
		e.log.Debug("closing a tab that did not load", "tab", tab.TabID, "error", err)
	}
	return none, bad
}

// register makes a new tab known, with a session. An action of it is counted when
// there was one.
func (e *engine) register(tab runtime.TabStatus, counted bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.fresh, tab.TabID)
	s := e.begin(tab, true)
	if counted {
		s.count()
	}
}

func (e *engine) openTab(ctx context.Context, a action) (any, *Error) {
	tab, err := e.newTab(ctx, a)
	if err != nil {
		return nil, err
	}
	e.register(tab, false)
	return map[string]any{"tabId": tab.TabID, "windowId": windowID, "domain": domainOf(tab.URL)}, nil
}

func (e *engine) navigateNew(ctx context.Context, a action) (any, *Error) {
	tab, err := e.newTab(ctx, a)
	if err != nil {
		return nil, err
	}
	e.register(tab, true)
	return done{true}, nil
}

// closeTab closes a tab and reports it after the response.
func (e *engine) closeTab(ctx context.Context, f *flight, tab runtime.TabStatus) (any, *Error) {
	id := tab.TabID
	e.mu.Lock()
	e.closing[id] = true
	if s := e.sessions[id]; s != nil {
		s.count()
	}
	workspace := e.own
	e.mu.Unlock()
	var err error
	if workspace != nil && tab.Workspace == workspace.ID() {
		err = workspace.CloseTab(ctx, id)
	} else if failed := e.do(ctx, tab, "browser.close_tab", map[string]any{"tab_id": id}, nil); failed != nil {
		err = failed
	}
	_, _, there := e.tab(id)
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.closing, id)
	if there {
		if err == nil {
			err = fault.New(fault.Internal, "the tab is still there")
		}
		return nil, translate(fault.From(err))
	}
	f.answerLocked(done{true}, nil)
	e.gone(id)
	return done{true}, nil
}

// do runs a primitive on a tab. A dialog that is in the way, or that the
// primitive opened, is answered, where nobody can see it.
func (e *engine) do(
	ctx context.Context, tab runtime.TabStatus, name string, args map[string]any, into any,
) *fault.Error {
	raw, err := json.Marshal(args)
	if err != nil {
		return fault.Wrap(fault.Internal, err, "encoding arguments")
	}
	for round := 0; ; round++ {
		reply := e.call(ctx, tab, name, raw)
		if reply.Err != nil {
			kind, _ := reply.Err.Evidence["type"].(string)
			if reply.Err.Code == fault.DialogOpen && !e.o.LeaveDialogs && round < dialogRounds && ctx.Err() == nil {
				e.answerDialog(ctx, tab, kind)
				continue
			}
			return reply.Err
		}
		output := reply.Value()
		var seen struct {
			Dialog *struct {
				Type string `json:"type"`
			} `json:"dialog"`
		}
		if json.Unmarshal(output, &seen) == nil && seen.Dialog != nil && !e.o.LeaveDialogs {
			e.answerDialog(ctx, tab, seen.Dialog.Type)
		}
		if into != nil {
			if err := json.Unmarshal(output, into); err != nil {
				return fault.Wrap(fault.Internal, err, "reading the result of %s", name)
			}
		}
		return nil
	}
}

func (e *engine) call(ctx context.Context, tab runtime.TabStatus, name string, raw json.RawMessage) runtime.Reply {
	call := runtime.Call{
		ID:        e.callID(name),
		Target:    runtime.Target{Workspace: tab.Workspace, TabID: tab.TabID},
		Name:      name,
		Arguments: raw,
		OwnWords:  true,
	}
	if deadline, ok := ctx.Deadline(); ok {
		call.Timeout = max(time.Millisecond, time.Until(deadline))
	}
	return e.host.Do(ctx, call)
}

// answerDialog accepts alert and beforeunload and refuses confirm and prompt.
func (e *engine) answerDialog(ctx context.Context, tab runtime.TabStatus, kind string) {
	accept := kind == "alert" || kind == "beforeunload"
	raw, _ := json.Marshal(map[string]any{"accept": accept})
	reply := e.call(ctx, tab, "browser.dismiss_dialog", raw)
	if reply.Err == nil {
		e.log.Info("a dialog was answered", "tab", tab.TabID, "type", kind, "accepted", accept)
	}
}

// keyName reads names of keys more leniently than keyboard.press does.
func keyName(key string) string {
	if strings.EqualFold(key, "Space") {
		return " "
	}
	return key
}
