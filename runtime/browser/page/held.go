package page

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const (
	// blockedFor is how long a script may block the page's thread before a call that ran out of
	// its time on it ends what runs there. A script that takes half a second takes
	// several times that on a machine under load, and is not to be ended there.
	blockedFor = 2 * time.Second
	// blockedProbe is how long an empty call may take to be answered meanwhile.
	blockedProbe = 500 * time.Millisecond
	// begunWithin is how long whoever gives a call up waits at most until the page has begun it, or handled its input.
	begunWithin = 150 * time.Millisecond
)

// interruptBlockingScript ends what blocks the page's thread after a call on it ran out
// of its time: a loop without an end, of the page's or of a call of ours, would keep
// every later call waiting too. A thread that answers an empty call is left alone, and
// so is one that was blocked for less than blockedFor. began is when the call was sent.
//
// Of a primitive that acts it returns when the empty call is answered, but soon in any case. A session runs its
// commands in order: after the answer the call that was given up does not begin any more.
func (p *Page) interruptBlockingScript(ctx context.Context, at resolvedFrame, began time.Time) {
	answered := make(chan struct{})
	p.client.Post(cdp.Command{
		Session: at.session.ID,
		Method:  "Runtime.evaluate",
		Params:  []byte(`{"expression":"0"}`),
		OnReply: func(cdp.Reply) { close(answered) },
	})
	wait := time.Duration(0)
	inVain := time.Since(time.Unix(0, p.waitedInVain.Load())) < blockedProbe
	if primitives.IsActing(ctx) && !inVain { // once is enough: the answer is due
		wait = begunWithin
	}
	soon := time.NewTimer(wait)
	defer soon.Stop()
	select {
	case <-answered:
		return
	case <-at.lifetime.Done():
		return
	case <-at.session.Done():
		return
	case <-at.dialogs:
		return
	case <-soon.C:
	}
	if !p.interrupting.CompareAndSwap(false, true) {
		return // another call is about to
	}
	time.AfterFunc(max(blockedProbe, blockedFor-time.Since(began)), func() {
		defer p.interrupting.Store(false)
		select {
		case <-answered:
			return
		default:
		}
		if p.navigating() { // a server that is silent keeps every call waiting, and none blocks
			return
		}
		select {
		case <-at.document.Replaced(): // between two documents no call is answered, and none blocks
			return
		case <-at.session.Done():
			return
		default:
		}
		if _, open := p.Dialog(); open {
			return
		}
		p.client.Post(cdp.Command{Session: at.session.ID, Method: "Runtime.terminateExecution", Params: []byte("{}")})
	})
}
