package plan

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// Session is a group of tabs with cookies and storage of their own.
type Session interface {
	Host
	// Main is its first tab, which is opened when there is none.
	Main(ctx context.Context) (runtime.TabStatus, error)
	// Open opens a further tab.
	Open(ctx context.Context) (runtime.TabStatus, error)
	// Subscribe calls fn for every event of the host.
	Subscribe(fn func(runtime.Event)) (unsubscribe func())
	// Route answers requests of its tabs in place of the network.
	Route(ctx context.Context, rules []*browser.Route) error
	// SignIn gives its tabs a name and a password for servers that ask for them.
	SignIn(ctx context.Context, c browser.Credentials) error
	// Emulate has its tabs, and those that come, emulate.
	Emulate(ctx context.Context, e primitives.Emulation) error
	// Request makes a request with its cookies, beside its tabs.
	Request(ctx context.Context, q browser.HTTPRequest) (browser.HTTPAnswer, error)
	Close(ctx context.Context) error
}

// fileOpener is a Session that opens addresses of any scheme. One whose plan came from elsewhere is none.
type fileOpener interface {
	OpenAt(ctx context.Context, address string) (runtime.TabStatus, error)
}

// Browser makes the sessions of cases. It is safe for concurrent use.
type Browser interface {
	// Session makes a session; first is the one that a case begins with.
	Session(ctx context.Context, first bool) (Session, error)
}

// Isolated gives each session a browser context of its own.
func Isolated(h *runtime.Host) Browser { return isolated{h} }

// Shared gives first sessions the host's own tabs, with the profile of the browser, so
// only one case may run at a time. Further sessions are isolated.
func Shared(h *runtime.Host) Browser { return shared{h} }

type isolated struct{ host *runtime.Host }

func (b isolated) Session(ctx context.Context, _ bool) (Session, error) {
	w, err := b.host.NewWorkspace(ctx, runtime.WorkspaceOptions{Isolated: true})
	if err != nil {
		return nil, err
	}
	return &workspace{host: b.host, Workspace: w}, nil
}

type shared struct{ host *runtime.Host }

func (b shared) Session(ctx context.Context, first bool) (Session, error) {
	if !first {
		return isolated(b).Session(ctx, false)
	}
	return &profile{Host: b.host}, nil
}

// workspace is a session with a browser context of its own.
type workspace struct {
	host *runtime.Host
	*runtime.Workspace
}

func (w *workspace) Do(ctx context.Context, call runtime.Call) runtime.Reply {
	call.Target.Workspace = w.ID()
	return w.host.Do(ctx, call)
}

// Info says which browser the session has.
func (w *workspace) Info() runtime.Info { return w.host.Info() }

func (w *workspace) Main(ctx context.Context) (runtime.TabStatus, error) { return w.Open(ctx) }

func (w *workspace) Open(ctx context.Context) (runtime.TabStatus, error) {
	return w.Workspace.Open(ctx, "about:blank", true)
}

// OpenAt implements fileOpener: the tab takes the place of the others.
func (w *workspace) OpenAt(ctx context.Context, address string) (runtime.TabStatus, error) {
	others := w.Tabs()
	status, err := w.Workspace.Open(ctx, address, true)
	for _, t := range others {
		if err == nil {
			err = w.CloseTab(ctx, t.TabID)
		}
	}
	return status, err
}

func (w *workspace) Subscribe(fn func(runtime.Event)) func() { return w.host.Subscribe(fn) }

// profile is the session of the host's own tabs. Those that a case opens are closed
// after it.
type profile struct {
	*runtime.Host
	opened   []string
	emulates bool
}

func (p *profile) Main(ctx context.Context) (runtime.TabStatus, error) {
	if tabs := p.Tabs(); len(tabs) > 0 {
		return tabs[0], nil
	}
	return runtime.TabStatus{}, fault.New(fault.RuntimeNotReady, "the browser has no open tab")
}

func (p *profile) Open(ctx context.Context) (runtime.TabStatus, error) {
	main, err := p.Main(ctx)
	if err != nil {
		return main, err
	}
	reply := p.Do(ctx, runtime.Call{
		ID:     main.RuntimeID,
		Target: runtime.Target{RuntimeID: main.RuntimeID},
		Name:   "browser.open_tab",
	})
	if reply.Err != nil {
		return main, reply.Err
	}
	var opened struct {
		ID string `json:"runtime_id"`
	}
	if err := json.Unmarshal(reply.Value(), &opened); err != nil {
		return main, fault.Wrap(fault.Internal, err, "reading the tab that was opened")
	}
	for _, t := range p.Tabs() {
		if t.RuntimeID == opened.ID {
			p.opened = append(p.opened, t.RuntimeID)
			return t, nil
		}
	}
	return main, fault.New(fault.TabClosed, "the tab that was opened is closed")
}

// Close closes the tabs that were opened, and ends what is emulated.
func (p *profile) Close(ctx context.Context) error {
	if p.emulates {
		if err := p.Host.Emulate(ctx, nil, primitives.Emulation{}); err != nil {
			return err
		}
	}
	for _, id := range p.opened {
		reply := p.Do(ctx, runtime.Call{ID: id, Target: runtime.Target{RuntimeID: id}, Name: "browser.close_tab"})
		if reply.Err != nil && reply.Err.Code != fault.RuntimeNotFound && reply.Err.Code != fault.TabClosed {
			return reply.Err
		}
	}
	return nil
}
