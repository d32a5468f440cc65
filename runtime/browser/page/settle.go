package page

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/runtime/browser/cdp"
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
	p.awaitInputReport(ctx)
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
	if !p.arriving() || p.dialog != nil || p.crashed {
		return p.commits, 0, p.dialogs
	}
	left = longestSettle
	if p.settling.document == p.commits {
		left -= p.settling.waited
	}
	return p.commits, left, p.dialogs
}

// arriving reports whether a document is on its way, or the one that is there still loads; p.mu is
// held. That the frame loads is told by the process that has it: the word of the one before, that it
// has stopped, can come after the new document. So the document's own load counts too.
func (p *Page) arriving() bool {
	if p.loading || p.redirect || p.awaited != "" {
		return true
	}
	f := p.frames[p.main]
	return p.commits > 0 && f != nil && !f.loaded && f.failed == ""
}

// inputReportTime is the most that the answer to an empty call is waited for.
const inputReportTime = time.Second

// awaitInputReport waits, once after input, until the page has reported what the input began. The end of
// the input and a navigation are reported on different channels, so either can come first. An
// answer of the page comes after its earlier reports.
func (p *Page) awaitInputReport(ctx context.Context) {
	p.mu.Lock()
	unheard := p.inputUnreported
	p.inputUnreported = false
	blocked := p.blockedReason() != nil
	lifetime, dialogs := p.lifetime, p.dialogs
	p.mu.Unlock()
	if !unheard || blocked {
		return
	}

	answered := make(chan struct{})
	p.client.Post(cdp.Command{
		Session: p.session.ID,
		Method:  "Runtime.evaluate",
		Params:  []byte(`{"expression":"0"}`),
		OnReply: func(cdp.Reply) { close(answered) },
	})
	timer := time.NewTimer(inputReportTime)
	defer timer.Stop()
	for {
		changed := p.change.Wait()
		if _, left, _ := p.unsettled(); left > 0 { // then the browser may hold the answer back
			return
		}
		select {
		case <-changed:
			continue
		case <-answered:
		case <-timer.C:
		case <-dialogs:
		case <-lifetime.Done():
		case <-ctx.Done():
		}
		return
	}
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
