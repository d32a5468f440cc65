package browser

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

// stuckWatch ends a browser that is stuck: a page can give its main process more to do than it ever gets done,
// such as titles, and then nothing is answered for any tab. It is stuck when it has not said its version for so
// long, and for so much of its own processor time. On a machine that is only busy it does not get that.
type stuckWatch struct {
	interval time.Duration // how often the main process is looked at
	after    time.Duration
	busy     time.Duration
	spent    func() (spent time.Duration, ok bool) // processor time of the main process
	kill     func()
}

// restingShare is the part of its time that a browser may work without being asked.
const restingShare = 0.1

// newStuckWatch watches the process of the browser. On an idle machine, one that is stuck is ended within five
// seconds.
func (b *Browser) newStuckWatch() stuckWatch {
	return stuckWatch{
		interval: 500 * time.Millisecond,
		after:    4 * time.Second,
		busy:     3 * time.Second,
		spent:    b.process.Spent,
		kill:     b.process.Kill,
	}
}

// watchStuck runs until the connection ends, or returns at once where nobody knows what a process uses.
func (b *Browser) watchStuck(w stuckWatch) {
	interval := time.NewTicker(w.interval)
	defer interval.Stop()
	for {
		before, ok := w.spent()
		if !ok {
			return
		}
		select {
		case <-b.client.Done():
			return
		case <-interval.C:
		}
		if now, ok := w.spent(); ok && now-before > time.Duration(restingShare*float64(w.interval)) {
			b.queryVersion(&w, interval)
		}
	}
}

// queryVersion asks the browser for its version, and ends it when it is stuck.
func (b *Browser) queryVersion(w *stuckWatch, look *time.Ticker) {
	answered := make(chan struct{})
	queried := time.Now()
	before, _ := w.spent()
	ctx, cancel := context.WithTimeout(context.Background(), w.after)
	defer cancel()
	query := cdp.Command{Method: "Browser.getVersion", OnReply: func(cdp.Reply) { close(answered) }}
	if _, err := b.client.Start(ctx, query); err != nil {
		return // it will be asked again
	}
	for {
		select {
		case <-answered:
			return
		case <-b.client.Done():
			return
		case <-look.C:
		}
		silent := time.Since(queried)
		now, ok := w.spent()
		if ok && silent >= w.after && now-before >= w.busy {
			b.endStuck(w, silent, now-before)
			return
		}
	}
}

// endStuck kills the browser. Whoever waits for it is told why.
func (b *Browser) endStuck(w *stuckWatch, silent, used time.Duration) {
	const tenth = time.Second / 10
	lost := fault.New(
		fault.BrowserLost, "the browser answered nothing for %s, of which it was busy for %s, and was ended",
		silent.Round(tenth), used.Round(tenth),
	).Next("a page floods the browser; its tabs are opened again, and empty when that happens again soon")
	b.mu.Lock()
	closing := b.closing
	if !closing {
		b.stuck = lost
	}
	b.mu.Unlock()
	if closing {
		return // it is killed soon
	}
	b.log.Warn("the browser is stuck and is ended", "silent", silent, "busy", used)
	b.client.End(lost)
	w.kill()
}

// Stuck reports whether the browser was ended because a page kept it from answering.
func (b *Browser) Stuck() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.stuck != nil
}
