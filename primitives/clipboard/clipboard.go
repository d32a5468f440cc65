package clipboard

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/actionability"
	"github.com/outrider-run/outrider/primitives/arguments"
	"github.com/outrider-run/outrider/primitives/locator"
	"github.com/outrider-run/outrider/primitives/quirks"
	"github.com/outrider-run/outrider/primitives/session"
	"github.com/outrider-run/outrider/primitives/text"
)

// The clipboard is the session's: see session.Clipboard.

type clipboardCopyIn struct {
	Target    *locator.SelectorOrLocator `json:"target"`
	TimeoutMS *int                       `json:"timeout_ms"`
}

type clipboardCopyOut struct {
	// Copied is false when nothing was selected, but see
	// quirks.ControlsSelectNothing; the clipboard keeps what it had.
	Copied         bool                  `json:"copied"`
	CopiedLength   int                   `json:"copied_length"` // UTF-16 units
	ClipboardWrite string                `json:"clipboard_write"`
	Target         actionability.ActedOn `json:"target"` // what heard the copy event; null for the document
}

// clipboardCopy lets the page answer a copy event and takes the selection when
// it does not.
var clipboardCopy = primitives.Define("clipboard.copy", func(
	ctx context.Context, p primitives.Page, in clipboardCopyIn,
) (clipboardCopyOut, error) {
	s, err := session.Of(p, "clipboard.copy", "clipboard.write")
	if err != nil {
		return clipboardCopyOut{}, err
	}
	var taken struct {
		Text, HTML string
		Target     actionability.ActedOn
	}
	if err := text.CallTarget(ctx, p, in.Target, in.TimeoutMS, "clipboard_copy", map[string]any{}, &taken); err != nil {
		return clipboardCopyOut{}, err
	}
	if taken.Text == "" && taken.HTML == "" {
		copied := primitives.QuirksOf(p).Has(quirks.ControlsSelectNothing) // the extension says so all the same
		return clipboardCopyOut{Copied: copied, ClipboardWrite: "empty_selection", Target: taken.Target}, nil
	}
	s.Clipboard(ctx).Set(session.Clip{Text: taken.Text, HTML: taken.HTML})
	return clipboardCopyOut{
		Copied:         true,
		CopiedLength:   text.Utf16Length(taken.Text),
		ClipboardWrite: "ok",
		Target:         taken.Target,
	}, nil
})

type clipboardReadOut struct {
	Text   string `json:"text"`
	Length int    `json:"length"` // UTF-16 units
}

var clipboardRead = primitives.Define("clipboard.read", func(
	ctx context.Context, p primitives.Page, _ struct{},
) (clipboardReadOut, error) {
	s, err := session.Of(p, "clipboard.read", "clipboard.read")
	if err != nil {
		return clipboardReadOut{}, err
	}
	content, _ := s.Clipboard(ctx).Get()
	return clipboardReadOut{content.Text, text.Utf16Length(content.Text)}, nil
})

type clipboardWriteIn struct {
	Text arguments.Text `json:"text"`
}

type clipboardWriteOut struct {
	Written bool `json:"written"`
	Length  int  `json:"length"` // UTF-16 units
}

var clipboardWrite = primitives.Define("clipboard.write", func(
	ctx context.Context, p primitives.Page, in clipboardWriteIn,
) (clipboardWriteOut, error) {
	s, err := session.Of(p, "clipboard.write", "clipboard.write")
	if err != nil {
		return clipboardWriteOut{}, err
	}
	s.Clipboard(ctx).Set(session.Clip{Text: string(in.Text)})
	return clipboardWriteOut{true, text.Utf16Length(string(in.Text))}, nil
})

type clipboardPasteIn struct {
	// Text nil with no HTML pastes the clipboard.
	Text      *arguments.Text            `json:"text"`
	HTML      string                     `json:"html"`
	Target    *locator.SelectorOrLocator `json:"target"`
	TimeoutMS *int                       `json:"timeout_ms"`
}

type clipboardPasteOut struct {
	Pasted         bool   `json:"pasted"`
	InsertedLength int    `json:"inserted_length"`
	InputMethod    string `json:"input_method"`
	// DefaultPrevented is the sign that an editor took the data.
	DefaultPrevented bool                  `json:"default_prevented"`
	HTMLProvided     bool                  `json:"html_provided"`
	TargetKind       string                `json:"target_kind"`
	Target           actionability.ActedOn `json:"target"`
	Source           string                `json:"source"`
}

// clipboardPaste gives an editor data as a paste event, which works in editors
// with a model of their own, also inside frames. What nobody takes goes to the
// caret of what takes text.
var clipboardPaste = primitives.Define("clipboard.paste", func(
	ctx context.Context, p primitives.Page, in clipboardPasteIn,
) (clipboardPasteOut, error) {
	out := clipboardPasteOut{HTMLProvided: in.HTML != "", Source: "argument"}
	args := map[string]any{}
	switch {
	case in.Text != nil:
		args["text"] = string(*in.Text)
	case in.HTML == "":
		s, err := session.Of(p, "clipboard.paste without text", "clipboard.read")
		if err != nil {
			return clipboardPasteOut{}, err
		}
		held, _ := s.Clipboard(ctx).Get()
		args["text"], in.HTML = held.Text, held.HTML
		out.Source = "session-clipboard"
	}
	if in.HTML != "" {
		args["html"] = in.HTML
	}
	if err := text.CallTarget(ctx, p, in.Target, in.TimeoutMS, "clipboard_paste", args, &out); err != nil {
		return clipboardPasteOut{}, err
	}
	return out, nil
})
