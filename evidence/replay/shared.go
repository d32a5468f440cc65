package replay

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/runtime"
	"github.com/outrider-run/outrider/runtime/browser"
)

// place is where a replay does its calls: a host, or a workspace of one.
type place struct {
	host *runtime.Host
	in   *runtime.Workspace // nil: the tabs of the host
}

func (p place) tabs() []runtime.TabStatus {
	if p.in == nil {
		return p.host.Tabs()
	}
	return p.in.Tabs()
}

func (p place) do(ctx context.Context, c runtime.Call) runtime.Reply {
	if p.in != nil {
		c.Target.Workspace = p.in.ID()
	}
	return p.host.Do(ctx, c)
}

// shared is a host for many replays of one log, one after the other. Each has a workspace with cookies, storage
// and cache of its own.
type shared struct {
	host  *runtime.Host
	first int // number of the first tab of the host
	base  *player
	close func()

	mu  sync.Mutex
	now *player // whose requests and whose clock the browser has
}

// leaveTime bounds closing a workspace.
const leaveTime = 10 * time.Second

// share opens a host for replays of a log with these options.
func share(ctx context.Context, l *Log, o Options, set quirks.Set) (*shared, error) {
	base := &player{log: l, opts: o, ids: newIdentities(), began: time.Now()}
	s := &shared{base: base, now: base}
	if o.Offline {
		base.network = newNetwork(l.Recording)
	}
	h, closing, err := o.Open(ctx, func(ro *runtime.Options) error {
		err := base.configure(ro, set)
		ro.Open = nil
		if ro.Browser.Answer != nil {
			ro.Browser.Answer, ro.Browser.Script = s.answer, s.script
		}
		return err
	})
	s.close = func() {
		if closing != nil {
			closing()
		}
		base.clean()
	}
	if err != nil {
		s.close()
		return nil, err
	}
	s.host = h
	for _, t := range h.Tabs() {
		s.first = t.TabID
	}
	return s, nil
}

func (s *shared) current() *player {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *shared) answer(q browser.Request) browser.Answer { return s.current().network.answer(q) }

func (s *shared) script() string { return s.current().script() }

// enter makes a workspace for a replay, with its first page. leave closes it.
func (s *shared) enter(ctx context.Context, p *player) (at place, leave func(), err error) {
	s.mu.Lock()
	s.now = p
	s.mu.Unlock()
	p.known = s.base.known
	w, err := s.host.NewWorkspace(ctx, runtime.WorkspaceOptions{Isolated: true})
	if err != nil {
		return place{}, nil, err
	}
	leave = func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveTime)
		defer cancel()
		_ = w.Close(ctx) // the next replay has another
	}
	t, err := w.Open(ctx, p.start, true)
	if err != nil {
		leave()
		return place{}, nil, err
	}
	p.ids.later = t.TabID - s.first
	return place{host: s.host, in: w}, leave, nil
}
