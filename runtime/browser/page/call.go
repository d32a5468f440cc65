package page

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/world"
)

// errStale means that a call reached no context of ours and so did nothing.
var errStale = errors.New("the document was replaced before the call reached it")

// maxReplaced bounds how often one call follows a frame into a new document.
const maxReplaced = 20

// place is where a call goes.
type place struct {
	s    *cdp.Session
	doc  *world.Document
	life *cdp.Lifetime
	// dialogs is closed when a dialog opens.
	dialogs chan struct{}
	id      primitives.FrameID
}

// locate finds a frame, and waits while it is between two processes.
func (t *Page) locate(ctx context.Context, id primitives.FrameID) (place, error) {
	for {
		changed := t.change.Wait()
		t.mu.Lock()
		if err := t.blockedLocked(); err != nil {
			t.mu.Unlock()
			return place{}, err
		}
		if id == "" {
			id = t.main
		}
		f := t.frames[id]
		switch {
		case f == nil:
			t.mu.Unlock()
			return place{}, fault.New(fault.FrameNotFound, "the frame is not there any more")
		case f.crashed:
			t.mu.Unlock()
			return place{}, fault.New(fault.TabCrashed, "the frame's renderer process crashed")
		case f.s != nil:
			p := place{s: f.s, doc: f.doc, life: t.life, dialogs: t.dialogs, id: id}
			t.mu.Unlock()
			return p, nil
		}
		l := t.life
		t.mu.Unlock()
		select {
		case <-changed:
		case <-l.Done():
			return place{}, l.Err()
		case <-ctx.Done():
			return place{}, ctx.Err()
		}
	}
}

// Session returns the session of the process that a frame runs in.
func (t *Page) Session(ctx context.Context, frame primitives.FrameID) (*cdp.Session, error) {
	p, err := t.locate(ctx, frame)
	return p.s, err
}

// Call implements primitives.Page.
func (t *Page) Call(ctx context.Context, frame primitives.FrameID, fn string, args, out any) error {
	encoded := []byte("{}")
	switch a := args.(type) {
	case nil:
	case json.RawMessage:
		if len(a) > 0 {
			encoded = a
		}
	default:
		var err error
		if encoded, err = json.Marshal(args); err != nil {
			return fault.Wrap(fault.Internal, err, "encoding the arguments of %s", fn)
		}
	}
	answer, err := t.Run(ctx, frame, func(token string) world.Invocation {
		return world.Call(token, fn, encoded)
	})
	if err != nil {
		return cdp.Explain(err, "calling "+fn)
	}
	if next := world.RefsGiven(answer); next > 0 {
		t.refs.Given(t.refFrame(frame), next)
	}
	return world.Decode(fn, answer, out)
}

// Run runs what make returns in our world of a frame, in the document that
// is there when it starts, and returns the raw result member of the answer.
func (t *Page) Run(ctx context.Context, frame primitives.FrameID, make func(token string) world.Invocation) ([]byte, error) {
	for range maxReplaced {
		p, err := t.locate(ctx, frame)
		if err != nil {
			return nil, err
		}
		result, err := t.invoke(ctx, p, make)
		if !errors.Is(err, errStale) {
			return result, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return nil, fault.New(fault.PageNavigated, "the document was replaced again and again")
}

func (t *Page) invoke(ctx context.Context, p place, make func(token string) world.Invocation) ([]byte, error) {
	w := p.doc.World()
	var install, calls []*cdp.Call
	behind := false // the library is installed behind the call
	release := func() {}
	var err error
	if w != nil {
		calls, err = t.client.Start(ctx, make(w.Token).Command(p.s, w))
	} else {
		select {
		case p.doc.Building() <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.life.Done():
			return nil, p.life.Err()
		case <-p.dialogs:
			return nil, t.dialogFault()
		}
		release = sync.OnceFunc(func() { p.doc.Built() })
		if w = p.doc.World(); w != nil { // somebody else made it meanwhile
			release()
			calls, err = t.client.Start(ctx, make(w.Token).Command(p.s, w))
		} else {
			defer release()
			if w, err = t.makeWorld(ctx, p); err != nil {
				return nil, err
			}
			begin, v := t.beginning(p, w), make(w.Token)
			if behind = v.Bare; behind {
				begin[0].OnReply, begin[1].OnReply = t.client.LogFailure("installing the page library"), t.client.LogFailure("beginning a document")
				calls, err = t.client.Start(ctx, append([]cdp.Command{v.Command(p.s, w)}, begin...)...)
			} else if calls, err = t.client.Start(ctx, append(begin, v.Command(p.s, w))...); err == nil {
				install, calls = calls[:2], calls[2:]
			}
		}
	}
	if err != nil {
		return nil, err
	}
	primitives.Sent(ctx)
	if install != nil {
		defer t.client.Forget(calls...)
		for i, c := range install {
			result, err := t.awaitPage(ctx, p, c)
			if err != nil {
				t.client.Forget(install[i:]...)
				return nil, unstarted(t.classify(ctx, p, err))
			}
			if x := cdp.Member(result, "exceptionDetails"); x != nil {
				t.client.Forget(install[i:]...)
				return nil, &fault.Error{Code: fault.Internal, Message: "installing the page library failed", Err: world.Exception(x)}
			}
		}
		p.doc.SetWorld(w)
		release() // a first call that waits for something must not hold up the others
	}
	started := t.watchStart(p, w)
	result, err := t.awaitPage(ctx, p, calls[0])
	began := started()
	if err != nil {
		err = t.classify(ctx, p, err)
		if errors.Is(err, errStale) && began {
			err = fault.New(fault.PageNavigated, "the document was replaced during the call")
		}
		if errors.Is(err, errStale) {
			p.doc.Forget(w)
		}
		return nil, err
	}
	value, thrown := world.Result(result)
	if thrown != nil {
		return nil, &fault.Error{Code: fault.HandlerFailed, Message: "the page library threw", Err: world.Exception(thrown)}
	}
	if bytes.Contains(value[:min(len(value), 64)], []byte(`{\"stale\":true}`)) {
		p.doc.Forget(w)
		return nil, errStale
	}
	if behind {
		// Commands run in order, so a call that follows finds the library. Should it
		// not be there, the call finds no token either, and begins anew.
		p.doc.SetWorld(w)
	}
	return value, nil
}

// watchStart finds out whether a call has reached its document. When a document
// is replaced, Chromium sends what was in flight again, to the new document's
// process: the answer "cannot find context" then says nothing of the first time.
// So a call that has taken a while is followed by an empty one: commands of a
// session run in order, and an answer to the second proves that the first began.
// A function that answers without waiting is through long before.
//
// A call that goes on waits in the page, for timers that may stand still there
// (a frozen tab) or come late (a frame out of sight). So it is followed by
// further ones, which ring what is due.
//
// The function that it returns ends the watch and says whether the first was
// seen to be answered.
func (t *Page) watchStart(p place, w *world.World) func() bool {
	var seen, over atomic.Bool
	var mu sync.Mutex
	var timer *time.Timer
	next := nudgeAfter
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(StartProbeDelay, func() {
		if over.Load() {
			return
		}
		cmd := world.Invocation{Function: nudgeFunction, ByValue: true}.Command(p.s, w)
		cmd.OnReply = func(r cdp.Reply) {
			if r.Err != nil || over.Load() {
				return
			}
			seen.Store(true)
			mu.Lock()
			defer mu.Unlock()
			timer.Reset(next)
			next = min(2*next, nudgeAtLeast)
		}
		t.client.Post(cmd)
	})
	return func() bool {
		over.Store(true)
		mu.Lock()
		defer mu.Unlock()
		timer.Stop()
		return seen.Load()
	}
}

const nudgeFunction = `function(){"use strict";globalThis.outrider&&globalThis.outrider.nudge()}`

// awaitPage waits for an answer of page code: not longer than the page lives,
// and not while a dialog blocks it.
func (t *Page) awaitPage(ctx context.Context, p place, c *cdp.Call) ([]byte, error) {
	began := time.Now()
	var limit <-chan time.Time
	if _, ok := ctx.Deadline(); !ok {
		timer := time.NewTimer(callCap)
		defer timer.Stop()
		limit = timer.C
	}
	replaced := p.doc.Replaced()
	var err error
	for err == nil {
		select {
		case r := <-c.Replied():
			return r.Result, r.Err
		case <-p.dialogs:
			err = t.dialogFault()
		case <-p.life.Done():
			err = p.life.Err()
		case <-p.s.Done():
			// The frame left the process: no answer comes any more.
			if err = t.awaitNews(ctx, p); err == nil {
				err = fault.New(fault.PageNavigated, "the document was replaced during the call")
			}
		case <-replaced:
			// The answer says whether the function had started. It comes at
			// once, if it comes: the process may be gone with the document.
			replaced = nil
			timer := time.NewTimer(graceAfterDocument)
			defer timer.Stop()
			limit = timer.C
		case <-limit:
			if replaced == nil {
				err = fault.New(fault.PageNavigated, "the document was replaced during the call")
			} else {
				err = context.DeadlineExceeded
			}
		case <-ctx.Done():
			err = ctx.Err()
			t.suspect.Store(true)
			t.endHeld(p, began)
		}
	}
	select {
	case r := <-c.Replied(): // it came before what ended the wait
		return r.Result, r.Err
	default:
	}
	t.client.Forget(c)
	return nil, err
}

const (
	// callCap bounds a page call whose context has no deadline.
	callCap            = 2 * time.Minute
	graceAfterDocument = 250 * time.Millisecond
	// StartProbeDelay is how long a call may take until it is found out whether it has
	// begun.
	StartProbeDelay = 20 * time.Millisecond
	// nudgeAfter is when the library's timers are rung for the first time after
	// that, and nudgeAtLeast the longest time between two rings.
	nudgeAfter   = 500 * time.Millisecond
	nudgeAtLeast = 2 * time.Second
)

// makeWorld asks for our isolated world of the frame.
func (t *Page) makeWorld(ctx context.Context, p place) (*world.World, error) {
	calls, err := t.client.Start(ctx, world.CreateCommand(p.s, p.id))
	if err != nil {
		return nil, err
	}
	result, err := t.awaitPage(ctx, p, calls[0])
	if err != nil {
		return nil, unstarted(t.classify(ctx, p, err))
	}
	id, err := strconv.Atoi(string(cdp.Member(result, "executionContextId")))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "reading a context id")
	}
	return world.New(id), nil
}

// beginning makes a new world ours.
func (t *Page) beginning(p place, w *world.World) []cdp.Command {
	prefix, from := t.refs.Begin(t.refFrame(p.id))
	return []cdp.Command{world.InstallCommand(p.s, w), world.BeginCommand(p.s, w, prefix, from)}
}
