package outrider

import (
	"context"
	"iter"
	"slices"
)

// command is a command of the protocol that turns something on.
type command struct {
	method string
	params any
}

// attachedTo is the event of a frame in another process, or of a worker, that a session has attached to.
const attachedTo = "Target.attachedToTarget"

// watched is a session of the protocol on a tab, with the frames in other processes and the workers within it. The same
// is turned on in each of them.
type watched struct {
	*CDPSession
	turnsOn []command
	queue   *cdpQueue
}

// watch begins to watch the tab for events with these names.
func (t *Tab) watch(ctx context.Context, turnsOn []command, methods ...string) (*watched, error) {
	s, err := t.OpenCDP(ctx)
	if err != nil {
		return nil, err
	}
	w := &watched{s, turnsOn, s.subscribe(append(slices.Clone(methods), attachedTo)...)}
	for _, c := range turnsOn {
		if err := s.Call(ctx, c.method, c.params, nil); err != nil {
			s.Close()
			return nil, err
		}
	}
	if err := w.attach(ctx, ""); err != nil {
		s.Close()
		return nil, err
	}
	for { // the frames that are there, and what the browser tells of the time before
		e, ok := s.next(w.queue)
		if !ok {
			return w, nil
		}
		w.join(ctx, e)
	}
}

// attach has the browser attach to what a session has within it.
func (w *watched) attach(ctx context.Context, session string) error {
	attach := map[string]bool{"autoAttach": true, "flatten": true, "waitForDebuggerOnStart": false}
	return w.CallIn(ctx, session, "Target.setAutoAttach", attach, nil)
}

// join turns the same on in what an event says was attached to. A worker lacks what only pages have, and either may
// have ended: what it refuses is not told.
func (w *watched) join(ctx context.Context, e CDPEvent) {
	var in struct {
		SessionID string `json:"sessionId"`
	}
	if e.Method != attachedTo || decode(e.Params, &in) != nil {
		return
	}
	for _, c := range w.turnsOn {
		_ = w.CallIn(ctx, in.SessionID, c.method, c.params, nil)
	}
	_ = w.attach(ctx, in.SessionID)
}

// nextEvent is the next event that was asked for. ok is false when ctx or the tab ends before one comes.
func (w *watched) nextEvent(ctx context.Context) (e CDPEvent, ok bool) {
	for {
		e, ok := w.await(ctx, w.queue)
		if !ok || e.Method != attachedTo {
			return e, ok
		}
		w.join(ctx, e)
	}
}

// after runs act and gives match the events that come then, until that is done.
func (t *Tab) after(
	ctx context.Context, what string, turnsOn []command, methods []string, act func() error,
	match func(*watched, CDPEvent) (done bool, err error),
) error {
	ctx, cancel := t.session.within(ctx)
	defer cancel()
	w, err := t.watch(ctx, turnsOn, methods...)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := act(); err != nil {
		return err
	}
	for {
		e, ok := w.nextEvent(ctx)
		if !ok {
			return t.didNotCome(ctx, what)
		}
		if done, err := match(w, e); done || err != nil {
			return err
		}
	}
}

// stream iterates over what read makes of the events that come after the call. It ends with ctx, with the tab, or with
// an error.
func stream[T any](
	ctx context.Context, t *Tab, turnsOn []command, methods []string,
	read func(*watched, CDPEvent) (out T, ok bool, err error),
) iter.Seq2[T, error] {
	w, err := t.watch(ctx, turnsOn, methods...)
	if err != nil {
		return func(yield func(T, error) bool) {
			var none T
			yield(none, err)
		}
	}
	unread := context.AfterFunc(ctx, w.Close)
	return func(yield func(T, error) bool) {
		defer w.Close()
		defer unread()
		for {
			e, ok := w.nextEvent(ctx)
			if !ok {
				return
			}
			out, ok, err := read(w, e)
			if err == nil && !ok {
				continue
			}
			if !yield(out, err) || err != nil {
				return
			}
		}
	}
}
