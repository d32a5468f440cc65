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

// errStale means that a call ran in no context of ours and so did nothing.
var errStale = errors.New("the document was replaced before the call reached it")

// maxFollowed bounds how often one call follows a frame into a new document.
const maxFollowed = 20

// resolvedFrame is where a call runs.
type resolvedFrame struct {
	session  *cdp.Session
	document *world.Document
	lifetime *cdp.Lifetime
	// dialogs is closed when a dialog opens.
	dialogs chan struct{}
	id      primitives.FrameID
}

// resolveFrame finds a frame, and waits while it is between two processes.
func (p *Page) resolveFrame(ctx context.Context, id primitives.FrameID) (resolvedFrame, error) {
	for {
		changed := p.change.Wait()
		p.mu.Lock()
		if err := p.blockedReason(); err != nil {
			p.mu.Unlock()
			return resolvedFrame{}, err
		}
		if id == "" {
			id = p.main
		}
		f := p.frames[id]
		busy := id == ""
		switch {
		case busy: // it has not answered yet
		case f == nil:
			p.mu.Unlock()
			return resolvedFrame{}, fault.New(fault.FrameNotFound, "the frame is detached")
		case f.crashed:
			p.mu.Unlock()
			return resolvedFrame{}, fault.New(fault.TabCrashed, "the frame's renderer process crashed")
		case f.session != nil:
			at := resolvedFrame{
				session:  f.session,
				document: f.document,
				lifetime: p.lifetime,
				dialogs:  p.dialogs,
				id:       id,
			}
			p.mu.Unlock()
			return at, nil
		}
		l := p.lifetime
		p.mu.Unlock()
		select {
		case <-changed:
		case <-l.Done():
			return resolvedFrame{}, l.Err()
		case <-ctx.Done():
			if busy && errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return resolvedFrame{}, fault.New(
					fault.PageUnresponsive, "the page has not answered since the browser was attached to",
				).Next("navigate the tab or close it")
			}
			return resolvedFrame{}, ctx.Err()
		}
	}
}

// Session returns the session of the process that a frame runs in.
func (p *Page) Session(ctx context.Context, frame primitives.FrameID) (*cdp.Session, error) {
	at, err := p.resolveFrame(ctx, frame)
	return at.session, err
}

// Call implements primitives.Page.
func (p *Page) Call(ctx context.Context, frame primitives.FrameID, fn string, args, out any) error {
	encoded := []byte("{}")
	switch a := args.(type) {
	case nil:
	case json.RawMessage:
		if len(a) > 0 {
			encoded = a
		}
	default:
		var err error
		encoded, err = json.Marshal(args)
		if err != nil {
			return fault.Wrap(fault.Internal, err, "encoding the arguments of %s", fn)
		}
	}
	answer, err := p.runAt(ctx, frame, func(token, origin string) world.Invocation {
		return world.CallAt(token, origin, fn, encoded)
	})
	if err != nil {
		return cdp.Explain(err, "calling "+fn)
	}
	if next := world.RefsGiven(answer); next > 0 {
		p.refs.Given(p.refFrame(frame), next)
	}
	return world.Decode(fn, answer, out)
}

// Run runs what make returns in our world of a frame, in the document that
// is there when it starts, and returns the raw result member of the answer.
func (p *Page) Run(
	ctx context.Context, frame primitives.FrameID, make func(token string) world.Invocation,
) ([]byte, error) {
	return p.runAt(ctx, frame, func(token, _ string) world.Invocation { return make(token) })
}

// runAt is Run for what can be held to the origin of the document that was admitted, which
// is "" in a context without bounds.
func (p *Page) runAt(
	ctx context.Context, frame primitives.FrameID, make func(token, origin string) world.Invocation,
) ([]byte, error) {
	for range maxFollowed {
		at, err := p.resolveFrame(ctx, frame)
		if err != nil {
			return nil, err
		}
		var result []byte
		origin, err := p.admit(ctx, at)
		if err == nil {
			result, err = p.invoke(ctx, at, func(token string) world.Invocation { return make(token, origin) })
		}
		if p.calls.Add(1)%collectAfterCalls == 0 {
			p.collectGarbage()
		}
		if !errors.Is(err, errStale) {
			return result, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return nil, fault.New(fault.PageNavigated, "the document was replaced again and again")
}

func (p *Page) invoke(ctx context.Context, at resolvedFrame, make func(token string) world.Invocation) ([]byte, error) {
	w := at.document.World()
	var calls []*cdp.Call
	behind := false // the library is installed behind the call
	release := func() {}
	var err error
	if w != nil {
		calls, err = p.client.Start(ctx, make(w.Token).Command(at.session, w))
	} else {
		select {
		case at.document.Building() <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-at.lifetime.Done():
			return nil, at.lifetime.Err()
		case <-at.dialogs:
			return nil, p.DialogFault()
		}
		release = sync.OnceFunc(func() { at.document.Built() })
		w = at.document.World()
		if w != nil { // somebody else made it meanwhile
			release()
			calls, err = p.client.Start(ctx, make(w.Token).Command(at.session, w))
		} else {
			defer release()
			w = at.document.Claimed()
			if w == nil {
				w, err = p.makeWorld(ctx, at)
			} else {
				// Until it has the library, a call must not take the token of the claim for that of one that has.
				w = world.New(w.Context)
			}
			if err != nil {
				return nil, err
			}
			v := make(w.Token)
			call := v.Command(at.session, w)
			behind = v.WithoutLibrary
			if behind {
				begin := p.beginning(at, w)
				begin.OnReply = p.client.LogFailure("beginning a document")
				calls, err = p.client.Start(ctx, call, begin)
			} else {
				var sent *cdp.Call
				sent, err = p.begin(ctx, at, w, call)
				defer p.offerMoved()
				calls = []*cdp.Call{sent}
				if err == nil {
					at.document.SetWorld(w)
					release() // a first call that waits for something must not block the others
				}
			}
		}
	}
	if err != nil {
		return nil, err
	}
	primitives.Sent(ctx)
	started := p.probeStart(at, w)
	result, err := p.awaitPage(ctx, at, calls[0])
	began := started()
	if err != nil {
		err = p.classify(ctx, at, err)
		if errors.Is(err, errStale) && began {
			err = fault.New(fault.PageNavigated, "the document was replaced during the call")
		}
		if errors.Is(err, errStale) {
			at.document.Forget(w)
		}
		return nil, err
	}
	value, thrown := world.Result(result)
	if thrown != nil {
		return nil, &fault.Error{
			Code:    fault.HandlerFailed,
			Message: "the page library threw",
			Err:     world.Exception(thrown),
		}
	}
	if bytes.Contains(value[:min(len(value), 64)], []byte(`{\"stale\":true}`)) {
		at.document.Forget(w)
		return nil, errStale
	}
	if behind {
		// Commands run in order, so a call that follows finds the library. Should it
		// not be there, the call finds no token either, and begins anew.
		at.document.SetWorld(w)
	}
	return value, nil
}

// probeStart finds out whether a call has reached its document. When a document
// is replaced, Chromium sends what was in flight again, to the new document's
// process: the answer "cannot find context" then tells nothing of the first time.
// So a call that has taken a while is followed by an empty one: commands of a
// session run in order, and an answer to the second proves that the first began.
// A function that answers without waiting is through long before.
//
// A call that goes on waits in the page, for timers that may stand still there
// (a frozen tab) or come late (a frame out of sight). So it is followed by
// further ones, which run the timers that are due.
//
// The function that it returns ends the watch and says whether the first was
// seen to be answered.
func (p *Page) probeStart(at resolvedFrame, w *world.World) func() bool {
	var seen, over atomic.Bool
	var mu sync.Mutex
	var timer *time.Timer
	next := dueTimersAfter
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(StartProbeDelay, func() {
		if over.Load() {
			return
		}
		cmd := world.Invocation{Function: dueTimersFunction, ByValue: true}.Command(at.session, w)
		cmd.OnReply = func(r cdp.Reply) {
			if r.Err != nil || over.Load() {
				return
			}
			seen.Store(true)
			mu.Lock()
			defer mu.Unlock()
			timer.Reset(next)
			next = min(2*next, dueTimersAtLeast)
		}
		p.client.Post(cmd)
	})
	return func() bool {
		over.Store(true)
		mu.Lock()
		defer mu.Unlock()
		timer.Stop()
		return seen.Load()
	}
}

const dueTimersFunction = `function(){"use strict";globalThis.outrider&&globalThis.outrider.runDueTimers()}`

// awaitPage waits for an answer of page code: not longer than the page is open,
// and not while a dialog blocks it.
func (p *Page) awaitPage(ctx context.Context, at resolvedFrame, call *cdp.Call) ([]byte, error) {
	began := time.Now()
	var limit <-chan time.Time
	if _, ok := ctx.Deadline(); !ok {
		timer := time.NewTimer(callTimeout)
		defer timer.Stop()
		limit = timer.C
	}
	replaced := at.document.Replaced()
	var err error
	for err == nil {
		select {
		case r := <-call.Replied():
			return r.Result, r.Err
		case <-at.dialogs:
			err = p.DialogFault()
		case <-at.lifetime.Done():
			err = at.lifetime.Err()
		case <-at.session.Done():
			// The frame left the process: no answer comes.
			err = p.awaitCause(ctx, at)
			if err == nil {
				err = fault.New(fault.PageNavigated, "the document was replaced during the call")
			}
		case <-replaced:
			// The answer shows whether the function had started. It comes at
			// once, if it comes: the process may have ended with the document.
			replaced = nil
			timer := time.NewTimer(documentWait)
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
			if !errors.Is(context.Cause(ctx), primitives.ErrAnswered) {
				p.interruptBlockingScript(ctx, at, began)
			}
		}
	}
	select {
	case r := <-call.Replied(): // it came before what ended the wait
		return r.Result, r.Err
	default:
	}
	p.client.Forget(call)
	return nil, err
}

const (
	// callTimeout bounds a page call whose context has no deadline.
	callTimeout  = 2 * time.Minute
	documentWait = 250 * time.Millisecond
	// StartProbeDelay is how long a call may take until it is found out whether it has
	// begun.
	StartProbeDelay = 20 * time.Millisecond
	// dueTimersAfter is when the library's due timers are run for the first time after
	// that, and dueTimersAtLeast the longest time between two such calls.
	dueTimersAfter   = 500 * time.Millisecond
	dueTimersAtLeast = 2 * time.Second
)

// makeWorld creates our isolated world of the frame.
func (p *Page) makeWorld(ctx context.Context, at resolvedFrame) (*world.World, error) {
	calls, err := p.client.Start(ctx, world.CreateCommand(at.session, at.id))
	if err != nil {
		return nil, err
	}
	result, err := p.awaitPage(ctx, at, calls[0])
	if err != nil {
		return nil, beforeStart(p.classify(ctx, at, err))
	}
	id, err := strconv.Atoi(string(cdp.Member(result, "executionContextId")))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "reading a context id")
	}
	return world.New(id), nil
}

// beginning makes a new world ours, where the document has been offered the library.
func (p *Page) beginning(at resolvedFrame, w *world.World) cdp.Command {
	prefix, from := p.refs.Begin(p.refFrame(at.id))
	return world.BeginCommand(at.session, w, prefix, from)
}

// begin makes a new world ours and sends the first call right behind. Where the document turns out to have been offered
// no library, the call was stale: it is sent once more, behind the library.
func (p *Page) begin(
	ctx context.Context, at resolvedFrame, w *world.World, call cdp.Command,
) (sent *cdp.Call, err error) {
	begin := p.beginning(at, w)
	began := false
	if p.offered.Load() && at.session == p.session {
		sent, began, err = p.tryBegin(ctx, at, w, begin, call)
	}
	if err != nil || began {
		return sent, err
	}
	sent, began, err = p.tryBegin(ctx, at, w, world.InstallCommand(at.session, w), begin, call)
	if err == nil && !began {
		err = fault.New(fault.Internal, "installing the page library failed")
	}
	return sent, err
}

// tryBegin sends commands of which the last is a call and the one before it begins the world.
func (p *Page) tryBegin(
	ctx context.Context, at resolvedFrame, w *world.World, commands ...cdp.Command,
) (call *cdp.Call, began bool, err error) {
	calls, err := p.client.Start(ctx, commands...)
	if err != nil {
		return nil, false, err
	}
	last := len(calls) - 1
	for _, c := range calls[:last] {
		result, err := p.awaitPage(ctx, at, c)
		if err != nil {
			p.client.Forget(calls...)
			at.document.Forget(w)
			return nil, false, beforeStart(p.classify(ctx, at, err))
		}
		if x := cdp.Member(result, "exceptionDetails"); x != nil {
			p.client.Forget(calls...)
			return nil, false, &fault.Error{
				Code:    fault.Internal,
				Message: "installing the page library failed",
				Err:     world.Exception(x),
			}
		}
		began = world.Began(result)
	}
	if !began {
		p.client.Forget(calls...)
	}
	return calls[last], began, nil
}

// offerMoved is offerLibrary for a tab that goes from document to document without a navigation of ours.
func (p *Page) offerMoved() {
	p.mu.Lock()
	moved := p.commits > 0
	p.mu.Unlock()
	if moved {
		p.offerLibrary()
	}
}

// offerLibrary gives the documents that come to the tab a function that installs the page library, once.
func (p *Page) offerLibrary() {
	if p.offered.CompareAndSwap(false, true) {
		p.client.Post(world.OfferCommand(p.session))
	}
}
