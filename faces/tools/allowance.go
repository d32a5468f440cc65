package tools

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// callAllowance is the time of a call.
type callAllowance struct {
	// Time is how long the call may take.
	Time   time.Duration
	cancel context.CancelCauseFunc

	mu    sync.Mutex
	timer *time.Timer
	ended bool
}

type allowanceKey struct{}

var errAllowanceOver = fmt.Errorf("the time of the call is over: %w", context.DeadlineExceeded)

// withAllowance is ctx for as long as a call may take. The result ends it.
func withAllowance(ctx context.Context, most time.Duration) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	a := &callAllowance{Time: most, cancel: cancel}
	return context.WithValue(ctx, allowanceKey{}, a), a.end
}

// allowanceOf is the allowance of a call, nil when it has none.
func allowanceOf(ctx context.Context) *callAllowance {
	a, _ := ctx.Value(allowanceKey{}).(*callAllowance)
	return a
}

// allowanceOver reports whether ctx ended because the time was over.
func allowanceOver(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errAllowanceOver) }

// Begin starts the time; once is enough.
func (a *callAllowance) Begin() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.timer == nil && !a.ended {
		a.timer = time.AfterFunc(a.Time, func() { a.cancel(errAllowanceOver) })
	}
}

func (a *callAllowance) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	if a.timer != nil {
		a.timer.Stop()
	}
	a.cancel(nil)
}
