package runtime

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
)

// quietness says when a change of the page counts as over.
type quietness struct {
	quiet   time.Duration // without a further change
	longest time.Duration // after the first change, however many follow
	timeout time.Duration // without any change
}

// change is a wait for the page to change, running in the page.
type change struct {
	// over is closed when the page has changed and is quiet, when it has not
	// for the timeout, or when the document is gone.
	over    chan struct{}
	changed bool  // set before over is closed
	err     error // set before over is closed
}

// armLimit bounds the wait for a wait to begin.
const armLimit = 2 * time.Second

var changeID atomic.Int64

// awaitChange begins to wait for the page to change and returns when the page
// has begun to: what changes after that is not missed. spawn starts the
// goroutine of the wait, which ends with ctx; its owner waits for it.
//
// It is a question to the page like any other and takes no place in the tab's
// queue.
func awaitChange(ctx context.Context, page primitives.Page, q quietness, spawn func(func())) *change {
	id := strconv.FormatInt(changeID.Add(1), 10)
	c := &change{over: make(chan struct{})}
	args := map[string]any{
		"id": id, "quiet_ms": q.quiet.Milliseconds(), "longest_ms": q.longest.Milliseconds(), "timeout_ms": q.timeout.Milliseconds(),
	}
	arming, armed := context.WithTimeout(ctx, 2*armLimit)
	defer armed()
	spawn(func() {
		defer armed() // a wait that failed at once never begins
		defer close(c.over)
		bounded, cancel := context.WithTimeout(ctx, q.timeout+q.longest+armLimit)
		defer cancel()
		var out struct {
			Changed bool `json:"changed"`
		}
		c.err = page.Call(bounded, "", "await_change", args, &out)
		c.changed = out.Changed
		if ctx.Err() == nil {
			return
		}
		// Nobody waits any more: the page need not either.
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = page.Call(ending, "", "change_end", map[string]any{"id": id}, nil)
	})
	// What comes of it does not matter: a wait that cannot begin ends at once,
	// and its owner looks again.
	_ = page.Call(arming, "", "change_armed", map[string]any{"id": id, "timeout_ms": armLimit.Milliseconds()}, nil)
	return c
}

// rest waits for d or the end of ctx.
func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
