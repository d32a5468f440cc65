package browser

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/inject"
)

// worldName is the name of our isolated world in every frame.
const worldName = "outrider"

// document is what belongs to one document of a frame: its isolated world and
// the frames that its elements show.
type document struct {
	gone chan struct{} // closed when the document was replaced or its frame removed

	building chan struct{} // held while the world is made

	mu      sync.Mutex
	world   *world
	byFrame map[primitives.FrameID]string // handle of the element that shows a frame
	byName  map[string]primitives.FrameID // the reverse
}

// world is our isolated world in one document.
//
// Context ids are numbered per renderer process, so the id of a document that
// was replaced can name some other context for a moment, even one of the page's
// own world. The token tells them apart: it is set when the library is
// installed and checked by each call.
type world struct {
	context int
	token   string
}

func newDocument() *document {
	return &document{gone: make(chan struct{}), building: make(chan struct{}, 1)}
}

// end marks the document as replaced. Only the reader calls it.
func (d *document) end() {
	select {
	case <-d.gone:
	default:
		close(d.gone)
	}
}

func (d *document) current() *world {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.world
}

// begun notes that w has the library, or will have it before what is sent next.
func (d *document) begun(w *world) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.world = w
}

// forget drops w: its context is not there any more.
func (d *document) forget(w *world) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.world == w {
		d.world = nil
		d.byFrame, d.byName = nil, nil
	}
}

// errStale means that a call reached no context of ours and so did nothing.
var errStale = errors.New("the document was replaced before the call reached it")

// maxMoves bounds how often one call follows a frame into a new document.
const maxMoves = 20

// place is where a call goes.
type place struct {
	s    *session
	doc  *document
	life *life
	// dialogs is closed when a dialog opens.
	dialogs chan struct{}
	id      primitives.FrameID
}

// locate finds a frame, and waits while it is between two processes.
func (t *Tab) locate(ctx context.Context, id primitives.FrameID) (place, error) {
	for {
		changed := t.change.wait()
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
		case <-l.over:
			return place{}, l.err
		case <-ctx.Done():
			return place{}, ctx.Err()
		}
	}
}

// Call implements primitives.Page.
func (t *Tab) Call(ctx context.Context, frame primitives.FrameID, fn string, args, out any) error {
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
	answer, err := t.inWorld(ctx, frame, func(token string) invocation {
		return question(token, fn, encoded)
	})
	if err != nil {
		return t.b.explain(err, "calling "+fn)
	}
	if next := refsGiven(answer); next > 0 {
		t.refs.Given(t.refFrame(frame), next)
	}
	return decodeAnswer(fn, answer, out)
}

// refsGiven reads how far the refs of a document have come, 0 when the answer
// gave none. It stands at the beginning of the answer.
func refsGiven(remote []byte) int {
	value, usual := bytes.CutPrefix(remote, stringRemote)
	if !usual {
		value = member(remote, "value")
	}
	for _, head := range []string{`"{\"ok\":true,\"refs\":`, `"{\"ok\":false,\"refs\":`} {
		if rest, ok := bytes.CutPrefix(value, []byte(head)); ok {
			digits := rest[:min(len(rest), 16)]
			if end := bytes.IndexByte(digits, ','); end > 0 {
				n, err := strconv.Atoi(string(digits[:end]))
				if err == nil && n > 0 {
					return n
				}
			}
		}
	}
	return 0
}

// staleAnswer is what a call says that came into another world than it was meant for.
const staleAnswer = `{"stale":true}`

// question is the invocation of a function of the page library. It is an
// expression, because Runtime.callFunctionOn compiles each of its arguments as a
// script of its own: that takes 15 to 20 µs more.
func question(token, fn string, args []byte) invocation {
	b := make([]byte, 0, 384+len(args)+len(args)/4)
	b = append(append(b, `{"expression":"globalThis.outriderWorld!=='`...), token...)
	b = appendLiteral(append(b, `'?'{\"stale\":true}':outrider('`...), []byte(fn))
	b = appendLiteral(append(b, `','`...), args)
	return invocation{evaluate: append(b, `')","awaitPromise":true,"returnByValue":true`...)}
}

// invocation is one Runtime.callFunctionOn in our world or on an object of it, or
// one Runtime.evaluate there.
type invocation struct {
	evaluate []byte // the parameters of Runtime.evaluate but the context, when it is that
	function string
	args     []string
	object   string // "" calls in the world's global scope
	byValue  bool
	// bare needs our world but not the library. In a new document it does not wait
	// for the library to be installed, which goes on behind it.
	bare bool
	// heard, when set, is called by the reader with the answer.
	heard func(reply)
}

func (v invocation) command(s *session, w *world) command {
	if v.evaluate != nil {
		b := strconv.AppendInt(append(v.evaluate, `,"contextId":`...), int64(w.context), 10)
		return command{session: s.id, method: "Runtime.evaluate", params: append(b, '}')}
	}
	n := 256 + len(v.function)
	for _, a := range v.args {
		n += len(a) + len(a)/8
	}
	b := make([]byte, 0, n)
	b = append(b, `{"functionDeclaration":`...)
	b = appendQuoted(b, v.function)
	if v.object != "" {
		b = appendQuoted(append(b, `,"objectId":`...), v.object)
	} else {
		b = strconv.AppendInt(append(b, `,"executionContextId":`...), int64(w.context), 10)
	}
	b = append(b, `,"arguments":[`...)
	for i, a := range v.args {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendQuoted(append(b, `{"value":`...), a), '}')
	}
	b = append(b, `],"awaitPromise":true,"returnByValue":`...)
	b = strconv.AppendBool(b, v.byValue)
	if !v.byValue {
		b = append(b, `,"objectGroup":"outrider"`...)
	}
	return command{session: s.id, method: "Runtime.callFunctionOn", params: append(b, '}'), heard: v.heard}
}

// inWorld runs what make returns in our world of a frame, in the document that
// is there when it starts, and returns the raw result member of the answer.
func (t *Tab) inWorld(ctx context.Context, frame primitives.FrameID, make func(token string) invocation) ([]byte, error) {
	for range maxMoves {
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

func (t *Tab) invoke(ctx context.Context, p place, make func(token string) invocation) ([]byte, error) {
	w := p.doc.current()
	var install, calls []*call
	behind := false // the library is installed behind the call
	release := func() {}
	var err error
	if w != nil {
		calls, err = t.b.c.start(ctx, make(w.token).command(p.s, w))
	} else {
		select {
		case p.doc.building <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-p.life.over:
			return nil, p.life.err
		case <-p.dialogs:
			return nil, t.dialogFault()
		}
		release = sync.OnceFunc(func() { <-p.doc.building })
		if w = p.doc.current(); w != nil { // somebody else made it meanwhile
			release()
			calls, err = t.b.c.start(ctx, make(w.token).command(p.s, w))
		} else {
			defer release()
			if w, err = t.makeWorld(ctx, p); err != nil {
				return nil, err
			}
			begin, v := t.beginning(p, w), make(w.token)
			if behind = v.bare; behind {
				begin[0].then, begin[1].then = t.b.c.ignore("installing the page library"), t.b.c.ignore("beginning a document")
				calls, err = t.b.c.start(ctx, append([]command{v.command(p.s, w)}, begin...)...)
			} else if calls, err = t.b.c.start(ctx, append(begin, v.command(p.s, w))...); err == nil {
				install, calls = calls[:2], calls[2:]
			}
		}
	}
	if err != nil {
		return nil, err
	}
	primitives.Sent(ctx)
	if install != nil {
		defer t.b.c.drop(calls...)
		for i, c := range install {
			result, err := t.awaitPage(ctx, p, c)
			if err != nil {
				t.b.c.drop(install[i:]...)
				return nil, unstarted(t.classify(ctx, p, err))
			}
			if x := member(result, "exceptionDetails"); x != nil {
				t.b.c.drop(install[i:]...)
				return nil, &fault.Error{Code: fault.Internal, Message: "installing the page library failed", Err: exception(x)}
			}
		}
		p.doc.begun(w)
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
			p.doc.forget(w)
		}
		return nil, err
	}
	value, thrown := evaluated(result)
	if thrown != nil {
		return nil, &fault.Error{Code: fault.HandlerFailed, Message: "the page library threw", Err: exception(thrown)}
	}
	if bytes.Contains(value[:min(len(value), 64)], []byte(`{\"stale\":true}`)) {
		p.doc.forget(w)
		return nil, errStale
	}
	if behind {
		// Commands run in order, so a call that follows finds the library. Should it
		// not be there, the call finds no token either, and begins anew.
		p.doc.begun(w)
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
func (t *Tab) watchStart(p place, w *world) func() bool {
	var seen, over atomic.Bool
	var mu sync.Mutex
	var timer *time.Timer
	next := nudgeAfter
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(probeAfter, func() {
		if over.Load() {
			return
		}
		cmd := invocation{function: nudgeFunction, byValue: true}.command(p.s, w)
		cmd.then = func(r reply) {
			if r.err != nil || over.Load() {
				return
			}
			seen.Store(true)
			mu.Lock()
			defer mu.Unlock()
			timer.Reset(next)
			next = min(2*next, nudgeAtLeast)
		}
		t.b.c.post(cmd)
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
func (t *Tab) awaitPage(ctx context.Context, p place, c *call) ([]byte, error) {
	began := time.Now()
	var limit <-chan time.Time
	if _, ok := ctx.Deadline(); !ok {
		timer := time.NewTimer(callCap)
		defer timer.Stop()
		limit = timer.C
	}
	gone := (<-chan struct{})(p.doc.gone)
	var err error
	for err == nil {
		select {
		case r := <-c.done:
			return r.result, r.err
		case <-p.dialogs:
			err = t.dialogFault()
		case <-p.life.over:
			err = p.life.err
		case <-p.s.gone:
			// The frame left the process: no answer comes any more.
			if err = t.awaitNews(ctx, p); err == nil {
				err = fault.New(fault.PageNavigated, "the document was replaced during the call")
			}
		case <-gone:
			// The answer says whether the function had started. It comes at
			// once, if it comes: the process may be gone with the document.
			gone = nil
			timer := time.NewTimer(graceAfterDocument)
			defer timer.Stop()
			limit = timer.C
		case <-limit:
			if gone == nil {
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
	case r := <-c.done: // it came before what ended the wait
		return r.result, r.err
	default:
	}
	t.b.c.drop(c)
	return nil, err
}

const (
	// callCap bounds a page call whose context has no deadline.
	callCap            = 2 * time.Minute
	graceAfterDocument = 250 * time.Millisecond
	// probeAfter is when a call is asked whether it has begun.
	probeAfter = 20 * time.Millisecond
	// nudgeAfter is when the library's timers are rung for the first time after
	// that, and nudgeAtLeast the longest time between two rings.
	nudgeAfter   = 500 * time.Millisecond
	nudgeAtLeast = 2 * time.Second
)

// makeWorld asks for our isolated world of the frame.
func (t *Tab) makeWorld(ctx context.Context, p place) (*world, error) {
	cmd := command{session: p.s.id, method: "Page.createIsolatedWorld", params: worldParams(p.id)}
	calls, err := t.b.c.start(ctx, cmd)
	if err != nil {
		return nil, err
	}
	result, err := t.awaitPage(ctx, p, calls[0])
	if err != nil {
		return nil, unstarted(t.classify(ctx, p, err))
	}
	id, err := strconv.Atoi(string(member(result, "executionContextId")))
	if err != nil {
		return nil, fault.Wrap(fault.Internal, err, "reading a context id")
	}
	return &world{context: id, token: newToken()}, nil
}

func worldParams(id primitives.FrameID) []byte {
	return object("frameId", string(id), "worldName", worldName)
}

// beginning makes a new world ours.
func (t *Tab) beginning(p place, w *world) []command {
	prefix, from := t.refs.Begin(t.refFrame(p.id))
	return []command{installCommand(p.s, w), beginCommand(p.s, w, prefix, from)}
}

// installCommand installs the page library, which does nothing where it is
// installed already. Its text is the same each time: the browser compiles it
// once for a process, which saves more than half of what it costs.
func installCommand(s *session, w *world) command {
	source := library()
	b := make([]byte, 0, len(source)+64)
	b = append(b, `{"expression":`...)
	b = append(b, source...)
	return evaluateQuietly(s, w, b)
}

// beginCommand sets the token of a world, and says where the refs of its
// document begin.
func beginCommand(s *session, w *world, refPrefix string, refFrom int) command {
	b := append([]byte(`{"expression":"globalThis.outriderWorld='`), w.token...)
	b = append(append(b, `';globalThis.outrider.numberRefs('`...), refPrefix...)
	b = strconv.AppendInt(append(b, `',`...), int64(refFrom), 10)
	return evaluateQuietly(s, w, append(b, `)"`...))
}

func evaluateQuietly(s *session, w *world, params []byte) command {
	params = append(params, `,"returnByValue":true,"silent":true,"contextId":`...)
	params = strconv.AppendInt(params, int64(w.context), 10)
	return command{session: s.id, method: "Runtime.evaluate", params: append(params, '}')}
}

// library is the page library as a JSON string, encoded once. It is full of
// arrows, which json.Marshal would write as six bytes each.
var library = sync.OnceValue(func() string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(inject.Library() + "\n"); err != nil {
		panic(err) // a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
})

var tokens = struct {
	mu   sync.Mutex
	last uint64
}{}

// newToken gives a text that no page can guess: a script of a page could run in a
// world whose context id was given again, and there learn a hash of the expression
// that our question is.
func newToken() string {
	tokens.mu.Lock()
	defer tokens.mu.Unlock()
	tokens.last++
	return tokenPrefix + "." + strconv.FormatUint(tokens.last, 36)
}

var tokenPrefix = rand.Text()
