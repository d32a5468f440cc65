package page

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/browser/cdp"
	"github.com/outrider-run/outrider/runtime/browser/excerpt"
)

// openDialog is the JavaScript dialog that blocks a tab.
type openDialog struct {
	primitives.Dialog
	s *cdp.Session // session that reported it and must answer it
}

// dialogMessage bounds the page's text in evidence, in characters.
const dialogMessage = 200

// answerCap bounds answering a dialog, which the browser does by itself.
const answerCap = 8 * time.Second

func (d *openDialog) fault() error {
	return fault.New(fault.DialogOpen, "a %s dialog is open and blocks the page", d.Type).
		With("type", d.Type).With("message", excerpt.Characters(d.Message, dialogMessage)).
		Next("answer it with browser.dismiss_dialog")
}

// Dialog implements primitives.Page.
func (t *Page) Dialog() (primitives.Dialog, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dialog == nil {
		return primitives.Dialog{}, false
	}
	return t.dialog.Dialog, true
}

// AnswerDialog implements primitives.Page.
func (t *Page) AnswerDialog(ctx context.Context, accept bool, promptText string) (primitives.Dialog, error) {
	t.mu.Lock()
	d, l := t.dialog, t.life
	t.mu.Unlock()
	if d == nil {
		select {
		case <-l.Done():
			return primitives.Dialog{}, l.Err()
		default:
			return primitives.Dialog{}, fault.New(fault.NoDialog, "no dialog is open")
		}
	}
	ctx, cancel := context.WithTimeout(ctx, answerCap)
	defer cancel()
	params := strconv.AppendBool([]byte(`{"accept":`), accept)
	if d.Type == "prompt" && accept {
		params = cdp.AppendQuoted(append(params, `,"promptText":`...), promptText)
	}
	err := t.askIn(ctx, d.s, "Page.handleJavaScriptDialog", append(params, '}'), nil)
	var pe *cdp.Error
	refused := errors.As(err, &pe)
	if err != nil && !refused {
		return d.Dialog, cdp.Explain(err, "answering the dialog")
	}
	// The event that says so may come later than the answer.
	t.mu.Lock()
	closed := t.dialog == d
	if closed {
		t.dialog = nil
	}
	t.mu.Unlock()
	if closed {
		t.change.Notify()
	}
	if refused {
		return primitives.Dialog{}, &fault.Error{Code: fault.NoDialog, Message: "the dialog was closed by somebody else", Err: err}
	}
	return d.Dialog, nil
}

// Dismissal returns the command that closes the open dialog, if any. It must be
// sent in one write with what ends the tab, so that no further dialog gets in
// between: Chromium 156 ends with a segmentation fault when a tab is closed while
// a dialog of a frame in another process is open.
func (t *Page) Dismissal() []cdp.Command {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dialog == nil {
		return nil
	}
	ignore := func(cdp.Reply) {}
	return []cdp.Command{{Session: t.dialog.s.ID, Method: "Page.handleJavaScriptDialog", Params: []byte(`{"accept":false}`), OnReply: ignore}}
}

func (t *Page) dialogFault() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dialog == nil { // closed again already
		return fault.New(fault.DialogOpen, "a dialog opened during the call")
	}
	return t.dialog.fault()
}

func (t *Page) onDialogOpening(s *cdp.Session, params []byte) {
	var e struct {
		URL           string `json:"url"`
		Message       string `json:"message"`
		Type          string `json:"type"`
		DefaultPrompt string `json:"defaultPrompt"`
	}
	if json.Unmarshal(params, &e) != nil {
		return
	}
	t.mu.Lock()
	t.dialog = &openDialog{s: s, Dialog: primitives.Dialog{
		Type: e.Type, Message: e.Message, DefaultPrompt: e.DefaultPrompt, URL: e.URL, OpenedAt: time.Now(),
	}}
	t.dialogsSeen++
	t.lastDialog = &t.dialog.Dialog
	close(t.dialogs)
	t.dialogs = make(chan struct{})
	t.mu.Unlock()
	t.change.Notify()
	t.observer.DialogOpened()
}

func (t *Page) onDialogClosed() {
	t.mu.Lock()
	t.dialog = nil
	t.mu.Unlock()
	t.sendReleases()
	t.change.Notify()
	t.observer.DialogClosed()
}
