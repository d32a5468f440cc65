package background

import (
	"context"
	"sync"
	"time"
)

// Use knows when something was last used.
type Use struct {
	idle   time.Duration
	mu     sync.Mutex
	active int // users
	last   time.Time
}

// NewUse is the use of what is idle when nobody has used it for so long.
func NewUse(idle time.Duration) *Use { return &Use{idle: idle, last: time.Now()} }

// Begin notes a user, until end is called.
func (u *Use) Begin() (end func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.active++
	return func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.active--
		u.last = time.Now()
	}
}

// Last is when the last user has ended, and now while there is one.
func (u *Use) Last() time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.active > 0 {
		return time.Now()
	}
	return u.last
}

// Unused returns when nobody has used it for its time, when removed is true, or when ctx ends.
func (u *Use) Unused(ctx context.Context, removed func() bool) {
	tick := time.NewTicker(min(max(u.idle/10, 50*time.Millisecond), time.Second))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if time.Since(u.Last()) >= u.idle || removed() {
			return
		}
	}
}
