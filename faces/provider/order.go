package provider

import (
	"context"
	"sync"
)

// order keeps the requests of one session in the order in which they came: those
// that name a page wait for earlier ones on that page, those that name none for
// all. So a client may send ahead, and pages still work side by side.
type order struct {
	mu      sync.Mutex
	all     []*turn          // not over yet, oldest first, since the last that waits for all
	last    *turn            // the last that waits for all
	onPages map[string]*turn // the last of each page since then
}

// turn is the place of one request.
type turn struct {
	after []*turn
	over  chan struct{}
	once  sync.Once
}

func newTurn() *turn { return &turn{over: make(chan struct{})} }

// wait returns when the request may run; false when ctx ended first.
func (t *turn) wait(ctx context.Context) bool {
	for _, earlier := range t.after {
		select {
		case <-earlier.over:
		case <-ctx.Done():
			return false
		}
	}
	t.after = nil
	return ctx.Err() == nil
}

func (t *turn) end() { t.once.Do(func() { close(t.over) }) }

func (t *turn) isOver() bool {
	select {
	case <-t.over:
		return true
	default:
		return false
	}
}

// enter takes the next place for a request on a page, "" for one that concerns
// them all.
func (o *order) enter(page string) *turn {
	t := newTurn()
	o.mu.Lock()
	defer o.mu.Unlock()
	if page == "" {
		t.after, o.last = o.all, t
		o.all, o.onPages = []*turn{t}, map[string]*turn{}
		return t
	}
	for _, earlier := range []*turn{o.last, o.onPages[page]} {
		if earlier != nil {
			t.after = append(t.after, earlier)
		}
	}
	left := o.all[:0:0]
	for _, earlier := range o.all {
		if !earlier.isOver() {
			left = append(left, earlier)
		}
	}
	o.all = append(left, t)
	if o.onPages == nil {
		o.onPages = map[string]*turn{}
	}
	o.onPages[page] = t
	return t
}
