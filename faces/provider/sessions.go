package provider

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// Isolations that session.ensure knows.
const (
	isolationOwn    = "per_jcode_session" // tabs, cookies and storage of its own
	isolationShared = "shared"            // the runtime's own tabs, with every other client of it
)

// sessions are the sessions that clients have ensured.
type sessions struct {
	server *Server

	mu       sync.Mutex
	byID     map[string]*session
	byClient map[string]*session // by client_session_id; also one that is being made
	closed   bool
}

// session is one client's scope of pages.
type session struct {
	id        string
	client    string
	options   sessionOptions
	attached  bool
	workspace *runtime.Workspace // nil: the runtime's own tabs

	order order
	made  chan struct{} // closed when it is usable, or failed
	err   *Failure

	// Under sessions.mu.
	owner *connection // the connection it ends with, nil when it persists
	idle  *time.Timer
	uses  int
}

// sessionOptions are the options of session.ensure, after defaults.
type sessionOptions struct {
	isolation string
	attach    string
	persist   bool
}

func (ss *sessions) init(s *Server) {
	ss.server = s
	ss.byID = map[string]*session{}
	ss.byClient = map[string]*session{}
}

// ensure returns the session of a client, made by the first request for it.
func (ss *sessions) ensure(
	ctx context.Context, client string, options sessionOptions, by *connection,
) (s *session, created bool, failure *Failure) {
	ss.mu.Lock()
	if ss.closed {
		ss.mu.Unlock()
		return nil, false, notReady("the provider is shutting down")
	}
	if s, ok := ss.byClient[client]; ok {
		ss.mu.Unlock()
		select {
		case <-s.made:
		case <-ctx.Done():
			return nil, false, cancelled()
		}
		return s, false, s.err
	}
	s = &session{
		id:      "sess_" + strings.ReplaceAll(ss.server.opts.NewID(), "-", "")[:20],
		client:  client,
		options: options,
		made:    make(chan struct{}),
	}
	if !options.persist {
		s.owner = by
	}
	ss.byClient[client] = s
	ss.mu.Unlock()

	s.err = ss.make(ctx, s)
	ss.mu.Lock()
	gone := ss.closed || s.owner != nil && s.owner.ctx.Err() != nil
	if s.err == nil && !gone {
		ss.byID[s.id] = s
		s.idle = time.AfterFunc(ss.server.opts.SessionIdle, func() { ss.expire(s) })
	} else {
		delete(ss.byClient, client)
	}
	ss.mu.Unlock()
	if s.err == nil && gone {
		s.err = notReady("the provider is shutting down")
		s.closeWorkspace(context.WithoutCancel(ctx), ss.server)
	}
	close(s.made)
	return s, true, s.err
}

// make opens what a session works on.
func (ss *sessions) make(ctx context.Context, s *session) *Failure {
	host := ss.server.opts.Host
	s.attached = ss.server.opts.Attached && s.options.attach != "never"
	if s.options.isolation == isolationShared {
		if len(host.Tabs()) == 0 {
			return ss.server.notRunning("the runtime has no tab to share")
		}
		return nil
	}
	w, err := host.NewWorkspace(ctx, runtime.WorkspaceOptions{Isolated: !s.attached})
	if err != nil {
		return ss.server.refused(err)
	}
	s.workspace = w
	if _, err := w.Open(ctx, "", true); err != nil {
		s.closeWorkspace(context.WithoutCancel(ctx), ss.server)
		return ss.server.refused(err)
	}
	return nil
}

// use finds a session and keeps it from being idle until release is called.
func (ss *sessions) use(id string) (s *session, release func(), failure *Failure) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s, ok := ss.byID[id]
	if !ok {
		return nil, nil, newFailure(SessionNotFound, "there is no such session").
			with("next_step", "call session.ensure")
	}
	s.uses++
	s.idle.Stop()
	return s, func() {
		ss.mu.Lock()
		defer ss.mu.Unlock()
		if s.uses--; s.uses == 0 && ss.byID[s.id] == s {
			s.idle.Reset(ss.server.opts.SessionIdle)
		}
	}, nil
}

// turn takes the place of a request in the order of its session.
func (ss *sessions) turn(r *request) *turn {
	if r.method.free {
		return newTurn()
	}
	var in struct {
		SessionID string `json:"session_id"`
		PageID    string `json:"page_id"`
		TabID     string `json:"tab_id"`
	}
	_ = json.Unmarshal(r.params, &in) // the schema has been checked
	ss.mu.Lock()
	s := ss.byID[in.SessionID]
	ss.mu.Unlock()
	if s == nil {
		return newTurn()
	}
	page := ""
	if n, ok := tabNumber(cmp.Or(in.PageID, in.TabID)); ok && !r.method.concernsAll {
		page = strconv.Itoa(n)
	}
	return s.order.enter(page)
}

// remove takes a session from the list, once.
func (ss *sessions) remove(s *session) bool {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.byID[s.id] != s {
		return false
	}
	delete(ss.byID, s.id)
	delete(ss.byClient, s.client)
	s.idle.Stop()
	return true
}

// expire closes a session that has been idle for too long.
func (ss *sessions) expire(s *session) {
	ss.mu.Lock()
	if ss.closed || s.uses > 0 || ss.byID[s.id] != s {
		ss.mu.Unlock()
		return
	}
	delete(ss.byID, s.id)
	delete(ss.byClient, s.client)
	ss.server.busy.Add(1)
	ss.mu.Unlock()
	defer ss.server.busy.Done()
	ss.server.sendEvent(s, "session.closed", map[string]any{"session_id": s.id, "reason": "idle"})
	s.closeWorkspace(ss.server.ctx, ss.server)
}

// leave ends the sessions that end with a connection.
func (ss *sessions) leave(c *connection) {
	ss.mu.Lock()
	var left []*session
	for id, s := range ss.byID {
		if s.owner == c {
			left = append(left, s)
			delete(ss.byID, id)
			delete(ss.byClient, s.client)
			s.idle.Stop()
		}
	}
	ss.mu.Unlock()
	for _, s := range left {
		s.closeWorkspace(context.WithoutCancel(ss.server.ctx), ss.server)
	}
}

func (ss *sessions) closeAll(ctx context.Context) error {
	ss.mu.Lock()
	ss.closed = true
	left := ss.byID
	ss.byID, ss.byClient = map[string]*session{}, map[string]*session{}
	ss.mu.Unlock()
	var failed error
	for _, s := range left {
		s.idle.Stop()
		if s.workspace != nil {
			failed = errors.Join(failed, s.workspace.Close(ctx))
		}
	}
	return failed
}

// closeWorkspace closes the pages of a session that has left the list.
func (s *session) closeWorkspace(ctx context.Context, server *Server) {
	if s.workspace == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := s.workspace.Close(ctx); err != nil {
		server.log.Warn("closing the pages of a session", "error", err)
	}
}

// tabs lists the session's tabs, oldest first.
func (s *session) tabs(server *Server) []runtime.TabStatus {
	if s.workspace == nil {
		return server.opts.Host.Tabs()
	}
	return s.workspace.Tabs()
}

// page finds a page by its id or its tab's, the active one for "".
func (s *session) page(server *Server, id string) (runtime.TabStatus, *Failure) {
	tabs := s.tabs(server)
	if id == "" {
		for _, t := range tabs {
			if t.Active {
				return t, nil
			}
		}
		if len(tabs) > 0 {
			return tabs[len(tabs)-1], nil
		}
		return runtime.TabStatus{}, newFailure(PageNotFound, "the session has no page").
			with("next_step", "call page.open with new_page")
	}
	if n, ok := tabNumber(id); ok {
		for _, t := range tabs {
			if t.TabID == n {
				return t, nil
			}
		}
	}
	return runtime.TabStatus{}, newFailure(PageNotFound, "the session has no such page").with("page_id", id)
}

// pageID and tabID name the same tab; the draft distinguishes them.
func pageID(t runtime.TabStatus) string { return "page_" + strconv.Itoa(t.TabID) }
func tabID(t runtime.TabStatus) string  { return "tab_" + strconv.Itoa(t.TabID) }

// tabNumber reads what pageID and tabID wrote.
func tabNumber(id string) (int, bool) {
	digits, ok := strings.CutPrefix(id, "page_")
	if !ok {
		digits, ok = strings.CutPrefix(id, "tab_")
	}
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0 && strconv.Itoa(n) == digits
}
