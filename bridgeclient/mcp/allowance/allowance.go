// Package allowance bounds a tool call by a time that begins when its page begins with it: other calls of the page
// come first, and are no time of this one. It does not know what the call does, and sets no deadline of its own. The
// MCP server calls it.
package allowance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Allowance is the time of a call.
type Allowance struct {
	// Time is how long the call may take.
	Time   time.Duration
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	ended bool
}

type key struct{}

var errOver = fmt.Errorf("the time of the call is over: %w", context.DeadlineExceeded)

// With is ctx for as long as a call may take. The result ends it.
func With(ctx context.Context, most time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &Allowance{Time: most, cancel: cancel}
	return context.WithValue(ctx, key{}, a), a.end
}

// Of is the allowance of a call, nil when it has none.
func Of(ctx context.Context) *Allowance {
	a, _ := ctx.Value(key{}).(*Allowance)
	return a
}

// Over says whether ctx ended because the time was over.
func Over(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errOver) }

// Begin starts the time; once is enough.
func (a *Allowance) Begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer == nil && !a.ended {
		a.timer = time.AfterFunc(a.Time, func() { a.cancel(errOver) })
	}
}

func (a *Allowance) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	if a.timer != nil {
		a.timer.Stop()
	}
	a.cancel(nil)
}
