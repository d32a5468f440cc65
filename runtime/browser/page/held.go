package page

import (
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const (
	// heldFor is how long a page may hold its thread before a call that ran out of
	// its time on it ends what runs there.
	heldFor = time.Second
	// heldProbe is how long an empty call may take to be answered meanwhile.
	heldProbe = 250 * time.Millisecond
)

// endHeld ends what holds the page's thread after a call on it ran out of its time:
// a loop without an end, of the page's or of a question of ours, would keep every
// later call waiting too. A thread that answers an empty call is left alone, and so
// is one that was held for less than heldFor. began is when the call was sent.
func (t *Page) endHeld(p place, began time.Time) {
	if !t.ending.CompareAndSwap(false, true) {
		return // another call is about to
	}
	var answered atomic.Bool
	t.client.Post(cdp.Command{Session: p.s.ID, Method: "Runtime.evaluate", Params: []byte(`{"expression":"0"}`), OnReply: func(cdp.Reply) { answered.Store(true) }})
	time.AfterFunc(max(heldProbe, heldFor-time.Since(began)), func() {
		defer t.ending.Store(false)
		if answered.Load() {
			return
		}
		select {
		case <-p.doc.Replaced(): // between two documents no call is answered, and none held
			return
		case <-p.s.Done():
			return
		default:
		}
		if _, open := t.Dialog(); open {
			return
		}
		t.client.Post(cdp.Command{Session: p.s.ID, Method: "Runtime.terminateExecution", Params: []byte("{}")})
	})
}
