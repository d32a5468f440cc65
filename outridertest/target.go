package outridertest

import (
	"context"

	"github.com/outrider-run/outrider"
)

// Target is a locator of a test's page. Its methods fail the test where those of the locator return errors, and have
// [Page.Patience].
type Target struct {
	outrider.Locator
	page *Page
}

// on is the target with another locator.
func (x Target) on(l outrider.Locator) Target { return Target{l, x.page} }

// ByRole finds inside the target: see [outrider.Tab.ByRole].
func (x Target) ByRole(role, name string) Target { return x.on(x.Locator.ByRole(role, name)) }

// ByLabel finds a control inside the target by its label.
func (x Target) ByLabel(label string) Target { return x.on(x.Locator.ByLabel(label)) }

// ByText finds inside the target by a part of the text.
func (x Target) ByText(text string) Target { return x.on(x.Locator.ByText(text)) }

// ByTestID finds inside the target by a test attribute.
func (x Target) ByTestID(id string) Target { return x.on(x.Locator.ByTestID(id)) }

// BySelector finds inside the target by a CSS selector.
func (x Target) BySelector(css string) Target { return x.on(x.Locator.BySelector(css)) }

// Filter keeps the elements whose text has this part.
func (x Target) Filter(text string) Target { return x.on(x.Locator.Filter(text)) }

// Has keeps the elements that have an element of inner inside.
func (x Target) Has(inner Target) Target { return x.on(x.Locator.Has(inner.Locator)) }

// Near picks the element that is nearest to one of other.
func (x Target) Near(other Target) Target { return x.on(x.Locator.Near(other.Locator)) }

// Nth picks one of the elements, from 0, or from the end when i is negative.
func (x Target) Nth(i int) Target { return x.on(x.Locator.Nth(i)) }

// First picks the first of the elements.
func (x Target) First() Target { return x.on(x.Locator.First()) }

// Last picks the last of the elements.
func (x Target) Last() Target { return x.on(x.Locator.Last()) }

// In looks inside of a frame.
func (x Target) In(frames ...string) Target { return x.on(x.Locator.In(frames...)) }

// do runs an act.
func (x Target) do(what string, act func(context.Context, outrider.Locator) error) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must(what+" "+x.String(), act(ctx, x.Locator.Within(x.page.Patience)))
}

// Click clicks the element.
func (x Target) Click() {
	x.page.t.Helper()
	x.do("clicking", func(ctx context.Context, l outrider.Locator) error { return l.Click(ctx) })
}

// DoubleClick clicks the element twice.
func (x Target) DoubleClick() {
	x.page.t.Helper()
	x.do("double-clicking", func(ctx context.Context, l outrider.Locator) error { return l.DoubleClick(ctx) })
}

// Fill replaces what a control holds.
func (x Target) Fill(text string) {
	x.page.t.Helper()
	x.do("filling", func(ctx context.Context, l outrider.Locator) error { return l.Fill(ctx, text) })
}

// Type types text, one key after the other.
func (x Target) Type(text string) {
	x.page.t.Helper()
	x.do("typing into", func(ctx context.Context, l outrider.Locator) error { return l.Type(ctx, text) })
}

// Press presses a key or a chord on the element.
func (x Target) Press(key string) {
	x.page.t.Helper()
	x.do("pressing "+key+" on", func(ctx context.Context, l outrider.Locator) error { return l.Press(ctx, key) })
}

// Check checks a checkbox, a radio button or a switch.
func (x Target) Check() {
	x.page.t.Helper()
	x.do("checking", func(ctx context.Context, l outrider.Locator) error { return l.Check(ctx) })
}

// Uncheck is the opposite of Check.
func (x Target) Uncheck() {
	x.page.t.Helper()
	x.do("unchecking", func(ctx context.Context, l outrider.Locator) error { return l.Uncheck(ctx) })
}

// Select chooses options of a list by their labels, or by their values where no label is so.
func (x Target) Select(labels ...string) {
	x.page.t.Helper()
	x.do("choosing in", func(ctx context.Context, l outrider.Locator) error { return l.Select(ctx, labels...) })
}

// Hover moves the pointer onto the element.
func (x Target) Hover() {
	x.page.t.Helper()
	x.do("hovering over", func(ctx context.Context, l outrider.Locator) error { return l.Hover(ctx) })
}

// DragTo drags the element onto another one.
func (x Target) DragTo(to Target) {
	x.page.t.Helper()
	x.do("dragging", func(ctx context.Context, l outrider.Locator) error { return l.DragTo(ctx, to.Locator) })
}

// Upload chooses files: see [outrider.Locator.Upload].
func (x Target) Upload(paths ...string) {
	x.page.t.Helper()
	x.do("uploading to", func(ctx context.Context, l outrider.Locator) error { return l.Upload(ctx, paths...) })
}

// Focus moves the keyboard focus to the element.
func (x Target) Focus() {
	x.page.t.Helper()
	x.do("focusing", func(ctx context.Context, l outrider.Locator) error { return l.Focus(ctx) })
}

// Text is the text of the element.
func (x Target) Text() (text string) {
	x.page.t.Helper()
	x.do("reading", func(ctx context.Context, l outrider.Locator) (err error) {
		text, err = l.Text(ctx)
		return err
	})
	return text
}

// Value returns the value of a control.
func (x Target) Value() (value string) {
	x.page.t.Helper()
	x.do("reading", func(ctx context.Context, l outrider.Locator) (err error) {
		value, err = l.Value(ctx)
		return err
	})
	return value
}

// Count is how many elements there are now.
func (x Target) Count() (n int) {
	x.page.t.Helper()
	x.do("counting", func(ctx context.Context, l outrider.Locator) (err error) {
		n, err = l.Count(ctx)
		return err
	})
	return n
}
