package bridgeclient

import (
	"context"
	"slices"
	"sync"
	"time"
)

// itemKind decides what may happen to an item that waits.
type itemKind int

const (
	// answers survive the connection until they are known to have arrived.
	answers itemKind = iota
	// announcements (ready, removed) are written or superseded; the next
	// connection makes its own.
	announcements
	// statuses (status, progress) are superseded by a newer one.
	statuses
	// events are counted and dropped beyond a limit.
	events
	// urgent items overtake everything that waits.
	urgent
	// others (refusals without a call) go in order and die with the connection.
	others
)

type item struct {
	kind  itemKind
	key   string // what a newer item of the same key supersedes; "" nothing
	gone  bool   // announcements: takes back instead of announcing
	frame []byte
	at    time.Time
	seq   uint64
	// written, when not nil, is called by the writer after the frame went out.
	written func()
}

// cost is what an item weighs against the limit in bytes: many small answers
// must not pass below it.
func (it *item) cost() int { return len(it.frame) + 256 }

// outbox is the bounded queue between everybody who has something to say and
// the one writer.
type outbox struct {
	keep      time.Duration
	maxBytes  int
	maxEvents int

	// mu protects everything below. It is never held while writing.
	mu       sync.Mutex
	open     bool // a connection is up
	confirms bool // the connection can confirm
	ended    bool // it accepts nothing
	queue    []*item
	current  *item   // being written
	sent     []*item // answers written and not confirmed, by seq
	bytes    int     // of everything whose number the peer decides: answers, others, urgent
	events   int
	dropped  int // events
	seq      uint64
	wake     chan struct{} // the writer has something to do; capacity 1
	pingable chan struct{} // there is something to confirm; capacity 1
	changed  chan struct{} // closed and replaced when answers leave
}

func newOutbox(keep time.Duration, maxBytes, maxEvents int) *outbox {
	return &outbox{
		keep:      keep,
		maxBytes:  maxBytes,
		maxEvents: maxEvents,
		wake:      make(chan struct{}, 1),
		pingable:  make(chan struct{}, 1),
		changed:   make(chan struct{}),
	}
}

// put queues it. Without a connection only answers are kept.
func (o *outbox) put(it *item) {
	if it.frame == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended || !o.open && it.kind != answers {
		return
	}
	it.at = time.Now()
	switch it.kind {
	case answers:
		// The same answer again, because the peer repeated its call: one in the
		// queue is enough, and one that was written is sent again.
		if it.key != "" {
			same := func(q *item) bool { return q.kind == answers && q.key == it.key }
			if slices.ContainsFunc(o.queue, same) {
				return
			}
			o.drop(&o.sent, same)
		}
		o.bytes += it.cost()
	case statuses:
		if q := o.last(it.key); q != nil {
			q.frame = it.frame
			return
		}
	case announcements:
		// Only the newest item of a tab is replaced: ready, removed, ready is
		// not the same as ready.
		if q := o.last(it.key); q != nil && q.gone == it.gone {
			q.frame = it.frame
			if it.written != nil {
				q.written = it.written
			}
			return
		}
	case events:
		if o.events >= o.maxEvents {
			o.dropped++
			return
		}
		o.events++
	}
	if it.kind == urgent || it.kind == others {
		o.bytes += it.cost()
	}
	if it.kind == urgent {
		n := 0
		for n < len(o.queue) && o.queue[n].kind == urgent {
			n++
		}
		o.queue = slices.Insert(o.queue, n, it)
	} else {
		o.queue = append(o.queue, it)
	}
	signal(o.wake)
}

func (o *outbox) last(key string) *item {
	for _, q := range slices.Backward(o.queue) {
		if q.key == key {
			return q
		}
	}
	return nil
}

// start begins a connection: answers that are not known to have arrived go
// first in the queue, in their old order, behind what hello puts in front.
func (o *outbox) start(confirms bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	kept := o.sent
	if o.current != nil && o.current.kind == answers {
		kept = append(kept, o.current)
	}
	for _, q := range o.queue {
		if q.kind == answers {
			kept = append(kept, q)
		}
	}
	o.queue = kept
	o.sent = nil
	o.current = nil
	o.events = 0
	o.bytes = 0
	for _, it := range kept {
		o.bytes += it.cost()
	}
	o.expire(time.Now())
	o.open, o.confirms = true, confirms
}

// stop ends a connection.
func (o *outbox) stop() {
	o.mu.Lock()
	o.open = false
	o.mu.Unlock()
}

// hello puts items before everything that waits.
func (o *outbox) hello(items []*item) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queue = slices.Insert(o.queue, 0, items...)
	signal(o.wake)
}

// next waits for the next item to write.
func (o *outbox) next(ctx context.Context) (*item, error) {
	for {
		o.mu.Lock()
		if len(o.queue) > 0 {
			it := o.queue[0]
			o.queue = slices.Delete(o.queue, 0, 1)
			o.current = it
			if it.kind == events {
				o.events--
			}
			o.mu.Unlock()
			return it, nil
		}
		o.mu.Unlock()
		select {
		case <-o.wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// wrote notes that the current item went out.
func (o *outbox) wrote(it *item) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.current = nil
	if it.kind == urgent || it.kind == others {
		o.bytes -= it.cost()
	}
	if it.kind != answers {
		o.notify()
		return
	}
	if !o.confirms {
		o.bytes -= it.cost()
		o.notify()
		return
	}
	o.seq++
	it.seq = o.seq
	o.sent = append(o.sent, it)
	signal(o.pingable)
	o.notify()
}

// mark returns the number of the last answer written, for confirm.
func (o *outbox) mark() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.seq
}

// confirm notes that everything up to mark has arrived.
func (o *outbox) confirm(mark uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.drop(&o.sent, func(it *item) bool { return it.seq <= mark })
	if len(o.sent) > 0 {
		signal(o.pingable)
	}
}

// expire drops answers that were kept long enough. mu is held.
func (o *outbox) expire(now time.Time) {
	old := func(it *item) bool { return it.kind == answers && now.Sub(it.at) > o.keep }
	o.drop(&o.sent, old)
	if !o.open {
		// A peer that reads slowly still gets what waits for it.
		o.drop(&o.queue, old)
	}
}

// sweep is expire for the outside; it returns how many events were dropped
// since the last sweep.
func (o *outbox) sweep() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.expire(time.Now())
	n := o.dropped
	o.dropped = 0
	return n
}

// drop removes answers. mu is held.
func (o *outbox) drop(list *[]*item, is func(*item) bool) {
	*list = slices.DeleteFunc(*list, func(it *item) bool {
		if !is(it) {
			return false
		}
		o.bytes -= it.cost()
		return true
	})
	o.notify()
}

// notify wakes who waits in room or flushed. mu is held.
func (o *outbox) notify() {
	close(o.changed)
	o.changed = make(chan struct{})
}

// awaitSpace waits until the queued bytes are within the limit.
func (o *outbox) awaitSpace(ctx context.Context) error {
	return o.until(ctx, func() bool { return o.bytes <= o.maxBytes })
}

// flushed waits until everything has been written and confirmed.
func (o *outbox) flushed(ctx context.Context) error {
	return o.until(ctx, func() bool { return len(o.queue) == 0 && o.current == nil && len(o.sent) == 0 })
}

func (o *outbox) until(ctx context.Context, holds func() bool) error {
	for {
		o.mu.Lock()
		ok, changed := holds(), o.changed
		o.mu.Unlock()
		if ok {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// end refuses everything that follows and returns how many answers are lost.
func (o *outbox) end() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended, o.open = true, false
	n := len(o.sent)
	for _, it := range append(o.queue, o.current) {
		if it != nil && it.kind == answers {
			n++
		}
	}
	o.queue = nil
	o.sent = nil
	o.current = nil
	return n
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
