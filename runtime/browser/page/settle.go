package page

import (
	"context"
	"time"
)

// longestSettle is the most that reads wait for one document, all together: a page that is
// never done loading costs it once.
const longestSettle = 5 * time.Second

// settling is how long reads have waited for a document.
type settling struct {
	document int // its number, see commits
	waited   time.Duration
}

// Settle waits, before somebody reads the page, while another document is on its way or the
// one that is there still loads. A page that a dialog blocks, or that is lost, says so when
// it is read.
func (p *Page) Settle(ctx context.Context) {
	began := time.Now()
	document, left, dialogs := p.unsettled()
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	lifetime := p.Lifetime()
	for {
		changed := p.change.Wait()
		now, still, _ := p.unsettled()
		if still <= 0 {
			break
		}
		if now != document { // its time is its own
			p.waitedFor(document, time.Since(began))
			document, began = now, time.Now()
			timer.Reset(still)
		}
		select {
		case <-changed:
			continue
		case <-timer.C:
		case <-dialogs:
		case <-lifetime.Done():
		case <-ctx.Done():
		}
		break
	}
	p.waitedFor(document, time.Since(began))
}

// unsettled is the document that is there, how long it may still be waited for, 0 when
// nothing is on its way, and what tells that a dialog opens.
func (p *Page) unsettled() (document int, left time.Duration, dialogs chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !(p.loading || p.redirect) || p.dialog != nil || p.crashed {
		return p.commits, 0, p.dialogs
	}
	left = longestSettle
	if p.settling.document == p.commits {
		left -= p.settling.waited
	}
	return p.commits, left, p.dialogs
}

// waitedFor notes that reads have waited for a document.
func (p *Page) waitedFor(document int, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.settling.document != document {
		p.settling = settling{document: document}
	}
	p.settling.waited += d
}
