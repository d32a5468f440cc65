package tools

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

const tabsInput = `{"type":"object","required":["action"],"properties":{` +
	`"action":{"type":"string","enum":["list","open","navigate","back","forward","reload","activate","close",` +
	`"open_session","close_session"]},` +
	`"url":{"type":"string"},"isolated":{"type":"boolean","description":"open_session: own cookies and storage ` +
	`(default)"},` +
	pageProperty + `,` + sessionProperty + `,` + timeoutProperty + `},"additionalProperties":false}`

type tabsIn struct {
	where
	Action   string `json:"action"`
	URL      string `json:"url"`
	Isolated *bool  `json:"isolated"`
	Login    string `json:"login"`
}

// tabsTool opens, closes and moves pages and sessions.
func (s *Set) tabsTool() Tool {
	return newTool(
		"tabs", "Pages and sessions",
		"List, open, navigate and close pages. open_session gives pages of your own; "+
			"name its handle in later calls.",
		s.withLogins(tabsInput), `{"type":"object"}`, false,
		func(ctx context.Context, c *Call) (*Answer, *fault.Error) {
			var in tabsIn
			if err := c.Decode(&in); err != nil {
				return nil, err
			}
			if in.URL != "" || in.Action == "navigate" { // an agent is not the operator, who may open files
				var err error
				in.URL, err = address.Web(in.URL)
				if err != nil {
					return nil, fault.From(err)
				}
			}
			ctx, cancel := in.bounded(ctx)
			defer cancel()
			switch in.Action {
			case "list":
				c.Turn.End()
				return s.listPages(in)
			case "open_session":
				c.Turn.End()
				return s.openSession(ctx, c, in)
			case "close_session":
				c.Turn.End()
				if in.Session == "" {
					return nil, invalid("session", "action close_session needs a session")
				}
				if err := s.sessions.close(ctx, in.Session); err != nil {
					return nil, fault.From(err)
				}
				return &Answer{Result: map[string]any{"session": in.Session, "closed": true}}, nil
			case "open":
				return s.openPage(ctx, c, in)
			case "keep_login":
				return c.on(ctx, in.where, func(p page) (*Answer, *fault.Error) { return c.keepLogin(ctx, p, in) })
			case "activate":
				if err := c.behindTabs(ctx, in.where, ""); err != nil {
					return nil, err
				}
				return c.with(in.where, func(p page) (*Answer, *fault.Error) { return s.movePage(ctx, c, p, in) })
			case "close":
				return c.onTab(ctx, in.where, func(p page) (*Answer, *fault.Error) { return s.movePage(ctx, c, p, in) })
			}
			return c.on(ctx, in.where, func(p page) (*Answer, *fault.Error) { return s.movePage(ctx, c, p, in) })
		})
}

// pageLine is a page as a client sees it.
func pageLine(p page) map[string]any {
	line := map[string]any{
		"page":   p.handle(),
		"url":    p.tab.URL,
		"title":  p.tab.Title,
		"active": p.tab.Active,
	}
	if p.tab.Busy {
		line["busy"] = "its page has not answered yet; navigate it, close it, or take another one"
	}
	return inBrief(line)
}

func (s *Set) listPages(in tabsIn) (*Answer, *fault.Error) {
	var of *session
	list, out := []any{}, map[string]any{}
	if in.Session != "" {
		found, release, err := s.sessions.use(in.Session)
		if err != nil {
			return nil, err
		}
		defer release()
		of, out["session"] = found, found.id
	}
	for _, p := range s.pagesOf(of) {
		list = append(list, pageLine(p))
	}
	if len(list) == 0 {
		if err := s.failed(); err != nil {
			return nil, err
		}
	}
	out["pages"] = list
	return &Answer{Result: out}, nil
}

func (s *Set) openSession(ctx context.Context, c *Call, in tabsIn) (*Answer, *fault.Error) {
	state, failed := s.login(in)
	if failed != nil {
		return nil, failed
	}
	ctx, cancel := in.opening(ctx)
	defer cancel()
	made, release, err := s.sessions.open(ctx, in.Isolated == nil || *in.Isolated)
	if err != nil {
		return nil, fault.From(err)
	}
	defer release()
	first := in.URL
	if state != nil { // it is there before the page is
		first = ""
	}
	tab, err := made.workspace.Open(ctx, first, true)
	if p := (page{made, tab}); err == nil && state != nil {
		failed = c.signIn(ctx, p, state)
		if failed == nil && in.URL != "" {
			_, _, failed = c.do(ctx, p, "browser.navigate", map[string]any{"url": in.URL}, in.where)
		}
		if failed != nil {
			err = failed
		}
		for _, now := range made.workspace.Tabs() {
			if now.TabID == tab.TabID {
				tab = now
			}
		}
	}
	if err != nil {
		_ = s.sessions.close(context.WithoutCancel(ctx), made.id)
		return nil, fault.From(err)
	}
	out := c.opened(ctx, page{made, tab})
	out.Result["session"], out.Result["isolated"] = made.id, made.workspace.Isolated()
	return out, nil
}

// opening bounds what waits for no page before it begins.
func (w where) opening(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.TimeoutMS <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(w.TimeoutMS)*time.Millisecond)
}

func (s *Set) openPage(ctx context.Context, c *Call, in tabsIn) (*Answer, *fault.Error) {
	if err := c.behindTabs(ctx, in.where, ""); err != nil {
		return nil, err
	}
	if in.Session != "" {
		of, release, err := s.sessions.use(in.Session)
		if err != nil {
			return nil, err
		}
		defer release()
		ctx, cancel := in.opening(ctx)
		defer cancel()
		tab, e := of.workspace.Open(ctx, in.URL, true)
		if e != nil {
			return nil, fault.From(e)
		}
		return c.opened(ctx, page{of, tab}), nil
	}
	if in.Page == "" && len(s.pagesOf(nil)) == 0 { // no page is there to open another from
		ctx, cancel := in.opening(ctx)
		defer cancel()
		tab, err := s.opts.Host.OpenTab(ctx, in.URL, true)
		if err != nil {
			return nil, fault.From(err)
		}
		return c.opened(ctx, page{nil, tab}), nil
	}
	return c.with(in.where, func(p page) (*Answer, *fault.Error) {
		args := map[string]any{"active": true}
		if in.URL != "" {
			args["url"] = in.URL
		}
		value, _, err := c.do(ctx, p, "browser.open_tab", args, in.where)
		if err != nil {
			return nil, err
		}
		var opened struct {
			TabID int `json:"tab_id"`
			Tab   struct {
				TabID int `json:"tab_id"`
			} `json:"tab"`
		}
		if e := json.Unmarshal(value, &opened); e != nil {
			return nil, fault.Wrap(fault.InvalidResult, e, "reading the opened tab")
		}
		for _, p := range s.pagesOf(nil) {
			if p.tab.TabID == max(opened.TabID, opened.Tab.TabID) {
				return c.opened(ctx, p), nil
			}
		}
		return nil, fault.New(fault.TabClosed, "the tab was closed at once")
	})
}

// movePage changes what one page shows, or closes it.
func (s *Set) movePage(ctx context.Context, c *Call, p page, in tabsIn) (*Answer, *fault.Error) {
	name, args := "page.history", map[string]any{"action": in.Action}
	switch in.Action {
	case "navigate":
		name, args = "browser.navigate", map[string]any{"url": in.URL}
	case "reload":
		name, args = "browser.navigate", map[string]any{"reload": true}
	case "activate":
		if p.session != nil {
			tab, err := p.session.workspace.Activate(ctx, p.tab.TabID)
			if err != nil {
				return nil, fault.From(err)
			}
			return &Answer{Result: pageLine(page{p.session, tab})}, nil
		}
		name, args = "browser.claimed_tabs.activate", map[string]any{"tab_id": p.tab.TabID}
	case "close":
		if p.session != nil {
			if err := p.session.workspace.CloseTab(ctx, p.tab.TabID); err != nil {
				return nil, fault.From(err)
			}
			return &Answer{Result: map[string]any{"page": p.handle(), "closed": true}}, nil
		}
		name, args = "browser.close_tab", map[string]any{"tab_id": p.tab.TabID}
	}
	c.readLater(ctx, p, 0)
	c.complaints(ctx, p) // those of the document before are no matter of the next one
	began := time.Now()
	requests := 0
	if name == "browser.navigate" {
		requests = c.requests(ctx, p, 0, 1).Cursor
	}
	value, r, err := c.do(ctx, p, name, args, in.where)
	if err != nil {
		return nil, c.withStatus(ctx, p, err)
	}
	if name == "browser.navigate" {
		most := c.set.opts.CallTimeout
		if in.TimeoutMS > 0 {
			most = time.Duration(in.TimeoutMS) * time.Millisecond
		}
		c.settle(ctx, p, value, requests, began.Add(most))
	}
	if in.Action == "close" {
		return &Answer{Result: map[string]any{"page": p.handle(), "closed": true}}, nil
	}
	out := moved(p, r, value)
	if out["loaded"] == false {
		c.nameDialog(ctx, p, out)
	}
	if address, _ := out["url"].(string); in.Action == "navigate" && elsewhere(in.URL, address) {
		out["asked"] = cutLine(in.URL, mostAddress)
		if says := c.messagesOf(ctx, p); len(says) > 0 {
			out["says"] = says
		}
	}
	return &Answer{Result: out}, nil
}

// elsewhere reports whether an address is that of another page than the one that was asked for.
func elsewhere(asked, got string) bool {
	from, err := url.Parse(asked)
	to, other := url.Parse(got)
	if err != nil || other != nil || from.Scheme != "http" && from.Scheme != "https" {
		return false
	}
	return from.Host != to.Host || strings.TrimRight(from.Path, "/") != strings.TrimRight(to.Path, "/")
}

// withStatus adds the HTTP status with which a document was refused to the error of its navigation.
func (c *Call) withStatus(ctx context.Context, p page, failed *fault.Error) *fault.Error {
	if failed.Code != fault.NavigationFailed || failed.Evidence["http_status"] != nil {
		return failed
	}
	args := map[string]any{"types": []string{"document"}, "min_status": 400, "limit": 1}
	value, _, err := c.do(ctx, p, "network.list", args, where{})
	if err != nil {
		return failed
	}
	var list struct {
		Entries []struct {
			Status    int       `json:"status"`
			StartedAt time.Time `json:"started_at"`
		} `json:"entries"`
	}
	if json.Unmarshal(value, &list) != nil || len(list.Entries) == 0 || list.Entries[0].StartedAt.Before(c.began) {
		return failed
	}
	return failed.With("http_status", list.Entries[0].Status)
}

// opened is the answer of a page that was opened. One that has not loaded within its time can be used, too.
func (c *Call) opened(ctx context.Context, p page) *Answer {
	out := pageLine(p)
	if p.tab.Loading {
		out["loaded"] = false
	}
	c.nameDialog(ctx, p, out)
	return &Answer{Result: out}
}

// dialogTime bounds the question whether a dialog is open.
const dialogTime = 250 * time.Millisecond

// nameDialog adds the dialog that keeps a page from going on, and how it is answered.
func (c *Call) nameDialog(ctx context.Context, p page, out map[string]any) {
	ctx, cancel := context.WithTimeout(ctx, dialogTime)
	defer cancel()
	_, _, err := c.do(ctx, p, "page.info", map[string]any{}, where{})
	if err == nil || err.Code != fault.DialogOpen {
		return
	}
	out["dialog"] = map[string]any{
		"type":    err.Evidence["type"],
		"message": err.Evidence["message"],
		"next":    "it blocks the page until act, action dialog, answers it",
	}
}

const (
	// quietFor is how long no request is under way on a page that has what it shows, and
	// settleTime bounds the wait for it, and for a page that shows nothing yet.
	quietFor   = 120 * time.Millisecond
	settleTime = time.Second
)

// drawnFor is how long after its last request a document may go on to ask for what it draws.
const drawnFor = 300 * time.Millisecond

// requests are those of a page that may bring what it draws after its load.
type requests struct {
	Cursor   int `json:"cursor"`
	Inflight int `json:"inflight"`
	Entries  []struct {
		StartedAt  time.Time `json:"started_at"`
		DurationMS float64   `json:"duration_ms"`
	} `json:"entries"`
}

// requests reads the newest requests of scripts and for scripts, from a cursor on.
func (c *Call) requests(ctx context.Context, p page, since, most int) requests {
	var out requests
	args := map[string]any{
		"since": since,
		"limit": most,
		"types": []string{"script", "fetch", "xhr", "eventsource", "websocket"},
	}
	value, _, err := c.do(ctx, p, "network.list", args, where{})
	if err != nil || json.Unmarshal(value, &out) != nil {
		out.Inflight = 1 // nobody knows
	}
	return out
}

// mayDraw reports whether a document that has loaded may ask for more.
func (r requests) mayDraw() bool {
	for _, e := range r.Entries {
		if time.Since(e.StartedAt.Add(time.Duration(e.DurationMS*float64(time.Millisecond)))) < drawnFor {
			return true
		}
	}
	return r.Inflight > 0
}

// settle waits until a document that has loaded has also fetched what it draws, since a request, and until one that had
// nothing to show shows something. Another look at an application that was still empty costs an agent more.
func (c *Call) settle(ctx context.Context, p page, value json.RawMessage, since int, end time.Time) {
	var navigated struct{ Blank bool }
	_ = json.Unmarshal(value, &navigated)
	idle := map[string]any{"network_idle_ms": quietFor.Milliseconds()}
	if c.requests(ctx, p, since, 50).mayDraw() {
		c.await(ctx, p, idle, end)
	}
	if !navigated.Blank {
		return
	}
	c.await(ctx, p, map[string]any{"load": "drawn"}, end)
	if c.requests(ctx, p, since, 50).mayDraw() {
		c.await(ctx, p, idle, end)
	}
}

// await waits for something that the page may do soon. What has not come by then is awaited by whoever needs it.
func (c *Call) await(ctx context.Context, p page, condition map[string]any, end time.Time) {
	most := min(settleTime, time.Until(end)-timeoutMargin).Milliseconds()
	if most < quietFor.Milliseconds() {
		return
	}
	wait := map[string]any{"conditions": []map[string]any{condition}, "timeout_ms": most}
	_, _, _ = c.do(ctx, p, "page.wait", wait, where{TimeoutMS: int(most)})
}

// moved has the useful members of the result of a navigation: where the page is,
// and what is not as expected.
func moved(p page, r runtime.Reply, value json.RawMessage) map[string]any {
	all := Members(value)
	out := map[string]any{"page": p.handle(), "url": r.URL}
	tab, ok := all["tab"].(map[string]any)
	if !ok {
		tab = all // of page.history
	}
	for name, v := range map[string]any{"title": tab["title"], "status": all["status"], "dialog": all["dialog"]} {
		if !empty(v) && v != json.Number("0") && v != json.Number("200") {
			out[name] = v
		}
	}
	if address, ok := tab["url"].(string); ok && address != "" {
		out["url"] = address
	}
	if all["loaded"] == false {
		out["loaded"] = false
	}
	if all["moved"] == false {
		out["moved"] = false
	}
	if all["same_document"] == true {
		out["same_document"] = true
	}
	if wait, ok := all["rate_limit_wait_ms"]; ok {
		out["rate_limit_wait_ms"] = wait
	}
	return inBrief(out)
}
