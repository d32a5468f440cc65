package tools

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// A page handle is "p3" for tab 3 of the runtime's own tabs, and "SESSION/p7"
// for a tab of a session. A session handle cannot be guessed, so it is also
// what keeps one client of a shared server from another's pages.

// sessions are the sessions that clients have opened.
type sessions struct {
	set *Set

	mu     sync.Mutex
	byID   map[string]*session
	closed bool
}

// session is one client's group of pages.
type session struct {
	id        string
	workspace *runtime.Workspace
	idle      *time.Timer
	calls     int // running now
}

func (ss *sessions) init(s *Set) { ss.set, ss.byID = s, map[string]*session{} }

// open makes a session, which is in use until release is called.
func (ss *sessions) open(ctx context.Context, isolated bool) (made *session, release func(), err error) {
	w, err := ss.set.opts.Host.NewWorkspace(ctx, runtime.WorkspaceOptions{Isolated: isolated})
	if err != nil {
		return nil, nil, err
	}
	made = &session{id: "s" + strings.ReplaceAll(ss.set.opts.NewID(), "-", "")[:16], workspace: w}
	ss.mu.Lock()
	defer ss.mu.Unlock()
	if ss.closed {
		return nil, nil, errors.Join(
			fault.New(fault.Cancelled, "the server is shutting down"), w.Close(context.WithoutCancel(ctx)),
		)
	}
	made.idle = time.AfterFunc(ss.set.opts.SessionIdle, func() { ss.expire(made) })
	ss.byID[made.id] = made
	return made, ss.acquire(made), nil
}

// acquire keeps a session from being idle until the result is called. The caller
// has ss.mu.
func (ss *sessions) acquire(s *session) (release func()) {
	s.calls++
	s.idle.Stop()
	return func() {
		ss.mu.Lock()
		defer ss.mu.Unlock()
		if s.calls--; s.calls == 0 && ss.byID[s.id] == s {
			s.idle.Reset(ss.set.opts.SessionIdle)
		}
	}
}

// use finds a session and keeps it from being idle until release is called.
func (ss *sessions) use(id string) (s *session, release func(), err *fault.Error) {
	ss.mu.Lock()
	defer ss.mu.Unlock()
	s, ok := ss.byID[id]
	if !ok {
		return nil, nil, fault.New(fault.SessionLost, "there is no such session").With("path", "/session").
			Next("open one with tabs, action open_session")
	}
	return s, ss.acquire(s), nil
}

// expire closes a session that has been idle for too long.
func (ss *sessions) expire(s *session) {
	ss.mu.Lock()
	if ss.closed || s.calls > 0 || ss.byID[s.id] != s {
		ss.mu.Unlock()
		return
	}
	delete(ss.byID, s.id)
	ss.set.busy.Add(1)
	ss.mu.Unlock()
	defer ss.set.busy.Done()
	ctx, cancel := context.WithTimeout(ss.set.ctx, 10*time.Second)
	defer cancel()
	defer ss.set.piggybacked.Forget(s.workspace.ID())
	if err := s.workspace.Close(ctx); err != nil {
		ss.set.log.Warn("closing an idle session", "error", err)
	}
}

// close ends a session.
func (ss *sessions) close(ctx context.Context, id string) error {
	ss.mu.Lock()
	s, ok := ss.byID[id]
	delete(ss.byID, id)
	ss.mu.Unlock()
	if !ok {
		return fault.New(fault.SessionLost, "there is no such session").With("path", "/session")
	}
	s.idle.Stop()
	defer ss.set.piggybacked.Forget(s.workspace.ID())
	return s.workspace.Close(ctx)
}

func (ss *sessions) closeAll(ctx context.Context) error {
	ss.mu.Lock()
	ss.closed = true
	left := ss.byID
	ss.byID = map[string]*session{}
	ss.mu.Unlock()
	var failed error
	for _, s := range left {
		s.idle.Stop()
		failed = errors.Join(failed, s.workspace.Close(ctx))
	}
	return failed
}

// page is one tab as a client sees it.
type page struct {
	session *session // nil for the runtime's own tabs
	tab     runtime.TabStatus
}

func (p page) handle() string { return handle(p.session, p.tab.TabID) }

func handle(s *session, tab int) string {
	if s == nil {
		return fmt.Sprintf("p%d", tab)
	}
	return fmt.Sprintf("%s/p%d", s.id, tab)
}

func (p page) target() runtime.Target {
	return runtime.Target{Workspace: p.tab.Workspace, TabID: p.tab.TabID}
}

// pagesOf lists the pages of a session, the runtime's own for nil.
func (s *Set) pagesOf(in *session) []page {
	tabs := s.opts.Host.Tabs()
	if in != nil {
		tabs = in.workspace.Tabs()
	}
	out := make([]page, len(tabs))
	for i, t := range tabs {
		out[i] = page{in, t}
	}
	return out
}

// failed is why there is no browser, nil where there is one.
func (s *Set) failed() *fault.Error {
	if s.opts.Failed == nil {
		return nil
	}
	return s.opts.Failed()
}

// find returns the page that a call names: by its handle, or the active page of
// the session it names, or the runtime's active page. release ends the use of
// its session.
func (s *Set) find(pageHandle, sessionID string) (page, func(), *fault.Error) {
	none := func() {}
	tab := ""
	if pageHandle != "" {
		inside, last, ok := strings.Cut(pageHandle, "/")
		if !ok {
			inside, last = "", pageHandle
		}
		if sessionID != "" && sessionID != inside {
			return page{}, none, invalid("page", "this page is not in the session that the call names")
		}
		sessionID, tab = inside, last
	}
	var in *session
	release := none
	if sessionID != "" {
		var err *fault.Error
		in, release, err = s.sessions.use(sessionID)
		if err != nil {
			return page{}, none, err
		}
	}
	pages := s.pagesOf(in)
	for _, p := range pages {
		if tab == "p"+strconv.Itoa(p.tab.TabID) || tab == "" && p.tab.Active {
			return p, release, nil
		}
	}
	if tab == "" && len(pages) == 1 {
		return pages[0], release, nil
	}
	release()
	if len(pages) == 0 {
		if err := s.failed(); err != nil {
			return page{}, none, err
		}
		return page{}, none, fault.New(fault.RuntimeNotReady, "there is no page").
			Next("open one with tabs, action open")
	}
	handles := make([]string, 0, len(pages))
	for _, p := range pages[:min(len(pages), 20)] {
		handles = append(handles, p.handle())
	}
	return page{}, none, fault.New(fault.TabClosed, "there is no such page").
		With("path", "/page").With("pages", handles)
}
