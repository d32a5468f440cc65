package primitives

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
)

const (
	// extraWait is how much later than its own time a page call may answer: what the page
	// answers then says more than that it was late.
	extraWait = 200 * time.Millisecond
	// blockedAfter is how long a thread answers nothing until it counts as blocked. A busy
	// machine makes a page that works answer late, so every page call gets as much,
	// also one whose own time is some milliseconds.
	blockedAfter = 3 * time.Second
	// probeAfter is how long a call runs before its page is probed.
	probeAfter = 100 * time.Millisecond
	// slowFrames is added for a page whose thread answers: a tab behind
	// others draws a frame a second, and an element has to rest for some of them.
	slowFrames = 8 * time.Second
)

// errBlocked ends a page call on a thread that answers nothing.
var errBlocked = errors.New("the page's thread answers nothing")

// ErrAnswered is the cause for which a probe of a page ends: the call that it was sent beside has its answer, so the
// page is not blocked.
var ErrAnswered = errors.New("the call beside it was answered")

type spentKey struct{}

// withSpent notes that a page has answered nothing for so long already.
func withSpent(ctx context.Context, d time.Duration) context.Context {
	return context.WithValue(ctx, spentKey{}, d)
}

// Spent is how much of the time of a call has passed before its handler ran, because
// the page did not answer.
func Spent(ctx context.Context) time.Duration {
	d, _ := ctx.Value(spentKey{}).(time.Duration)
	return d
}

// AnswerMargin is the part of the time left that is kept for an answer which says more than that the time is over:
// a fifth, at most most, or what Punctual allows.
func AnswerMargin(ctx context.Context, left, most time.Duration) time.Duration {
	if margin, ok := ctx.Value(punctualKey{}).(time.Duration); ok {
		most = min(most, margin)
	}
	return min(max(left, 0)/5, most)
}

type actingKey struct{}

// Acting is the context of a primitive that can change the page. A page call that is given up in it is waited for,
// until it has begun, so that it does not act later.
func Acting(ctx context.Context) context.Context { return context.WithValue(ctx, actingKey{}, true) }

// IsActing reports whether ctx is one of Acting.
func IsActing(ctx context.Context) bool { return ctx.Value(actingKey{}) != nil }

type punctualKey struct{}

// Punctual is the context of a call whose caller wants all of its time but margin.
func Punctual(ctx context.Context, margin time.Duration) context.Context {
	return context.WithValue(ctx, punctualKey{}, margin)
}

// CallWithin is Page.Call for a page call that waits in the page, and ends there after
// left. A page whose thread is blocked ends nothing, so the time is kept here too: the
// call ends when its time is over and the thread has answered no empty call for the last
// three seconds of it.
func CallWithin(ctx context.Context, p Page, frame FrameID, fn string, args, out any, left time.Duration) error {
	calling, cancel := context.WithCancelCause(ctx)
	began := time.Now()
	limit := max(left+extraWait, blockedAfter-Spent(ctx))
	var blocked atomic.Bool
	probed := make(chan struct{})
	late := time.AfterFunc(max(limit-blockedAfter, probeAfter), func() {
		defer close(probed)
		patience := limit - time.Since(began)
		for time.Since(began) < limit+slowFrames {
			probe, stop := context.WithTimeout(calling, max(patience, probeAfter))
			err := p.Call(probe, frame, "document_token", nil, nil)
			stop()
			if err != nil || !Pause(calling, blockedAfter/4) {
				break
			}
			patience = blockedAfter
		}
		blocked.Store(calling.Err() == nil)
		cancel(errBlocked)
	})
	err := p.Call(calling, frame, fn, args, out)
	cancel(ErrAnswered)
	if !late.Stop() {
		<-probed
	}
	if err != nil && ctx.Err() == nil && blocked.Load() {
		return fault.New(
			fault.PageUnresponsive,
			"the page did not answer in time: a script blocks its thread, or the machine is overloaded",
		).With("timeout_ms", left.Milliseconds())
	}
	return err
}
