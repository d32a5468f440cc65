package observe

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives"
)

// Quietness says when a change of the page counts as over.
type Quietness struct {
	Quiet   time.Duration // without a further change
	Longest time.Duration // after the first change, however many follow
	Timeout time.Duration // without any change
}

// Change is a wait for the page to change, running in the page.
type Change struct {
	// Over is closed when the page has changed and is quiet, when it has not
	// for the timeout, or when the document was replaced.
	Over    chan struct{}
	Changed bool  // set before Over is closed
	Err     error // set before Over is closed
}

// armLimit bounds the wait for a wait to begin.
const armLimit = 2 * time.Second

var changeID atomic.Int64

// Begin begins to wait for the page to change and returns when the page has
// begun to: what changes after that is not missed. spawn starts the goroutine of
// the wait, which ends with ctx; its owner waits for it. The wait is a page call
// and takes no place in the tab's queue.
func Begin(ctx context.Context, page primitives.Page, q Quietness, spawn func(func())) *Change {
	id := strconv.FormatInt(changeID.Add(1), 10)
	c := &Change{Over: make(chan struct{})}
	args := map[string]any{
		"id":         id,
		"quiet_ms":   q.Quiet.Milliseconds(),
		"longest_ms": q.Longest.Milliseconds(),
		"timeout_ms": q.Timeout.Milliseconds(),
	}
	arming, armed := context.WithTimeout(ctx, 2*armLimit)
	defer armed()
	spawn(func() {
		defer armed() // a wait that failed at once never begins
		defer close(c.Over)
		bounded, cancel := context.WithTimeout(ctx, q.Timeout+q.Longest+armLimit)
		defer cancel()
		var out struct {
			Changed bool `json:"changed"`
		}
		c.Err = page.Call(bounded, "", "await_change", args, &out)
		c.Changed = out.Changed
		if ctx.Err() == nil {
			return
		}
		// Nobody waits: the page need not either.
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = page.Call(ending, "", "change_end", map[string]any{"id": id}, nil)
	})
	// What comes of it does not matter: a wait that cannot begin ends at once,
	// and its owner observes again.
	_ = page.Call(arming, "", "change_armed", map[string]any{"id": id, "timeout_ms": armLimit.Milliseconds()}, nil)
	return c
}

// Pause waits for d or the end of ctx.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// Again is when a page that did not show what is waited for is observed again:
// soon after a change, and from time to time without one, because not everything a
// projection reads is reported.
var Again = Quietness{Quiet: 40 * time.Millisecond, Longest: 200 * time.Millisecond, Timeout: 500 * time.Millisecond}
