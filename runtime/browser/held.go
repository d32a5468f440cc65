package browser

import (
	"sync/atomic"
	"time"
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
func (t *Tab) endHeld(p place, began time.Time) {
	if !t.ending.CompareAndSwap(false, true) {
		return // another call is about to
	}
	var answered atomic.Bool
	t.b.c.post(command{session: p.s.id, method: "Runtime.evaluate", params: []byte(`{"expression":"0"}`), then: func(reply) { answered.Store(true) }})
	time.AfterFunc(max(heldProbe, heldFor-time.Since(began)), func() {
		defer t.ending.Store(false)
		if answered.Load() {
			return
		}
		select {
		case <-p.doc.gone: // between two documents no call is answered, and none held
			return
		case <-p.s.gone:
			return
		default:
		}
		if _, open := t.Dialog(); open {
			return
		}
		t.b.c.post(command{session: p.s.id, method: "Runtime.terminateExecution", params: []byte("{}")})
	})
}
