package outrider

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// Session is a browser, or an isolated part of one, with its tabs. Its methods
// that act or read use its active tab. It is safe for concurrent use.
type Session struct {
	host   *runtime.Host
	engine io.Closer // nil for an isolated session, which shares its host
	group  *runtime.Workspace

	watchdog  *watchdog
	recorders *recorders
	logger    *slog.Logger
	timeout   time.Duration // of a call without a deadline, 0 for the default

	end   context.CancelFunc // ends the iterators of Events
	ended context.Context

	closing  sync.Once
	closeErr error
}

// defaultCallTimeout is Options.CallTimeout where that is not given, as in package runtime.
const defaultCallTimeout = 30 * time.Second

// closeTimeout bounds Close, whose caller may have no deadline.
const closeTimeout = 30 * time.Second

// Open starts the browser, opens the tabs and waits for them to load. ctx
// bounds only the start: the session stays open until Close.
//
// The errors are invalid_input (an option), invalid_manifest (a map),
// browser_not_found, browser_failed, navigation_failed, and timeout or
// cancelled when ctx ends.
func Open(ctx context.Context, o Options) (*Session, error) {
	w := &watchdog{}
	options, err := o.runtimeOptions(w.lost)
	if err != nil {
		return nil, err
	}
	recorders := newRecorders(o.Record, options.Secrets)
	options.Recorder = recorders
	timeout := timeOf(ctx)
	h, err := runtime.Open(ctx, options)
	if err != nil {
		_ = options.Engine.Close()
		return nil, endedBy(ctx, timeout, err)
	}
	s := newSession(h, options.Engine, nil, w)
	s.timeout = o.CallTimeout
	s.logger = o.Logger
	s.recorders = recorders
	return s, nil
}

func newSession(h *runtime.Host, engine io.Closer, group *runtime.Workspace, w *watchdog) *Session {
	s := &Session{host: h, engine: engine, group: group, watchdog: w}
	s.ended, s.end = context.WithCancel(context.Background())
	return s
}

// Close answers every call that still runs with cancelled, closes the browser
// and removes its profile. Of an isolated session it closes the tabs and ends
// their cookies and storage. It may be called more than once.
func (s *Session) Close() error {
	s.closing.Do(func() {
		s.end()
		ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		if s.group != nil {
			s.closeErr = errors.Join(s.recorders.endOf(s.group.ID()), fromFault(s.group.Close(ctx)))
			return
		}
		s.closeErr = fromFault(s.host.Close(ctx))
		if err := s.engine.Close(); s.closeErr == nil {
			s.closeErr = fromFault(err)
		}
	})
	return s.closeErr
}

// NewSession makes an isolated session in the same browser: cookies, storage,
// cache and permissions of its own, and one tab at address, "" for an empty
// one. The maps and options of s apply to it. Close it before s.
func (s *Session) NewSession(ctx context.Context, address string) (*Session, error) {
	timeout := timeOf(ctx)
	group, err := s.host.NewWorkspace(ctx, runtime.WorkspaceOptions{Isolated: true})
	if err != nil {
		return nil, endedBy(ctx, timeout, err)
	}
	isolated := newSession(s.host, nil, group, s.watchdog)
	isolated.timeout = s.timeout
	isolated.logger = s.logger
	isolated.recorders = s.recorders
	if _, err := isolated.NewTab(ctx, address); err != nil {
		_ = isolated.Close()
		return nil, err
	}
	return isolated, nil
}

// Tabs lists the tabs, oldest first. Popups that a page opened are among them.
func (s *Session) Tabs() []*Tab {
	statuses := s.statuses()
	tabs := make([]*Tab, len(statuses))
	for i, status := range statuses {
		tabs[i] = &Tab{session: s, id: status.RuntimeID, number: status.TabID}
	}
	return tabs
}

// Tab is the active tab: the first one, until NewTab or a call activates
// another. It is nil when the session has no tab.
func (s *Session) Tab() *Tab {
	tabs := s.statuses()
	i := slices.IndexFunc(tabs, func(t runtime.TabStatus) bool { return t.Active })
	if i < 0 && len(tabs) > 0 {
		i = 0
	}
	if i < 0 {
		return nil
	}
	return &Tab{session: s, id: tabs[i].RuntimeID, number: tabs[i].TabID}
}

// NewTab opens a tab at address, "" for an empty one, waits for it to load and
// makes it the active one. A page that goes on loading is not an error. Any address that
// Options.Open may have can be opened.
func (s *Session) NewTab(ctx context.Context, address string) (*Tab, error) {
	open := s.host.OpenTab // no tab that may be closed meanwhile, or is busy, has a part in it
	if s.group != nil {
		open = s.group.Open
	}
	timeout := timeOf(ctx)
	status, err := open(ctx, address, true)
	if err != nil {
		return nil, endedBy(ctx, timeout, err)
	}
	return &Tab{session: s, id: status.RuntimeID, number: status.TabID}, nil
}

// Action runs a site action on the active tab: see [Tab.Action].
func (s *Session) Action(ctx context.Context, name string, arguments any) (json.RawMessage, error) {
	t, err := s.activeTab()
	if err != nil {
		return nil, err
	}
	return t.Action(ctx, name, arguments)
}

// Call runs a primitive on the active tab: see [Tab.Call].
func (s *Session) Call(ctx context.Context, primitive string, arguments any) (json.RawMessage, error) {
	t, err := s.activeTab()
	if err != nil {
		return nil, err
	}
	return t.Call(ctx, primitive, arguments)
}

// State reads a state projection of the active tab: see [Tab.State].
func (s *Session) State(ctx context.Context, name string) (*State, error) {
	t, err := s.activeTab()
	if err != nil {
		return nil, err
	}
	return t.State(ctx, name)
}

// Check checks the active tab against its maps: see [Tab.Check].
func (s *Session) Check(ctx context.Context) (*CheckResult, error) {
	t, err := s.activeTab()
	if err != nil {
		return nil, err
	}
	return t.Check(ctx)
}

func (s *Session) activeTab() (*Tab, error) {
	if t := s.Tab(); t != nil {
		return t, nil
	}
	return nil, fromFault(fault.New(fault.RuntimeNotReady, "the session has no open tab").Next("open one with NewTab"))
}

func (s *Session) statuses() []runtime.TabStatus {
	if s.group != nil {
		return s.group.Tabs()
	}
	return s.host.Tabs()
}

// log is the logger of the options, or one that discards.
func (s *Session) log() *slog.Logger {
	if s.logger != nil {
		return s.logger
	}
	return slog.New(slog.DiscardHandler)
}

// callTimeout is how long a call without a deadline may take.
func (s *Session) callTimeout() time.Duration {
	if s.timeout > 0 {
		return s.timeout
	}
	return defaultCallTimeout
}

func (s *Session) groupID() string {
	if s.group != nil {
		return s.group.ID()
	}
	return ""
}
