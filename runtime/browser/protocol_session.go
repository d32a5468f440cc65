package browser

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// ProtocolSession is a DevTools session of somebody else on a tab or on the browser: what is turned on in it changes
// nothing of ours, and its events come to nobody else. It ends with the tab. The sessions that are attached to within
// it are a part of it.
type ProtocolSession struct {
	browser *Browser
	session *cdp.Session
	root    *ProtocolSession // that this one was attached to within; nil for one that OpenProtocol has opened
	onEvent func(session, method string, params json.RawMessage)

	abandoned atomic.Bool
}

// detachWithin bounds the end of a session.
const detachWithin = 2 * time.Second

// OpenProtocol opens a session on the tab. onEvent is called by the reader for each of its events: it must not wait for
// anything, and may keep what it gets. session is "" for the session's own events, else the id of one within it.
func (t *Tab) OpenProtocol(
	ctx context.Context, onEvent func(session, method string, params json.RawMessage),
) (*ProtocolSession, error) {
	params := append(cdp.AppendQuoted([]byte(`{"flatten":true,"targetId":`), t.TargetID()), '}')
	return t.browser.openProtocol(ctx, "Target.attachToTarget", params, onEvent)
}

// OpenProtocol opens a session on the browser itself, as Tab.OpenProtocol does on a tab.
func (b *Browser) OpenProtocol(
	ctx context.Context, onEvent func(session, method string, params json.RawMessage),
) (*ProtocolSession, error) {
	return b.openProtocol(ctx, "Target.attachToBrowserTarget", []byte("{}"), onEvent)
}

func (b *Browser) openProtocol(
	ctx context.Context, method string, params []byte, onEvent func(session, method string, params json.RawMessage),
) (*ProtocolSession, error) {
	p := &ProtocolSession{browser: b, onEvent: onEvent}
	attach := cdp.Command{
		Method: method,
		Params: params,
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
		return nil, fault.New(fault.TabClosed, "the browser opened no session")
	}
	return p, nil
}

// Do sends a command to the session with an id within p, to p itself with "". What the browser says of one that it
// refuses is in the evidence: browser_says, browser_code and browser_data.
func (p *ProtocolSession) Do(
	ctx context.Context, session, method string, params json.RawMessage,
) (json.RawMessage, error) {
	to := p
	if session != "" && session != p.session.ID {
		found, _ := p.browser.protocols.Load(session)
		within, ok := found.(*ProtocolSession)
		if !ok || within.root != p {
			return nil, fault.New(fault.TabClosed, "there is no such session within this one, or it has ended")
		}
		to = within
	}
	if len(params) == 0 {
		params = []byte("{}")
	}
	calls, err := p.browser.client.Start(ctx, cdp.Command{Session: to.session.ID, Method: method, Params: params})
	if err != nil {
		return nil, err
	}
	closed := cdp.LifetimeOf(to.session, fault.New(fault.TabClosed, "the session of the protocol has ended"))
	out, err := p.browser.client.Await(ctx, closed, calls[0])
	var refused *cdp.Error
	if errors.As(err, &refused) {
		e := fault.New(fault.InvalidArguments, "the browser refused %s", method).
			With("method", method).With("browser_says", refused.Message).With("browser_code", refused.Code)
		if refused.Data != "" {
			e = e.With("browser_data", refused.Data)
		}
		return nil, e
	}
	return out, err
}

// ID is the session's id in the protocol.
func (p *ProtocolSession) ID() string { return p.session.ID }

// Done is closed when the session has ended.
func (p *ProtocolSession) Done() <-chan struct{} { return p.session.Done() }

// Close ends the session, with those within it.
func (p *ProtocolSession) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), detachWithin)
	defer cancel()
	params := map[string]string{"sessionId": p.session.ID}
	_ = p.browser.client.Do(ctx, "", "Target.detachFromTarget", params, nil) // it may have ended
}

// onProtocolEvent gives an event to the session that it is for. The reader calls it.
func (b *Browser) onProtocolEvent(id string, method, params []byte) bool {
	found, ok := b.protocols.Load(id)
	if !ok {
		return false
	}
	p := found.(*ProtocolSession)
	root, within := p, ""
	if p.root != nil {
		root, within = p.root, id
	}
	switch string(method) {
	case "Target.attachedToTarget":
		child := string(cdp.PlainString(cdp.Member(params, "sessionId")))
		b.protocols.Store(child, &ProtocolSession{browser: b, session: cdp.NewSession(child, id, ""), root: root})
	case "Target.detachedFromTarget":
		b.endProtocol(string(cdp.PlainString(cdp.Member(params, "sessionId"))))
	}
	root.onEvent(within, string(method), append(json.RawMessage(nil), params...))
	return true
}

// endProtocol ends a session that the browser has detached, with those within it. The reader calls it.
func (b *Browser) endProtocol(id string) bool {
	p, ok := b.protocols.LoadAndDelete(id)
	if !ok {
		return false
	}
	p.(*ProtocolSession).session.Detach()
	b.protocols.Range(func(child, p any) bool {
		if p.(*ProtocolSession).session.Parent == id {
			b.endProtocol(child.(string))
		}
		return true
	})
	return true
}

// endProtocols ends all sessions with the browser, when the reader has ended.
func (b *Browser) endProtocols() {
	b.protocols.Range(func(id, _ any) bool {
		b.endProtocol(id.(string))
		return true
	})
}
