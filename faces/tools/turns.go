package tools

import (
	"context"
	"slices"
	"sync"
)

// turns are the calls that have not ended, in the order in which they came. The zero value is ready.
// It is safe for concurrent use.
type turns struct {
	mu      sync.Mutex
	under   []*Turn
	changed chan struct{}
}

// Turn is the place of one call.
type Turn struct {
	of *turns
	// scope is the group of pages that the call is about, page its page.
	scope string
	page  string
	// known says that scope is. Nobody passes a call of which nothing is known yet.
	known bool
	// named says that the call names its page; else it is that of its scope which is active then.
	named bool
	// reads says that the call leaves the page as it is, moves that it is about which pages there are.
	reads bool
	moves bool
}

// Take is a place behind all calls that came before.
func (t *turns) Take() *Turn {
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := &Turn{of: t}
	t.under = append(t.under, taken)
	return taken
}

// Page returns when the calls of the page that came before have ended. Without a page it returns when
// those have ended that may change which page is active; Found says then which it is.
func (u *Turn) Page(ctx context.Context, scope, page string, reads bool) error {
	return u.wait(ctx, func() {
		u.scope = scope
		u.page = page
		u.named = page != ""
		u.reads = reads
	})
}

// Found is Page for a call that did not name its page.
func (u *Turn) Found(ctx context.Context, page string) error {
	return u.wait(ctx, func() { u.page = page })
}

// Tabs returns when earlier calls have ended that open, close or activate pages of the scope, and when
// those have their page that go by which one is active. It waits for no page: one that answers nothing
// can be left. With a page that the call names it waits only for the former, so such a page can be closed.
func (u *Turn) Tabs(ctx context.Context, scope, page string) error {
	return u.wait(ctx, func() {
		u.scope = scope
		u.named = page != ""
		u.moves = true
	})
}

// End gives the place up. More than once does nothing.
func (u *Turn) End() {
	u.of.mu.Lock()
	defer u.of.mu.Unlock()
	if at := slices.Index(u.of.under, u); at >= 0 {
		u.of.under = slices.Delete(u.of.under, at, at+1)
		u.of.tell()
	}
}

// tell wakes who waits. The caller has t.mu.
func (t *turns) tell() {
	if t.changed != nil {
		close(t.changed)
		t.changed = nil
	}
}

// wait says what is known of the call, and returns when nothing is before it.
func (u *Turn) wait(ctx context.Context, say func()) error {
	t := u.of
	t.mu.Lock()
	say()
	u.known = true
	t.tell()
	for u.behind() {
		if t.changed == nil {
			t.changed = make(chan struct{})
		}
		changed := t.changed
		t.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		t.mu.Lock()
	}
	t.mu.Unlock()
	return nil
}

// behind reports whether a call is before this one. The caller has the lock.
func (u *Turn) behind() bool {
	for _, earlier := range u.of.under {
		if earlier == u {
			return false
		}
		if u.after(earlier) {
			return true
		}
	}
	return false
}

// after reports whether a call waits for an earlier one.
func (u *Turn) after(earlier *Turn) bool {
	switch {
	case !earlier.known:
		return true
	case earlier.scope != u.scope:
		return false
	case u.moves:
		return earlier.moves || !u.named && earlier.page == ""
	case earlier.moves:
		return u.page == ""
	case earlier.page == "":
		return true
	case u.page == "":
		return !earlier.named || !earlier.reads
	}
	return earlier.page == u.page
}
