package page

import (
	"context"
	"sync"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const (
	// stuckAfter is how long a page's thread may take to answer before it counts as stuck.
	stuckAfter = time.Second
	// crashAfter is how long it may take more, once its script was stopped.
	crashAfter = 2 * time.Second
	// mostReplaced is how many navigations of the page one of ours stops before it begins.
	mostReplaced = 3
	// beginTime bounds the wait for a navigation that the page has asked for to begin.
	beginTime = 250 * time.Millisecond
)

// clear makes a page ready to be left: what it has under way itself is stopped, and so is a
// script that keeps its thread. Once a navigation has begun nobody can tell a page that is
// stuck from one that waits for its server, so it is done before.
func (n *navigation) clear(ctx context.Context) error {
	p := n.page
	for range mostReplaced {
		p.mu.Lock()
		crashed := p.crashed
		err := p.blockedReason()
		n.lifetime, n.dialogs = p.lifetime, p.dialogs
		p.mu.Unlock()
		if crashed { // the navigation brings another process
			return nil
		}
		if err != nil {
			return err
		}
		if p.navigating() {
			p.stopLoading(ctx)
		}
		answers, err := n.answers(ctx, n.patient(stuckAfter), nil)
		if err == nil && !answers {
			// Nothing is to be lost: no script of the page has run for so long.
			stop := p.stopScript()
			answers, err = n.answers(ctx, n.patient(crashAfter), &stop)
			if err == nil && !answers {
				return p.endRenderer(ctx)
			}
		}
		if err != nil {
			return err
		}
		if !n.follows(ctx) {
			return nil
		}
	}
	return nil
}

// patient is d, or what Options.Patience makes of it, as long as the navigation keeps half of its time
// after two such waits.
func (n *navigation) patient(d time.Duration) time.Duration {
	return max(d, min(n.page.patience(d), n.most/4))
}

// stopScript is the command that ends the script which runs in the page.
func (p *Page) stopScript() cdp.Command {
	return cdp.Command{Session: p.session.ID, Method: "Runtime.terminateExecution", OnReply: func(cdp.Reply) {}}
}

// answers reports whether the page's thread runs scripts within d, after first was sent.
func (n *navigation) answers(ctx context.Context, d time.Duration, first *cdp.Command) (bool, error) {
	p := n.page
	replied := make(chan struct{})
	commands := []cdp.Command{{
		Session: p.session.ID, Method: "Runtime.evaluate", Params: []byte(`{"expression":"0"}`),
		OnReply: func(cdp.Reply) { close(replied) },
	}}
	if first != nil {
		commands = append([]cdp.Command{*first}, commands...)
	}
	p.client.Post(commands...)
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-replied:
		return true, nil
	case <-timer.C:
		// What the page has begun meanwhile keeps it from answering.
		return p.navigating(), nil
	case <-n.dialogs:
		return false, p.DialogFault()
	case <-n.lifetime.Done():
		return true, nil // closed or crashed: begin says which
	case <-ctx.Done():
		return false, ctx.Err()
	case <-n.answerBy.C:
		return false, &fault.Error{
			Code: fault.Timeout, Err: context.DeadlineExceeded,
			Message: "the page did not answer in time, so nothing was navigated; it stayed as it was",
		}
	}
}

// follows reports whether the page has a navigation under way, or one that begins now.
func (n *navigation) follows(ctx context.Context) bool {
	p := n.page
	timer := time.NewTimer(beginTime)
	defer timer.Stop()
	for {
		changed := p.change.Wait()
		p.mu.Lock()
		begun, asked := p.awaited != "", p.redirect && !p.redirecting
		p.mu.Unlock()
		if begun || !asked {
			return begun
		}
		select {
		case <-changed:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// watchThread looks, when the new document takes long, whether the page that is left keeps
// its own thread in a handler of its leaving, and stops that. A server that is silent
// is waited for. The function that it returns ends the watch, and may be called again.
//
// What is asked is answered by the page's process while a navigation is under way, which
// most commands are not, unless the server has answered. It changes nothing in the page.
func (n *navigation) watchThread() (end func()) {
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for n.keptBusy(ended) {
			if _, open := n.page.Dialog(); !open {
				n.page.client.Post(n.page.stopScript())
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(ended)
		<-over
	})
}

// keptBusy waits until the page that is left is seen to keep its thread, which is true, or until the
// navigation is over.
func (n *navigation) keptBusy(ended <-chan struct{}) bool {
	p := n.page
	for {
		late := time.NewTimer(n.patient(stuckAfter))
		select {
		case <-ended:
			late.Stop()
			return false
		case <-late.C:
		}
		replied := make(chan error, 1)
		p.client.Post(cdp.Command{
			Session: p.session.ID,
			Method:  "Page.getAppManifest",
			OnReply: func(r cdp.Reply) { replied <- r.Err },
		})
		runs := false
		limit := time.NewTimer(n.patient(stuckAfter))
		for waiting := true; waiting; {
			select {
			case <-ended:
				limit.Stop()
				return false
			case err := <-replied:
				runs = runs || err == nil // then it is the server that is silent
			case <-limit.C:
				waiting = false
			}
		}
		if !runs {
			return true
		}
	}
}

// endRenderer ends the page's process so that a navigation can go on in another.
func (p *Page) endRenderer(ctx context.Context) error {
	p.mu.Lock()
	l := p.lifetime
	p.restarting = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.restarting = false
		p.mu.Unlock()
	}()
	p.client.Post(
		cdp.Command{Session: p.session.ID, Method: "Page.stopLoading"},
		cdp.Command{Session: p.session.ID, Method: "Page.crash"},
	)
	select {
	case <-l.Done():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
