package network

import (
	"context"
	"strings"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// stalled is how long an answer that has begun may bring nothing until it no
// longer counts as under way: a script that does not read a body never ends its
// request, and some answers are meant to stay open.
const stalled = 500 * time.Millisecond

// unknownCap is how long what a document sent before recording began keeps it
// from being quiet, and the script of a worker that no answer came for: a stream, or a worker that is gone, would do so
// for ever.
const unknownCap = 3 * time.Second

// inflight counts what is under way, and returns when that can change by time
// alone; t.mu is held.
func (t *Traffic) inflight() (count int, until time.Time) {
	for e := range t.open {
		if e.length >= 0 && e.BodyBytes >= e.length {
			continue // all of it is there, though nobody has read it
		}
		end, bounded := e.countedUntil()
		if bounded {
			if time.Until(end) <= 0 {
				continue
			}
			if until.IsZero() || end.Before(until) {
				until = end
			}
		}
		count++
	}
	return count, until
}

// countedUntil is when a request no longer counts as under way, if that is known. Nobody tells of the end of a worker's
// script when the worker was terminated before it ran.
func (e *exchange) countedUntil() (end time.Time, bounded bool) {
	switch {
	case !e.lastData.IsZero():
		return e.lastData.Add(stalled), true
	case !e.worker:
		return time.Time{}, false
	case strings.HasPrefix(e.URL, "blob:") || strings.HasPrefix(e.URL, "data:"): // it is not asked of a server
		return e.at.Add(stalled), true
	}
	return e.at.Add(unknownCap), true
}

// NetworkQuiet implements primitives.ObservedPage.
func (t *Traffic) NetworkQuiet(ctx context.Context, idle time.Duration, maxInflight int) error {
	if err := t.Record(ctx); err != nil {
		return cdp.Explain(err, "watching requests")
	}
	timer := time.NewTimer(idle)
	defer timer.Stop()
	quiet := time.Now()
	var busy bool
	for {
		changed := t.change.Wait()
		t.mu.Lock()
		count, until := t.inflight()
		if t.unknown != "" {
			if end := t.since.Add(unknownCap); time.Until(end) <= 0 {
				t.unknown = ""
			} else if until.IsZero() || end.Before(until) {
				until = end
			}
		}
		now := count > maxInflight || t.unknown != ""
		last := t.settled
		t.mu.Unlock()
		if busy && !now {
			quiet = time.Now()
		} else if !now && maxInflight == 0 && last.After(quiet) {
			quiet = last // something came and went between two turns
		}
		busy = now
		if !busy && time.Since(quiet) >= idle {
			return nil
		}
		timer.Stop()
		var over <-chan time.Time
		switch {
		case !busy:
			timer = time.NewTimer(idle - time.Since(quiet))
			over = timer.C
		case !until.IsZero():
			timer = time.NewTimer(time.Until(until))
			over = timer.C
		}
		l := t.tab.Lifetime()
		select {
		case <-changed:
		case <-over:
		case <-l.Done():
			return l.Err()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// DocumentQuiet takes the event that the browser found the document quiet after it had loaded.
func (t *Traffic) DocumentQuiet(loader string) {
	t.mu.Lock()
	known := t.unknown == loader
	if known {
		t.unknown = ""
	}
	t.mu.Unlock()
	if known {
		t.change.Notify()
	}
}
