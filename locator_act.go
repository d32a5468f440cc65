package outrider

import (
	"context"
	"time"

	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/primitives/fault"
)

// ClickOptions say what is special of a click. The zero value is a click of the left button.
type ClickOptions struct {
	// Button is left, middle or right.
	Button string
	// Modifiers are keys that are held: Shift, Alt, Control, Meta.
	Modifiers []string
	// Force clicks whatever is over the element, and also when it is disabled or moving.
	Force bool
}

// Click clicks the element once it is there, drawn, enabled, at rest and not covered. It returns when the click was
// sent: read the page to see what came of it.
func (l Locator) Click(ctx context.Context) error { return l.ClickWith(ctx, ClickOptions{}) }

// ClickWith is Click with another button, held keys or force.
func (l Locator) ClickWith(ctx context.Context, o ClickOptions) error {
	if err := l.usable(); err != nil {
		return err
	}
	_, err := client.PointerClick(ctx, l.caller(), client.PointerClickArgs{
		Locator: &l.query, Button: o.Button, Modifiers: o.Modifiers, Force: o.Force, TimeoutMS: l.wait(ctx),
	})
	return err
}

// DoubleClick clicks the element twice.
func (l Locator) DoubleClick(ctx context.Context) error {
	if err := l.usable(); err != nil {
		return err
	}
	_, err := client.PointerDoubleClick(ctx, l.caller(), client.PointerDoubleClickArgs{
		Locator: &l.query, TimeoutMS: l.wait(ctx),
	})
	return err
}

// Tap touches the element with one finger.
func (l Locator) Tap(ctx context.Context) error {
	if err := l.usable(); err != nil {
		return err
	}
	_, err := client.PointerTap(ctx, l.caller(), client.PointerTapArgs{Locator: &l.query, TimeoutMS: l.wait(ctx)})
	return err
}

// Fill replaces what a control or an editor holds.
func (l Locator) Fill(ctx context.Context, text string) error {
	if err := l.usable(); err != nil {
		return err
	}
	_, err := client.TextInsert(ctx, l.caller(), client.TextInsertArgs{
		Target: &l.query, Text: text, Mode: "replace", Drawn: true, TimeoutMS: l.wait(ctx),
	})
	return err
}

// Type types text at the end of what the element holds, one key after the other.
func (l Locator) Type(ctx context.Context, text string) error {
	if err := l.usable(); err != nil {
		return err
	}
	_, err := client.TextType(ctx, l.caller(), client.TextTypeArgs{
		Locator: &l.query, Text: text, Trusted: true, Caret: "end", TimeoutMS: l.wait(ctx),
	})
	return err
}

// Press focuses the element and presses a key or a chord there, such as Enter or Control+A.
func (l Locator) Press(ctx context.Context, key string) error {
	if err := l.usable(); err != nil {
		return err
	}
	_, err := client.KeyboardPress(ctx, l.caller(), client.KeyboardPressArgs{
		Locator: &l.query, Key: key, TimeoutMS: l.wait(ctx),
	})
	return err
}

// setWithin is how long a click may take to set what was clicked.
const setWithin = 2 * time.Second

// Check checks a checkbox, a radio button or a switch: by a click, unless it is checked. The error
// state_postcondition_failed says that the click did not check it.
func (l Locator) Check(ctx context.Context) error { return l.setChecked(ctx, true) }

// Uncheck is the opposite of Check.
func (l Locator) Uncheck(ctx context.Context) error { return l.setChecked(ctx, false) }

func (l Locator) setChecked(ctx context.Context, want bool) error {
	before, err := l.One(ctx, Reading{})
	if err != nil {
		return err
	}
	if before.Checked == nil {
		e := fault.New(fault.InvalidInput, "the element is a %s, which cannot be checked", before.Tag)
		return fromFault(e.With("locator", l.query).With("role", before.Role))
	}
	if before.Checked == want {
		return nil
	}
	if err := l.Click(ctx); err != nil {
		return err
	}
	var now *Elements
	state := ""
	for range 20 { // one change may be of something else, such as the focus
		now, err = l.read(ctx, Reading{}, &state, min(l.patience(ctx), setWithin))
		if err != nil {
			return err
		}
		if now.Count == 1 && now.List[0].Checked == want {
			return nil
		}
		if now.State == state {
			break
		}
		state = now.State
	}
	e := fault.New(fault.StatePostconditionFailed, "the click did not set the element").
		With("locator", l.query).With("want_checked", want)
	if now.Count == 1 {
		e.With("checked", now.List[0].Checked)
	}
	return l.tab.ended(ctx, e)
}

// Select chooses options of a list by their labels, or by their values where no label is so.
func (l Locator) Select(ctx context.Context, labels ...string) error {
	return l.choose(ctx, client.PageSelectArgs{Label: labels})
}

// SelectValue chooses options of a list by their values.
func (l Locator) SelectValue(ctx context.Context, values ...string) error {
	return l.choose(ctx, client.PageSelectArgs{Value: values})
}

// SelectIndex chooses options of a list by their positions, from 0.
func (l Locator) SelectIndex(ctx context.Context, positions ...int) error {
	return l.choose(ctx, client.PageSelectArgs{Index: positions})
}

func (l Locator) choose(ctx context.Context, arguments client.PageSelectArgs) error {
	if err := l.usable(); err != nil {
		return err
	}
	arguments.Locator, arguments.TimeoutMS = &l.query, l.wait(ctx)
	_, err := client.PageSelect(ctx, l.caller(), arguments)
	return err
}

// Hover moves the pointer onto the element.
func (l Locator) Hover(ctx context.Context) error {
	if err := l.usable(); err != nil {
		return err
	}
	_, err := client.PageHover(ctx, l.caller(), client.PageHoverArgs{Locator: &l.query, TimeoutMS: l.wait(ctx)})
	return err
}

// DragTo drags the element onto another one of the same tab.
func (l Locator) DragTo(ctx context.Context, to Locator) error {
	if err := l.usable(); err != nil {
		return err
	}
	if err := to.usable(); err != nil {
		return err
	}
	_, err := client.PointerDrag(ctx, l.caller(), client.PointerDragArgs{
		From: &l.query, To: &to.query, TimeoutMS: l.wait(ctx),
	})
	return err
}

// Upload makes files the choice of a file input, or of the file chooser that a click on the element opens. The files
// are in one of [BrowserOptions.UploadDirs].
func (l Locator) Upload(ctx context.Context, paths ...string) error {
	if err := l.usable(); err != nil {
		return err
	}
	_, err := client.UploadSetFiles(ctx, l.caller(), client.UploadSetFilesArgs{
		Locator: &l.query, Paths: paths, TimeoutMS: l.wait(ctx),
	})
	return err
}

// Focus moves the keyboard focus to the element.
func (l Locator) Focus(ctx context.Context) error {
	if err := l.usable(); err != nil {
		return err
	}
	r, err := client.DomFocus(ctx, l.caller(), client.DomFocusArgs{Locator: &l.query, TimeoutMS: l.wait(ctx)})
	if err == nil && !r.Focused {
		e := fault.New(fault.TargetNotFocusable, "the element did not take the focus")
		return fromFault(e.With("locator", l.query))
	}
	return err
}

// Scroll scrolls the element, or what scrolls around it, by a distance in CSS pixels.
func (l Locator) Scroll(ctx context.Context, dx, dy float64) error {
	if err := l.usable(); err != nil {
		return err
	}
	_, err := client.ViewportScroll(ctx, l.caller(), client.ViewportScrollArgs{
		Locator: &l.query, DeltaX: &dx, DeltaY: &dy, TimeoutMS: l.wait(ctx),
	})
	return err
}
