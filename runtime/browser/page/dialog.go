package page

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/address"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/truncate"
)

// openDialog is the JavaScript dialog that blocks a tab.
type openDialog struct {
	primitives.Dialog
	session *cdp.Session // session that reported it and must answer it
}

// dialogMessage bounds the page's text in evidence, in characters.
const dialogMessage = 200

// answerTimeout bounds answering a dialog, which the browser does by itself.
const answerTimeout = 8 * time.Second

func (d *openDialog) fault() error {
	return fault.New(fault.DialogOpen, "a dialog (%s) is open and blocks the page", d.Type).
		With("type", d.Type).With("message", truncate.Characters(d.Message, dialogMessage)).
		Next("answer it with browser.dismiss_dialog")
}

// Dialog implements primitives.Page.
func (p *Page) Dialog() (primitives.Dialog, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dialog == nil {
		return primitives.Dialog{}, false
	}
	return p.dialog.Dialog, true
}

// AnswerDialog implements primitives.Page.
func (p *Page) AnswerDialog(ctx context.Context, accept bool, promptText string) (primitives.Dialog, error) {
	p.mu.Lock()
	d := p.dialog
	l := p.lifetime
	commits := p.commits
	p.mu.Unlock()
	if d == nil {
		select {
		case <-l.Done():
			return primitives.Dialog{}, l.Err()
		default:
			return primitives.Dialog{}, fault.New(fault.NoDialog, "no dialog is open")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := p.closeDialog(ctx, d, accept, promptText); fault.CodeOf(err) == fault.NoDialog {
		return primitives.Dialog{}, err
	} else if err != nil {
		return d.Dialog, err
	}
	if accept && d.Type == "beforeunload" {
		p.awaitLeaving(ctx, commits)
	}
	return d.Dialog, nil
}

// closeDialog answers a dialog; no_dialog when somebody else has closed it.
func (p *Page) closeDialog(ctx context.Context, d *openDialog, accept bool, promptText string) error {
	params := strconv.AppendBool([]byte(`{"accept":`), accept)
	if d.Type == "prompt" && accept {
		params = cdp.AppendQuoted(append(params, `,"promptText":`...), promptText)
	}
	err := p.doIn(ctx, d.session, "Page.handleJavaScriptDialog", append(params, '}'), nil)
	var pe *cdp.Error
	refused := errors.As(err, &pe)
	if err != nil && !refused {
		return cdp.Explain(err, "answering the dialog")
	}
	// The event for it may come later than the answer.
	p.mu.Lock()
	closed := p.dialog == d
	if closed {
		p.dialog = nil
	}
	p.mu.Unlock()
	if closed {
		p.change.Notify()
	}
	if refused {
		return &fault.Error{Code: fault.NoDialog, Message: "the dialog was closed by somebody else", Err: err}
	}
	return nil
}

// leavingTime bounds the wait for the document that a page is left for.
const leavingTime = 3 * time.Second

// awaitLeaving waits until a page that may be left is: the navigation that asked goes on by
// itself, and one that began before it is over would be taken for it. A server that takes
// longer is not waited for.
func (p *Page) awaitLeaving(ctx context.Context, commits int) {
	ctx, cancel := context.WithTimeout(ctx, leavingTime)
	defer cancel()
	for {
		changed := p.change.Wait()
		p.mu.Lock()
		l, left := p.lifetime, p.commits != commits || p.dialog != nil
		p.mu.Unlock()
		if left {
			return
		}
		select {
		case <-changed:
		case <-l.Done():
			return
		case <-ctx.Done():
			return
		}
	}
}

// Dismissal returns the commands that end the script which waits for the open dialog, if
// any, and close it. They must be sent in one write with what ends the tab, so that no
// further dialog gets in between: Chromium 156 ends with a segmentation fault when a tab
// is closed while a dialog of a frame in another process is open.
func (p *Page) Dismissal() []cdp.Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dialog == nil {
		return nil
	}
	session, ignore := p.dialog.session.ID, func(cdp.Reply) {}
	return []cdp.Command{{Session: session, Method: "Runtime.terminateExecution", OnReply: ignore},
		{Session: session, Method: "Page.handleJavaScriptDialog", Params: []byte(`{"accept":false}`), OnReply: ignore}}
}

// DialogFault is the error of what a dialog keeps from happening.
func (p *Page) DialogFault() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dialog == nil { // closed again already
		return fault.New(fault.DialogOpen, "a dialog opened during the call")
	}
	return p.dialog.fault()
}

func (p *Page) onDialogOpening(s *cdp.Session, params []byte) {
	var e struct {
		URL           string `json:"url"`
		Message       string `json:"message"`
		Type          string `json:"type"`
		DefaultPrompt string `json:"defaultPrompt"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	p.mu.Lock()
	p.dialog = &openDialog{session: s, Dialog: primitives.Dialog{
		Type:          e.Type,
		Message:       e.Message,
		DefaultPrompt: e.DefaultPrompt,
		URL:           address.WithoutUser(e.URL),
		OpenedAt:      time.Now(),
	}}
	p.dialogCount++
	p.lastDialog = &p.dialog.Dialog
	close(p.dialogs)
	p.dialogs = make(chan struct{})
	p.mu.Unlock()
	p.change.Notify()
	p.observer.DialogOpened()
}

func (p *Page) onDialogClosed(params []byte) {
	var e struct {
		Result    bool   `json:"result"`
		UserInput string `json:"userInput"`
	}
	_ = json.Unmarshal(params, &e) // without it, it counts as refused
	p.mu.Lock()
	p.dialog = nil
	if p.lastDialog != nil {
		d := *p.lastDialog
		d.Accepted, d.Answer = e.Result, e.UserInput
		p.lastDialog = &d
	}
	p.mu.Unlock()
	p.resendReleases()
	p.change.Notify()
	p.observer.DialogClosed()
}
