package page

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
)

const (
	// DefaultLoad bounds the wait for the load event of a navigation that does not
	// say how long it may take.
	DefaultLoad = 15 * time.Second
	// maxSelfReplaced is how many more documents are waited for when each replaces
	// itself before it reported what it is.
	maxSelfReplaced = 5
)

// Navigate implements primitives.Page. A dialog that the new document opens while
// it loads ends the wait: the navigation is reported, as not loaded, and Dialog
// has the dialog. A beforeunload dialog of the old document is dialog_open.
//
// The server is asked once. A navigation that the page has under way is stopped before:
// this one takes its place. A page whose script never ends cannot keep the new document
// away: the script is stopped, or, when that does not help, the page's process, before
// the navigation begins. Until the new document is there, whatever ends the navigation
// stops it, and the page stays as it was.
func (p *Page) Navigate(ctx context.Context, opts primitives.NavigateOptions) (primitives.Navigation, error) {
	if err := p.Admit(ctx, ""); err != nil {
		return primitives.Navigation{}, err
	}
	ctx = primitives.WithoutBounds(ctx) // where it leads is for the caller to judge
	limit := opts.LoadTimeout
	if limit <= 0 {
		limit = DefaultLoad
	}
	deadline := time.NewTimer(limit)
	defer deadline.Stop()
	most := max(limit, opts.AnswerTimeout)
	answer := time.NewTimer(most)
	defer answer.Stop()
	n := &navigation{page: p, deadline: deadline, answerBy: answer, most: most}
	if err := n.run(ctx, opts); err != nil {
		return primitives.Navigation{}, cdp.Explain(err, "navigating")
	}
	for again := 0; ; again++ {
		out, ok := p.describe(ctx, n)
		// The page may replace itself while it describes itself.
		if ok || again == maxSelfReplaced || !p.replacing(n) || n.load(ctx) != nil {
			return out, nil
		}
	}
}

// replacing reports whether another document than the one that n saw last is there
// or on its way.
func (p *Page) replacing(n *navigation) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commits != n.seen || p.redirect || p.loading
}

func (n *navigation) run(ctx context.Context, opts primitives.NavigateOptions) error {
	p := n.page
	if err := n.clear(ctx); err != nil {
		return err
	}
	if err := n.begin(); err != nil {
		return err
	}
	method, params := "Page.navigate", cdp.Object("url", opts.URL, "transitionType", "typed")
	switch {
	case opts.Reload:
		method, params = "Page.reload", nil
		if opts.NoCache {
			params = []byte(`{"ignoreCache":true}`)
		}
	case opts.Steps != 0:
		entry, err := p.entryAt(ctx, opts.Steps)
		if err != nil {
			return err
		}
		n.steps = true
		n.entry = entry
		method, params = "Page.navigateToHistoryEntry", []byte(`{"entryId":`+strconv.Itoa(entry)+`}`)
	}
	commands := []cdp.Command{{Session: p.session.ID, Method: method, Params: params}}
	if !n.steps { // a document that is restored from the history runs no script again
		n.loadReport = p.newLoadReport()
		defer p.endLoadReport(n.loadReport)
		commands = []cdp.Command{p.loadReportCommand(n.loadReport), commands[0]}
	}
	calls, err := p.client.Start(ctx, commands...)
	if err != nil {
		return err
	}
	navigating := calls[len(calls)-1]
	defer p.client.Forget(navigating)
	p.offerLibrary() // it reaches the page before the document does
	watched := n.watchThread()
	defer watched()
	result, err := n.answer(ctx, navigating)
	if err != nil || n.sameDocument(opts, result) {
		return err
	}
	if n.loader != "" {
		p.bindLoadReport(n.loadReport)
	}
	if err := n.commit(ctx); err != nil || n.same {
		return err
	}
	if n.loader == "" {
		p.bindLoadReport(n.loadReport)
	}
	watched()
	return n.load(ctx)
}

// navigation is one Navigate.
type navigation struct {
	page       *Page
	lifetime   *cdp.Lifetime
	dialogs    chan struct{}
	commits    int           // documents the frame had before
	deadline   *time.Timer   // for the load event
	answerBy   *time.Timer   // for the new document
	most       time.Duration // until answerBy, from the beginning
	loader     string        // of the new document; empty for a reload, where it is not given
	steps      bool          // along the history
	entry      int           // of the history that it leads to, when it goes along it
	restored   bool          // the browser says that this entry is the current one
	moves      int           // moves within a document that the frame had before
	seen       int           // documents the frame had when the load was over
	same       bool
	replaced   bool
	loaded     bool
	loadReport *loadReport // of the first document that it brings; nil where none is to be expected
}

func (n *navigation) begin() error {
	p := n.page
	p.mu.Lock()
	defer p.mu.Unlock()
	n.lifetime = p.lifetime
	if p.crashed {
		// Navigating is how a crashed tab restarts.
		n.lifetime = cdp.LifetimeOf(p.session, fault.New(fault.TabClosed, "the tab was closed"))
	} else if err := p.blockedReason(); err != nil {
		return err
	}
	n.dialogs = p.dialogs
	n.commits = p.commits
	n.moves = p.moves
	p.redirect, p.certificate = false, ""
	return nil
}

// leave answers the question of the old document whether to leave it, where the caller has
// said that it is left. Any other dialog blocks the navigation.
func (n *navigation) leave(ctx context.Context) error {
	p := n.page
	p.mu.Lock()
	d := p.dialog
	n.dialogs = p.dialogs // the next one to come
	p.mu.Unlock()
	if d == nil {
		return nil // somebody else has answered it
	}
	if d.Type != "beforeunload" || !primitives.IsLeaving(ctx) {
		return p.DialogFault()
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := p.closeDialog(ctx, d, true, ""); fault.CodeOf(err) != fault.NoDialog {
		return err
	}
	return nil
}

// answer waits for the answer to the command, which comes when the server has
// answered, and checks it.
func (n *navigation) answer(ctx context.Context, call *cdp.Call) ([]byte, error) {
	for {
		select {
		case r := <-call.Replied():
			var pe *cdp.Error
			if errors.As(r.Err, &pe) {
				return nil, (&fault.Error{
					Code:    fault.NavigationFailed,
					Message: "the address cannot be loaded",
					Err:     r.Err,
				}).
					With("error_text", pe.Message)
			}
			if r.Err != nil {
				return nil, r.Err
			}
			n.loader = string(cdp.PlainString(cdp.Member(r.Result, "loaderId")))
			return r.Result, n.refused(ctx, r.Result)
		case <-n.dialogs:
			if err := n.leave(ctx); err != nil {
				return nil, err
			}
		case <-n.lifetime.Done():
			return nil, n.lifetime.Err()
		case <-ctx.Done():
			return nil, n.stopped(ctx.Err())
		case <-n.answerBy.C:
			return nil, n.tooSlow()
		}
	}
}

// refused reads the failure of a navigation from the answer. Where the browser
// shows an error page it waits for that page, so that it does not come under
// what the caller does next.
func (n *navigation) refused(ctx context.Context, result []byte) error {
	var r struct {
		ErrorText  string `json:"errorText"`
		IsDownload bool   `json:"isDownload"`
	}
	if json.Unmarshal(result, &r) != nil || (r.ErrorText == "" && !r.IsDownload) {
		return nil
	}
	if r.ErrorText == "net::ERR_ABORTED" {
		r.ErrorText = cmp.Or(n.page.refusedCertificate(), r.ErrorText)
	}
	f := fault.New(fault.NavigationFailed, "the address could not be loaded").With("error_text", r.ErrorText)
	switch {
	case r.IsDownload:
		f.Message = "the address is a download, so the page stayed as it was"
	case r.ErrorText == "net::ERR_ABORTED":
		f.Message = "no new document came: an empty answer (204 or 205), a download, or another navigation got in " +
			"between"
	case strings.HasPrefix(r.ErrorText, "net::ERR_NAME"):
		f.Message = "the host name does not resolve"
	case strings.HasPrefix(r.ErrorText, "net::ERR_CERT_"):
		f.Message = "the certificate of the server is not valid"
		f.NextStep = "give the server a certificate that the browser trusts, or start with --insecure-origin for " +
			"this origin"
	case clientCertificate[r.ErrorText]:
		f.Message = "the server asks for a client certificate, which this browser does not have"
		f.NextStep = "open it in a Chrome that has the certificate, with --attach"
	case closedEarly[r.ErrorText]:
		f.Message = "the server closed the connection before it answered"
		f.NextStep = "over https a server that asks for a client certificate does so: open it in a Chrome that has " +
			"the certificate, with --attach"
	case r.ErrorText == "net::ERR_CONNECTION_REFUSED":
		f.Message = "the server refuses connections"
	}
	if n.loader != "" && r.ErrorText != "net::ERR_ABORTED" && !r.IsDownload {
		ctx, cancel := context.WithTimeout(ctx, describeTimeout)
		defer cancel()
		_ = n.commit(ctx)
	}
	return f
}

// clientCertificate are the errors of the browser for a server that wants a certificate of its client.
var clientCertificate = map[string]bool{
	"net::ERR_SSL_CLIENT_AUTH_CERT_NEEDED":               true,
	"net::ERR_BAD_SSL_CLIENT_AUTH_CERT":                  true,
	"net::ERR_SSL_CLIENT_AUTH_SIGNATURE_FAILED":          true,
	"net::ERR_SSL_CLIENT_AUTH_PRIVATE_KEY_ACCESS_DENIED": true,
	"net::ERR_SSL_CLIENT_AUTH_CERT_NO_PRIVATE_KEY":       true,
	"net::ERR_SSL_CLIENT_AUTH_NO_COMMON_ALGORITHMS":      true,
}

// closedEarly are the errors of the browser for a connection that the server ends. Where it wants a certificate of its
// client, the browser often sees that end and not the reason that came before.
var closedEarly = map[string]bool{
	"net::ERR_SOCKET_NOT_CONNECTED": true,
	"net::ERR_CONNECTION_RESET":     true,
	"net::ERR_CONNECTION_CLOSED":    true,
	"net::ERR_CONNECTION_ABORTED":   true,
	"net::ERR_EMPTY_RESPONSE":       true,
}

// CertificateRefused notes why a request was cancelled: the browser itself then says
// only that it was.
func (p *Page) CertificateRefused(why string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.certificate = why
}

func (p *Page) refusedCertificate() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.certificate
}

// tooSlow gives up before the new document is there.
func (n *navigation) tooSlow() error {
	return n.stopped(&fault.Error{
		Code:    fault.Timeout,
		Message: "the server did not answer in time; the page stayed as it was",
		Err:     context.DeadlineExceeded,
	})
}

// stopTime bounds the wait for the browser's word that it has stopped a navigation.
const stopTime = 100 * time.Millisecond

// stopped stops the loading of a document that is not there yet, so that it does not replace
// the page under a later call, and returns err. A document that came all the same is an
// error of its own, as long as the caller still listens.
func (n *navigation) stopped(err error) error {
	n.page.stopLoading(context.Background())
	n.page.mu.Lock()
	replaced := n.page.commits != n.commits
	n.page.mu.Unlock()
	if replaced && fault.CodeOf(err) == fault.Timeout {
		return fault.New(
			fault.Timeout, "the navigation did not end in time; another document has replaced the page meanwhile",
		).Next("look where the page is before you navigate again")
	}
	return err
}

// stopLoading stops the navigation that is under way, and returns when the browser has said
// so. It is the browser that answers, also while the page cannot.
func (p *Page) stopLoading(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, stopTime)
	defer cancel()
	calls, err := p.client.Start(ctx, cdp.Command{Session: p.session.ID, Method: "Page.stopLoading"})
	if err == nil {
		_, _ = p.client.Wait(ctx, calls[0])
		p.client.Forget(calls...)
	}
}

func (n *navigation) sameDocument(opts primitives.NavigateOptions, result []byte) bool {
	n.same = !opts.Reload && !n.steps && cdp.Member(result, "loaderId") == nil
	return n.same
}

// commit waits until the new document is there.
func (n *navigation) commit(ctx context.Context) error {
	started := false
	for {
		changed := n.page.change.Wait()
		n.page.mu.Lock()
		n.replaced = n.committed()
		n.same = n.steps && !n.replaced && n.page.moves != n.moves
		started = started || n.page.loading
		ended := started && !n.page.loading
		n.page.mu.Unlock()
		if n.replaced || n.same {
			return nil
		}
		if ended && n.steps && !n.restored {
			// A document of the back/forward cache is there only after the frame has stopped loading.
			n.restored = n.page.isAt(ctx, n.entry)
			if n.restored {
				continue
			}
		}
		if ended && !n.restored { // a reload that brought nothing
			return fault.New(fault.NavigationFailed, "no new document came: an empty answer (204 or 205) or a download")
		}
		select {
		case <-changed:
		case <-n.dialogs:
			if err := n.leave(ctx); err != nil {
				return err
			}
		case <-n.lifetime.Done():
			return n.lifetime.Err()
		case <-ctx.Done():
			return n.stopped(ctx.Err())
		case <-n.answerBy.C:
			return n.tooSlow()
		}
	}
}

// committed reports whether the new document has come, and be it that another has
// replaced it since; p.mu is held.
func (n *navigation) committed() bool {
	if n.loader == "" {
		return n.page.commits != n.commits
	}
	return slices.Contains(n.page.loaders[:], n.loader)
}

// load waits for the load event of the document that is there, also when the page
// replaced itself meanwhile or has requested to.
func (n *navigation) load(ctx context.Context) error {
	n.lifetime = n.page.Lifetime() // a crashed tab has a new one
	for {
		changed := n.page.change.Wait()
		n.page.mu.Lock()
		f := n.page.frames[n.page.main]
		failed := ""
		if f != nil {
			// A refresh without delay is announced between the load event and
			// the end of loading.
			n.loaded, failed = f.loaded && !n.page.redirect && !n.page.loading, f.failed
		}
		n.seen = n.page.commits
		blocked := n.page.dialog != nil
		n.page.mu.Unlock()
		switch {
		case failed != "":
			return fault.New(
				fault.NavigationFailed, "the address could not be loaded; the browser shows its error page",
			)
		case n.loaded || blocked:
			return nil
		}
		select {
		case <-changed:
		case <-n.lifetime.Done():
			return n.lifetime.Err()
		case <-ctx.Done():
			return ctx.Err()
		case <-n.deadline.C:
			return nil
		}
	}
}

// onRequestedNavigation notes that the page is about to replace itself at once: a
// script set the location, or a refresh has no delay. It holds until the new
// document is there or the frame stops loading without one.
func (p *Page) onRequestedNavigation(params []byte) {
	var e struct {
		FrameID     primitives.FrameID `json:"frameId"`
		Delay       float64            `json:"delay"`
		Disposition string             `json:"disposition"`
	}
	if json.Unmarshal(params, &e) != nil || e.Delay > 0.1 || (e.Disposition != "" && e.Disposition != "currentTab") {
		return
	}
	p.mu.Lock()
	if e.FrameID == p.main {
		p.redirect, p.redirecting = true, false
	}
	p.mu.Unlock()
	p.change.Notify()
}

// onStartedNavigating notes that another document has been asked for. It holds until the
// document is there or the frame stops loading without one.
func (p *Page) onStartedNavigating(params []byte) {
	id := primitives.FrameID(cdp.PlainString(cdp.Member(params, "frameId")))
	switch string(cdp.PlainString(cdp.Member(params, "navigationType"))) {
	case "sameDocument", "historySameDocument":
		return
	}
	p.mu.Lock()
	if id == p.main {
		p.awaited = string(cdp.PlainString(cdp.Member(params, "loaderId")))
	}
	p.mu.Unlock()
}

// navigating reports whether the page has asked for another document that is not there yet.
// Meanwhile the browser holds back what we send to the page's process, for as long as the
// server is silent: that the page does not answer tells nothing of it.
func (p *Page) navigating() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.awaited != ""
}

// onClearedNavigation takes the event that a navigation is no longer scheduled: it was called
// off, or it has begun.
func (p *Page) onClearedNavigation(params []byte) {
	id := primitives.FrameID(cdp.PlainString(cdp.Member(params, "frameId")))
	p.mu.Lock()
	if id == p.main && !p.redirecting {
		p.redirect = false
	}
	p.mu.Unlock()
	p.change.Notify()
}
