package browser

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// ProtocolSession is a DevTools session of somebody else on a tab: what is turned on in it changes nothing of ours, and
// its events come to nobody else. It ends with the tab.
type ProtocolSession struct {
	browser *Browser
	session *cdp.Session
	onEvent func(method string, params json.RawMessage)

	abandoned atomic.Bool
}

// detachWithin bounds the end of a session.
const detachWithin = 2 * time.Second

// OpenProtocol opens a session on the tab. onEvent is called by the reader for each of its events: it must not wait for
// anything, and may keep what it gets.
func (t *Tab) OpenProtocol(
	ctx context.Context, onEvent func(method string, params json.RawMessage),
) (*ProtocolSession, error) {
	b := t.browser
	p := &ProtocolSession{browser: b, onEvent: onEvent}
	attach := cdp.Command{
		Method: "Target.attachToTarget",
		Params: append(cdp.AppendQuoted([]byte(`{"flatten":true,"targetId":`), t.TargetID()), '}'),
		Observe: func(r cdp.Reply) { // the reader's: before the first event
			id := string(cdp.PlainString(cdp.Member(r.Result, "sessionId")))
			switch {
			case r.Err != nil || id == "":
			case p.abandoned.Load():
				b.client.Post(cdp.Command{Method: "Target.detachFromTarget", Params: cdp.Object("sessionId", id)})
			default:
				p.session = cdp.NewSession(id, "", "")
				b.protocols.Store(id, p)
			}
		},
	}
	calls, err := b.client.Start(ctx, attach)
	if err != nil {
		return nil, err
	}
	if _, err := b.client.Wait(ctx, calls[0]); err != nil {
		p.abandoned.Store(true) // one that comes late is ended at once
		return nil, err
	}
	if p.session == nil {
		return nil, fault.New(fault.TabClosed, "the browser opened no session on the tab")
	}
	return p, nil
}

// Do sends a command. What the browser says of one that it refuses is in the evidence, as browser_says.
func (p *ProtocolSession) Do(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if len(params) == 0 {
		params = []byte("{}")
	}
	calls, err := p.browser.client.Start(ctx, cdp.Command{Session: p.session.ID, Method: method, Params: params})
	if err != nil {
		return nil, err
	}
	closed := cdp.LifetimeOf(p.session, fault.New(fault.TabClosed, "the session on the tab has ended"))
	out, err := p.browser.client.Await(ctx, closed, calls[0])
	if text, refused := cdp.Message(err); refused {
		return nil, fault.New(fault.InvalidArguments, "the browser refused %s", method).
			With("method", method).With("browser_says", text)
	}
	return out, err
}

// ID is the session's id in the protocol.
func (p *ProtocolSession) ID() string { return p.session.ID }

// Done is closed when the session has ended.
func (p *ProtocolSession) Done() <-chan struct{} { return p.session.Done() }

// Close ends the session.
func (p *ProtocolSession) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), detachWithin)
	defer cancel()
	params := map[string]string{"sessionId": p.session.ID}
	_ = p.browser.client.Do(ctx, "", "Target.detachFromTarget", params, nil) // it may have ended
}

// onProtocolEvent gives an event to the session that it is for. The reader calls it.
func (b *Browser) onProtocolEvent(id string, method, params []byte) bool {
	p, ok := b.protocols.Load(id)
	if !ok {
		return false
	}
	p.(*ProtocolSession).onEvent(string(method), append(json.RawMessage(nil), params...))
	return true
}

// endProtocol ends a session that the browser has detached. The reader calls it.
func (b *Browser) endProtocol(id string) bool {
	p, ok := b.protocols.LoadAndDelete(id)
	if ok {
		p.(*ProtocolSession).session.Detach()
	}
	return ok
}

// endProtocols ends all sessions with the browser, when the reader has ended.
func (b *Browser) endProtocols() {
	b.protocols.Range(func(id, _ any) bool {
		b.endProtocol(id.(string))
		return true
	})
}
