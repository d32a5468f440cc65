package bridgeclient

import (
	"sync"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// callKey is what makes two calls of a peer the same call.
type callKey struct{ runtime, id string }

// record is one call from its arrival until its answer is forgotten.
type record struct {
	key    callKey
	call   *Call
	digest uint64
	since  time.Time

	// Protected by ledger.mu.
	cancel   func()
	unwanted bool   // cancelled before it started
	frame    []byte // the answer; nil while there is none, or when it was let go
	answered time.Time
	progress runtime.Progress
	unsent   bool // progress has not been reported yet
	reported bool // some progress has
}

// ledger knows every call that is running or was answered recently.
type ledger struct {
	keep     time.Duration
	maxBytes int // of stored answers

	mu       sync.Mutex
	calls    map[callKey]*record
	pending  int
	held     int       // bytes of the calls that are pending
	old      []*record // answered, oldest first
	stripped int       // how many at the front of old have lost their frame
	bytes    int
	changed  chan struct{} // closed and replaced when pending shrinks
}

// maxStored bounds the bytes of answers stored for a repeated call, the newest
// answer not counted: a bridge repeats its last call. The records
// themselves stay, so that a call whose answer was let go is refused rather
// than executed twice.
const maxStored = 8 << 20

// maxHeld bounds the bytes of the calls that were accepted and not answered.
const maxHeld = 64 << 20

// maxRecords bounds the records of answered calls.
const maxRecords = 20_000

func newLedger(keep time.Duration) *ledger {
	return &ledger{keep: keep, maxBytes: maxStored, calls: map[callKey]*record{}, changed: make(chan struct{})}
}

// arrival is what the ledger says about a call.
type arrival int

const (
	isNew arrival = iota
	isRunning
	isAnswered  // frame has the answer
	isForgotten // it was answered; the answer is not kept
	isOther     // the id belongs to another call
	isTooMany
)

// arrive enters call, unless it is known or too many are pending.
func (l *ledger) arrive(call *Call, limit int) (*record, arrival) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget(time.Now())
	key := callKey{call.RuntimeID, call.ID}
	if r, ok := l.calls[key]; ok {
		switch {
		case r.digest != call.Digest && r.digest != 0 && call.Digest != 0:
			return r, isOther
		case r.answered.IsZero():
			return r, isRunning
		case r.frame == nil:
			return r, isForgotten
		}
		return r, isAnswered
	}
	if l.pending >= limit || l.held > 0 && l.held+len(call.frame) > maxHeld {
		return nil, isTooMany
	}
	r := &record{key: key, call: call, digest: call.Digest, since: time.Now()}
	l.calls[key] = r
	l.pending++
	l.held += len(call.frame)
	return r, isNew
}

// stored returns the stored answer of r.
func (l *ledger) stored(r *record) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return r.frame
}

// started keeps how to cancel r, or cancels it when nobody waits for it any more.
// The call may have been answered already.
func (l *ledger) started(r *record, cancel func()) {
	l.mu.Lock()
	if r.answered.IsZero() {
		r.cancel = cancel
	}
	unwanted := r.unwanted
	l.mu.Unlock()
	if unwanted {
		cancel()
	}
}

// cancel cancels a call that runs or waits. Its answer is sent all the same.
func (l *ledger) cancel(key callKey) {
	l.mu.Lock()
	var cancel func()
	if r := l.calls[key]; r != nil && r.answered.IsZero() {
		r.unwanted, cancel = true, r.cancel
	}
	l.mu.Unlock()
	if cancel != nil {
		cancel()
	}
}

// answer stores the answer of r and reports whether it is the first.
func (l *ledger) answer(r *record, frame []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.answered.IsZero() {
		return false
	}
	r.answered = time.Now()
	r.frame = frame
	r.cancel = nil
	r.unsent = false
	l.held -= len(r.call.frame)
	r.call = &Call{ID: r.call.ID, RuntimeID: r.call.RuntimeID, Type: r.call.Type} // lets the arguments go
	l.pending--
	l.old = append(l.old, r)
	l.bytes += len(frame)
	for ; l.bytes > l.maxBytes && l.stripped < len(l.old)-1; l.stripped++ {
		l.bytes -= len(l.old[l.stripped].frame)
		l.old[l.stripped].frame = nil
	}
	close(l.changed)
	l.changed = make(chan struct{})
	return true
}

// forget drops records that were kept long enough. mu is held.
func (l *ledger) forget(now time.Time) {
	n := 0
	for n < len(l.old) && (now.Sub(l.old[n].answered) > l.keep || len(l.old)-n > maxRecords) {
		l.bytes -= len(l.old[n].frame)
		delete(l.calls, l.old[n].key)
		l.old[n] = nil
		n++
	}
	l.old = l.old[n:]
	l.stripped = max(0, l.stripped-n)
}

// reached notes the progress of r and reports whether it is to be sent now: when
// it is the first and first says so, or the call runs for long enough.
func (l *ledger) reached(r *record, p runtime.Progress, first bool, after time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !r.answered.IsZero() {
		return false
	}
	r.progress = p
	r.unsent = time.Since(r.since) < after && (r.reported || !first)
	r.reported = r.reported || !r.unsent
	return !r.unsent
}

// overdue returns the calls whose progress has become worth reporting.
func (l *ledger) overdue(after time.Duration) map[*Call]runtime.Progress {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out map[*Call]runtime.Progress
	for _, r := range l.calls {
		if r.unsent && time.Since(r.since) >= after {
			if out == nil {
				out = map[*Call]runtime.Progress{}
			}
			out[r.call] = r.progress
			r.unsent = false
		}
	}
	return out
}

// cancelAll cancels everything that runs.
func (l *ledger) cancelAll() {
	l.mu.Lock()
	var cancels []func()
	for _, r := range l.calls {
		if r.cancel != nil {
			cancels = append(cancels, r.cancel)
		}
	}
	l.mu.Unlock()
	for _, c := range cancels {
		c()
	}
}

// unanswered returns the calls that run, and a channel that is closed when
// that changes.
func (l *ledger) unanswered() ([]*record, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []*record
	if l.pending > 0 {
		for _, r := range l.calls {
			if r.answered.IsZero() {
				out = append(out, r)
			}
		}
	}
	return out, l.changed
}
