package page

import (
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const (
	// blockedFor is how long a script may block the page's thread before a call that ran out of
	// its time on it ends what runs there. A script that takes half a second takes
	// several times that on a machine under load, and is not to be ended there.
	blockedFor = 2 * time.Second
	// blockedProbe is how long an empty call may take to be answered meanwhile.
	blockedProbe = 500 * time.Millisecond
)

// interruptBlockingScript ends what blocks the page's thread after a call on it ran out
// of its time: a loop without an end, of the page's or of a call of ours, would keep
// every later call waiting too. A thread that answers an empty call is left alone, and
// so is one that was blocked for less than blockedFor. began is when the call was sent.
func (p *Page) interruptBlockingScript(at resolvedFrame, began time.Time) {
	if !p.interrupting.CompareAndSwap(false, true) {
		return // another call is about to
	}
	var answered atomic.Bool
	p.client.Post(cdp.Command{
		Session: at.session.ID,
		Method:  "Runtime.evaluate",
		Params:  []byte(`{"expression":"0"}`),
		OnReply: func(cdp.Reply) { answered.Store(true) },
	})
	time.AfterFunc(max(blockedProbe, blockedFor-time.Since(began)), func() {
		defer p.interrupting.Store(false)
		if answered.Load() || p.navigating() { // a server that is silent keeps every call waiting, and none blocks
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
