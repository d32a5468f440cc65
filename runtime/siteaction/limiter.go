package siteaction

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/observe"
)

// limiter keeps the least distance between two starts of the same thing on one
// tab: the rate_limit_ms of transitions and steps.
type limiter struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// maxLimited bounds the names that are remembered. Maps that come with calls
// bring ever new ones.
const maxLimited = 1000

// wait returns when least has passed since the last start under key, which this
// is then, and returns how long it waited.
func (l *limiter) wait(ctx context.Context, key string, least time.Duration) (time.Duration, *fault.Error) {
	l.mu.Lock()
	if l.last == nil || len(l.last) >= maxLimited {
		l.last = map[string]time.Time{}
	}
	now := time.Now()
	delay := time.Duration(0)
	if last, ok := l.last[key]; ok {
		delay = max(0, least-now.Sub(last))
	}
	// The place in the line is taken before the wait, which may be given up.
	l.last[key] = now.Add(delay)
	l.mu.Unlock()
	if delay > 0 {
		observe.Pause(ctx, delay)
		if ctx.Err() != nil {
			return delay, fault.From(ctx.Err())
		}
	}
	return delay, nil
}
