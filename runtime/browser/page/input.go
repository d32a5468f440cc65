package page

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// Input is always sent to the tab's own session: the browser finds the frame, also
// one in another process.

// Mouse implements primitives.Page.
func (p *Page) Mouse(ctx context.Context, events ...primitives.MouseEvent) error {
	if err := p.admitPointer(ctx, events); err != nil {
		return err
	}
	commands := make([]cdp.Command, 0, len(events))
	for _, e := range events {
		if e.Type == primitives.Touched {
			for _, params := range touchParams(e) {
				commands = append(commands, cdp.Command{
					Session: p.session.ID, Method: "Input.dispatchTouchEvent", Params: params,
				})
			}
			continue
		}
		commands = append(commands, cdp.Command{
			Session: p.session.ID, Method: "Input.dispatchMouseEvent", Params: mouseParams(e),
		})
	}
	return cdp.Explain(p.dispatch(ctx, commands, nil), "sending pointer events")
}

// Keys implements primitives.Page.
func (p *Page) Keys(ctx context.Context, events ...primitives.KeyEvent) error {
	if err := p.admitKeys(ctx, events); err != nil {
		return err
	}
	commands := make([]cdp.Command, len(events))
	delays := make([]time.Duration, len(events))
	for i, e := range events {
		commands[i] = cdp.Command{Session: p.session.ID, Method: "Input.dispatchKeyEvent", Params: keyParams(e)}
		delays[i] = e.Delay
		if e.Type == primitives.KeyUp {
			commands[i].Observe = p.observeRelease(commands[i])
		}
	}
	return cdp.Explain(p.dispatch(ctx, commands, delays), "sending key events")
}

// observeRelease sees the answer to the release of a key. While a dialog is
// open the browser drops input and answers at once; an event that came in time is
// answered when the dialog has closed. A page must not find its key pressed for ever, so
// a release that was dropped is sent again then.
func (p *Page) observeRelease(c cdp.Command) func(cdp.Reply) {
	return func(r cdp.Reply) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if r.Err == nil && p.dialog != nil {
			p.droppedReleases = append(p.droppedReleases, c)
		}
	}
}

// resendReleases is the reader's.
func (p *Page) resendReleases() {
	p.mu.Lock()
	owed := p.droppedReleases
	p.droppedReleases = nil
	p.mu.Unlock()
	if len(owed) > 0 {
		p.client.Post(owed...)
	}
}

// InsertText implements primitives.Page.
func (p *Page) InsertText(ctx context.Context, text string) error {
	if err := p.admitFocus(ctx); err != nil {
		return err
	}
	return cdp.Explain(p.dispatch(
		ctx, []cdp.Command{{Session: p.session.ID, Method: "Input.insertText", Params: cdp.Object("text", text)}}, nil,
	),
		"inserting text")
}

// dispatch sends input and waits until all of it was handled. Commands without a
// delay between them go out in one write.
//
// Input whose effect is a dialog, a new document or the end of the tab has been
// handled, though its answer may never come: the first two count as success.
func (p *Page) dispatch(ctx context.Context, commands []cdp.Command, delays []time.Duration) error {
	if len(commands) == 0 {
		return nil
	}
	primitives.BeforeInput(ctx)
	p.mu.Lock()
	if err := p.blockedReason(); err != nil {
		p.mu.Unlock()
		return err
	}
	l := p.lifetime
	dialogs := p.dialogs
	commits := p.commits
	p.inputUnreported = true
	p.mu.Unlock()
	var limit <-chan time.Time
	if _, ok := ctx.Deadline(); !ok {
		timer := time.NewTimer(cdp.CommandTimeout)
		defer timer.Stop()
		limit = timer.C
	}
	var sent []*cdp.Call
	defer func() { p.client.Forget(sent...) }()
	for first := 0; first < len(commands); {
		last := first
		for last < len(commands)-1 && (delays == nil || delays[last] == 0) {
			last++
		}
		calls, err := p.client.Start(ctx, commands[first:last+1]...)
		if err != nil {
			return err
		}
		sent = append(sent, calls...)
		first = last + 1
		if delays == nil || delays[last] <= 0 {
			continue
		}
		pause := time.NewTimer(delays[last])
		select {
		case <-pause.C:
		case <-dialogs:
			pause.Stop()
			sent = unobserved(sent)
			return nil
		case <-l.Done():
			pause.Stop()
			return l.Err()
		case <-ctx.Done():
			pause.Stop()
			return ctx.Err()
		}
	}
	for _, call := range sent {
		select {
		case r := <-call.Replied():
			if r.Err != nil {
				return p.interrupted(ctx, l, commits, r.Err)
			}
		case <-dialogs:
			sent = unobserved(sent)
			return nil
		case <-l.Done():
			return l.Err()
		case <-limit:
			return unhandled(context.DeadlineExceeded)
		case <-ctx.Done():
			p.awaitHandled(l, dialogs, sent)
			return unhandled(ctx.Err())
		}
	}
	p.refreshAfterInput()
	return nil
}

// awaitHandled waits until the page has handled input that was sent, but soon ends in any case: whoever gives a call up
// must not see it act later.
func (p *Page) awaitHandled(l *cdp.Lifetime, dialogs chan struct{}, sent []*cdp.Call) {
	soon := time.NewTimer(begunWithin)
	defer soon.Stop()
	for _, call := range sent {
		select {
		case <-call.Replied():
		case <-dialogs:
			return
		case <-l.Done():
			return
		case <-soon.C:
			p.waitedInVain.Store(time.Now().UnixNano())
			return
		}
	}
}

// unhandled is the end of the time of input that the page has.
func unhandled(err error) error {
	if !errors.Is(err, context.DeadlineExceeded) {
		return fault.Wrap(fault.Cancelled, err, "the call was cancelled when its input was sent").
			With("input_sent", true).Next("it took effect: read the page before you repeat it")
	}
	return fault.Wrap(
		fault.HandlerTimeout, err, "the page has the input, and a script of it did not end handling it in time",
	).With("input_sent", true).Next("it took effect: read the page before you repeat it, or give the call more time")
}

// unobserved is the calls whose answer nobody observes.
func unobserved(calls []*cdp.Call) []*cdp.Call {
	return slices.DeleteFunc(calls, func(call *cdp.Call) bool { return call.Observed() })
}

// interrupted decides what an error answer to input means: nothing, when the
// document was replaced after it was sent.
func (p *Page) interrupted(ctx context.Context, l *cdp.Lifetime, commits int, err error) error {
	var pe *cdp.Error
	if !errors.As(err, &pe) {
		return err
	}
	timer := time.NewTimer(documentWait)
	defer timer.Stop()
	for {
		changed := p.change.Wait()
		p.mu.Lock()
		moved := p.commits != commits || p.loading
		p.mu.Unlock()
		if moved {
			return nil
		}
		select {
		case <-changed:
		case <-l.Done():
			return l.Err()
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return err
		}
	}
}

func mouseParams(e primitives.MouseEvent) []byte {
	b := make([]byte, 0, 192)
	b = cdp.AppendQuoted(append(b, `{"type":`...), string(e.Type))
	b = strconv.AppendFloat(append(b, `,"x":`...), e.X, 'f', -1, 64)
	b = strconv.AppendFloat(append(b, `,"y":`...), e.Y, 'f', -1, 64)
	if e.Button != "" {
		b = cdp.AppendQuoted(append(b, `,"button":`...), e.Button)
	}
	b = appendInt(b, `,"buttons":`, e.Buttons)
	b = appendInt(b, `,"clickCount":`, e.ClickCount)
	b = appendInt(b, `,"modifiers":`, int(e.Modifiers))
	if e.Type == primitives.MouseWheel {
		b = strconv.AppendFloat(append(b, `,"deltaX":`...), e.DeltaX, 'f', -1, 64)
		b = strconv.AppendFloat(append(b, `,"deltaY":`...), e.DeltaY, 'f', -1, 64)
	}
	return append(b, `,"pointerType":"mouse"}`...)
}

// touchParams is a finger that comes down, and then none.
func touchParams(e primitives.MouseEvent) [][]byte {
	down := strconv.AppendFloat([]byte(`{"type":"touchStart","touchPoints":[{"x":`), e.X, 'f', -1, 64)
	down = strconv.AppendFloat(append(down, `,"y":`...), e.Y, 'f', -1, 64)
	return [][]byte{append(down, `}]}`...), []byte(`{"type":"touchEnd","touchPoints":[]}`)}
}

func keyParams(e primitives.KeyEvent) []byte {
	b := make([]byte, 0, 192)
	b = cdp.AppendQuoted(append(b, `{"type":`...), string(e.Type))
	b = appendInt(b, `,"modifiers":`, int(e.Modifiers))
	b = cdp.AppendQuoted(append(b, `,"key":`...), e.Key)
	if e.Code != "" {
		b = cdp.AppendQuoted(append(b, `,"code":`...), e.Code)
	}
	if e.KeyCode != 0 {
		b = appendInt(b, `,"windowsVirtualKeyCode":`, e.KeyCode)
		b = appendInt(b, `,"nativeVirtualKeyCode":`, e.KeyCode)
	}
	if e.Text != "" {
		b = cdp.AppendQuoted(append(b, `,"text":`...), e.Text)
		b = cdp.AppendQuoted(append(b, `,"unmodifiedText":`...), e.Text)
	}
	b = appendInt(b, `,"location":`, e.Location)
	if e.Location == 3 {
		b = append(b, `,"isKeypad":true`...)
	}
	return append(b, '}')
}

// appendInt leaves zero out: it is the protocol's default everywhere here.
func appendInt(b []byte, name string, n int) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), int64(n), 10)
}
