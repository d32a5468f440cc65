package browser

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/primitives"
)

type browserDismissDialogIn struct {
	TabID *int `json:"tab_id"`
	// Accept is true unless it is explicitly false. For beforeunload, accepting
	// leaves the page.
	Accept *bool `json:"accept"`
	// PromptText answers a prompt; nil keeps the text the page proposes.
	PromptText *string `json:"prompt_text"`
}

type browserDismissDialogOut struct {
	OK           bool         `json:"ok"`
	Dismissed    bool         `json:"dismissed"`
	TabID        int          `json:"tab_id"`
	Accept       bool         `json:"accept"`
	ForcedDetach bool         `json:"forced_detach"` // always false: no session has to be given up
	Dialog       closedDialog `json:"dialog"`
}

// closedDialog says what was on the screen. Message is text of the page.
type closedDialog struct {
	Type             string `json:"type"`
	Message          string `json:"message"`
	MessageTruncated bool   `json:"message_truncated,omitempty"`
}

const (
	dialogBound = 8 * time.Second
	// maxDialogMessage is in bytes. A page can put any amount of text there.
	maxDialogMessage = 1000
)

// browserDismissDialog answers the dialog that blocks a tab. It asks the
// browser, not the page, whose main thread stands still.
var browserDismissDialog = primitives.Define("browser.dismiss_dialog", func(
	ctx context.Context, p primitives.Page, in browserDismissDialogIn,
) (browserDismissDialogOut, error) {
	ctx, cancel := context.WithTimeout(ctx, dialogBound)
	defer cancel()
	p, err := primitives.PeerOf(p, in.TabID)
	if err != nil {
		return browserDismissDialogOut{}, err
	}
	accept := in.Accept == nil || *in.Accept
	text := ""
	if in.PromptText != nil {
		text = *in.PromptText
	} else if d, open := p.Dialog(); open {
		text = d.DefaultPrompt
	}
	d, err := p.AnswerDialog(ctx, accept, text)
	if err != nil {
		return browserDismissDialogOut{}, err
	}
	out := browserDismissDialogOut{
		OK:        true,
		Dismissed: true,
		TabID:     p.Tab().ID,
		Accept:    accept,
		Dialog:    closedDialog{Type: d.Type, Message: d.Message},
	}
	if len(d.Message) > maxDialogMessage {
		out.Dialog.Message, out.Dialog.MessageTruncated = cutText(d.Message, maxDialogMessage), true
	}
	return out, nil
})

// cutText shortens s to at most n bytes without splitting a character.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xc0 == 0x80 {
		n--
	}
	return s[:n]
}
