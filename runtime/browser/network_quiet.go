package browser

import (
	"context"
	"time"
)

// stalled is how long an answer that has begun may bring nothing until it no
// longer counts as under way: a script that does not read a body never ends its
// request, and some answers are meant to stay open.
const stalled = 500 * time.Millisecond

// unknownCap is how long what a document sent before recording began keeps it
// from being quiet: a stream among it would do so for ever.
const unknownCap = 3 * time.Second

// inflight counts what is under way, and returns when that can change by time
// alone; n.mu is held.
func (n *traffic) inflight() (count int, until time.Time) {
	for e := range n.open {
		if e.length >= 0 && e.BodyBytes >= e.length {
			continue // all of it is there, though nobody has read it
		}
		if !e.heard.IsZero() {
			end := e.heard.Add(stalled)
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

// NetworkQuiet implements primitives.ObservedPage.
func (t *Tab) NetworkQuiet(ctx context.Context, idle time.Duration, maxInflight int) error {
	if err := t.startTraffic(ctx); err != nil {
		return t.b.explain(err, "watching requests")
	}
	timer := time.NewTimer(idle)
	defer timer.Stop()
	quiet := time.Now()
	n := &t.net
	var busy bool
	for {
		changed := n.change.wait()
		n.mu.Lock()
		count, until := n.inflight()
		if n.unknown != "" {
			if end := n.since.Add(unknownCap); time.Until(end) <= 0 {
				n.unknown = ""
			} else if until.IsZero() || end.Before(until) {
				until = end
			}
		}
		now := count > maxInflight || n.unknown != ""
		last := n.settled
		n.mu.Unlock()
		if busy && !now {
			quiet = time.Now()
		} else if !now && maxInflight == 0 && last.After(quiet) {
			quiet = last // something came and went between two looks
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
		l := t.currentLife()
		select {
		case <-changed:
		case <-over:
		case <-l.over:
			return l.err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// documentIdle: the browser found the document quiet after it had loaded.
func (n *traffic) documentIdle(loader string) {
	n.mu.Lock()
	known := n.unknown == loader
	if known {
		n.unknown = ""
	}
	n.mu.Unlock()
	if known {
		n.change.notify()
	}
}
