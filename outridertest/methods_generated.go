// Code generated from the methods of Tab and Locator by make generate. DO NOT EDIT.

package outridertest

import (
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"github.com/outrider-run/outrider"
	"github.com/outrider-run/outrider/client"
)

// Check runs every check and diagnoses every state of the maps that apply to the page.
// See [outrider.Tab.Check].
func (p *Page) Check() *outrider.CheckResult {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.Check(ctx)
	p.must("Check", err)
	return out
}

// Emulate makes the tab show itself as something else, from here on, until ResetEmulation.
// See [outrider.Tab.Emulate].
func (p *Page) Emulate(e outrider.Emulation) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("Emulate", p.tab.Emulate(ctx, e))
}

// ResetEmulation ends all emulation: what the options of the browser ask for is there again.
// See [outrider.Tab.ResetEmulation].
func (p *Page) ResetEmulation() {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("ResetEmulation", p.tab.ResetEmulation(ctx))
}

// UploadFiles is [Locator.Upload] for files that the program has in memory or reads from elsewhere.
// See [outrider.Locator.UploadFiles].
func (x Target) UploadFiles(files ...outrider.File) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("UploadFiles "+x.String(), x.Locator.Within(x.page.Patience).UploadFiles(ctx, files...))
}

// WaitFileChooser runs act and waits until the page asks for files.
// See [outrider.Tab.WaitFileChooser].
func (p *Page) WaitFileChooser(act func()) *outrider.FileChooser {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.WaitFileChooser(ctx, acting(act))
	p.must("WaitFileChooser", err)
	return out
}

// ByRole finds by ARIA role and accessible name, "" for any name, as getByRole of Playwright does.
// See [outrider.Tab.ByRole].
func (p *Page) ByRole(role string, name string) Target { return Target{p.tab.ByRole(role, name), p} }

// ByLabel finds a control by its label.
// See [outrider.Tab.ByLabel].
func (p *Page) ByLabel(label string) Target { return Target{p.tab.ByLabel(label), p} }

// ByText finds by a part of the text: a control that has it, or else the innermost element.
// See [outrider.Tab.ByText].
func (p *Page) ByText(text string) Target { return Target{p.tab.ByText(text), p} }

// ByPlaceholder finds a control by its placeholder.
// See [outrider.Tab.ByPlaceholder].
func (p *Page) ByPlaceholder(text string) Target { return Target{p.tab.ByPlaceholder(text), p} }

// ByTitle finds by the title attribute.
// See [outrider.Tab.ByTitle].
func (p *Page) ByTitle(title string) Target { return Target{p.tab.ByTitle(title), p} }

// ByAlt finds an image by its alternative text.
// See [outrider.Tab.ByAlt].
func (p *Page) ByAlt(text string) Target { return Target{p.tab.ByAlt(text), p} }

// ByTestID finds by data-testid, data-test-id, data-test, data-cy or data-qa.
// See [outrider.Tab.ByTestID].
func (p *Page) ByTestID(id string) Target { return Target{p.tab.ByTestID(id), p} }

// BySelector finds by a CSS selector.
// See [outrider.Tab.BySelector].
func (p *Page) BySelector(css string) Target { return Target{p.tab.BySelector(css), p} }

// ByRef finds the element that a snapshot named, such as e12.
// See [outrider.Tab.ByRef].
func (p *Page) ByRef(ref string) Target { return Target{p.tab.ByRef(ref), p} }

// ByRole finds inside the elements of l: see [Tab.ByRole].
// See [outrider.Locator.ByRole].
func (x Target) ByRole(role string, name string) Target {
	return Target{x.Locator.ByRole(role, name), x.page}
}

// ByLabel finds inside the elements of l: see [Tab.ByLabel].
// See [outrider.Locator.ByLabel].
func (x Target) ByLabel(label string) Target { return Target{x.Locator.ByLabel(label), x.page} }

// ByText finds inside the elements of l: see [Tab.ByText].
// See [outrider.Locator.ByText].
func (x Target) ByText(text string) Target { return Target{x.Locator.ByText(text), x.page} }

// ByPlaceholder finds inside the elements of l: see [Tab.ByPlaceholder].
// See [outrider.Locator.ByPlaceholder].
func (x Target) ByPlaceholder(text string) Target {
	return Target{x.Locator.ByPlaceholder(text), x.page}
}

// ByTitle finds inside the elements of l: see [Tab.ByTitle].
// See [outrider.Locator.ByTitle].
func (x Target) ByTitle(title string) Target { return Target{x.Locator.ByTitle(title), x.page} }

// ByAlt finds inside the elements of l: see [Tab.ByAlt].
// See [outrider.Locator.ByAlt].
func (x Target) ByAlt(text string) Target { return Target{x.Locator.ByAlt(text), x.page} }

// ByTestID finds inside the elements of l: see [Tab.ByTestID].
// See [outrider.Locator.ByTestID].
func (x Target) ByTestID(id string) Target { return Target{x.Locator.ByTestID(id), x.page} }

// BySelector finds inside the elements of l: see [Tab.BySelector].
// See [outrider.Locator.BySelector].
func (x Target) BySelector(css string) Target { return Target{x.Locator.BySelector(css), x.page} }

// Filter keeps the elements whose text has this part.
// See [outrider.Locator.Filter].
func (x Target) Filter(text string) Target { return Target{x.Locator.Filter(text), x.page} }

// Has keeps the elements that have an element of inner inside.
// See [outrider.Locator.Has].
func (x Target) Has(inner Target) Target { return Target{x.Locator.Has(inner.Locator), x.page} }

// Near picks the element whose box is nearest to one of other, in the same document.
// See [outrider.Locator.Near].
func (x Target) Near(other Target) Target { return Target{x.Locator.Near(other.Locator), x.page} }

// Nth picks one of the elements, from 0 in document order, or from the end when i is negative.
// See [outrider.Locator.Nth].
func (x Target) Nth(i int) Target { return Target{x.Locator.Nth(i), x.page} }

// First picks the first of the elements.
// See [outrider.Locator.First].
func (x Target) First() Target { return Target{x.Locator.First(), x.page} }

// Last picks the last of the elements.
// See [outrider.Locator.Last].
func (x Target) Last() Target { return Target{x.Locator.Last(), x.page} }

// In looks inside of a frame, of any origin: selectors of frames, the outer one first.
// See [outrider.Locator.In].
func (x Target) In(frames ...string) Target { return Target{x.Locator.In(frames...), x.page} }

// Exact makes letter case matter.
// See [outrider.Locator.Exact].
func (x Target) Exact() Target { return Target{x.Locator.Exact(), x.page} }

// Text is the text of the element, white space as one space, or its aria-label where it has none.
// See [outrider.Locator.Text].
func (x Target) Text() string {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	out, err := x.Locator.Within(x.page.Patience).Text(ctx)
	x.page.must("Text "+x.String(), err)
	return out
}

// HTML is the HTML of the element with what is inside.
// See [outrider.Locator.HTML].
func (x Target) HTML() string {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	out, err := x.Locator.Within(x.page.Patience).HTML(ctx)
	x.page.must("HTML "+x.String(), err)
	return out
}

// Value returns the current value of a control; invalid_input for an element without one.
// See [outrider.Locator.Value].
func (x Target) Value() string {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	out, err := x.Locator.Within(x.page.Patience).Value(ctx)
	x.page.must("Value "+x.String(), err)
	return out
}

// Box is the box of the element, in CSS pixels of the viewport.
// See [outrider.Locator.Box].
func (x Target) Box() client.Box {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	out, err := x.Locator.Within(x.page.Patience).Box(ctx)
	x.page.must("Box "+x.String(), err)
	return out
}

// Count is how many elements there are now.
// See [outrider.Locator.Count].
func (x Target) Count() int {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	out, err := x.Locator.Within(x.page.Patience).Count(ctx)
	x.page.must("Count "+x.String(), err)
	return out
}

// Texts are the texts of all elements now.
// See [outrider.Locator.Texts].
func (x Target) Texts() []string {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	out, err := x.Locator.Within(x.page.Patience).Texts(ctx)
	x.page.must("Texts "+x.String(), err)
	return out
}

// All iterates over a locator of each element, as many as there are when it begins.
// See [outrider.Locator.All].
func (x Target) All() iter.Seq[Target] {
	all := x.Locator.Within(x.page.Patience).All(x.page.t.Context())
	return func(yield func(Target) bool) {
		x.page.t.Helper()
		for out, err := range all {
			x.page.must("All", err)
			if !yield(Target{out, x.page}) {
				return
			}
		}
	}
}

// Wait waits until the element is in a state: attached, visible, hidden or detached.
// See [outrider.Locator.Wait].
func (x Target) Wait(state string) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Wait "+x.String()+" "+state, x.Locator.Within(x.page.Patience).Wait(ctx, state))
}

// Screenshot is a PNG of what the viewport shows of the element.
// See [outrider.Locator.Screenshot].
func (x Target) Screenshot() []byte {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	out, err := x.Locator.Within(x.page.Patience).Screenshot(ctx)
	x.page.must("Screenshot "+x.String(), err)
	return out
}

// Click clicks the element once it is there, drawn, enabled, at rest and not covered.
// See [outrider.Locator.Click].
func (x Target) Click() {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Click "+x.String(), x.Locator.Within(x.page.Patience).Click(ctx))
}

// ClickWith is Click with another button, held keys or force.
// See [outrider.Locator.ClickWith].
func (x Target) ClickWith(o outrider.ClickOptions) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("ClickWith "+x.String(), x.Locator.Within(x.page.Patience).ClickWith(ctx, o))
}

// DoubleClick clicks the element twice.
// See [outrider.Locator.DoubleClick].
func (x Target) DoubleClick() {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("DoubleClick "+x.String(), x.Locator.Within(x.page.Patience).DoubleClick(ctx))
}

// Tap touches the element with one finger.
// See [outrider.Locator.Tap].
func (x Target) Tap() {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Tap "+x.String(), x.Locator.Within(x.page.Patience).Tap(ctx))
}

// Fill replaces what a control or an editor holds.
// See [outrider.Locator.Fill].
func (x Target) Fill(text string) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Fill "+x.String(), x.Locator.Within(x.page.Patience).Fill(ctx, text))
}

// Type types text at the end of what the element holds, one key after the other.
// See [outrider.Locator.Type].
func (x Target) Type(text string) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Type "+x.String(), x.Locator.Within(x.page.Patience).Type(ctx, text))
}

// Press focuses the element and presses a key or a chord there, such as Enter or Control+A.
// See [outrider.Locator.Press].
func (x Target) Press(key string) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Press "+x.String()+" "+key, x.Locator.Within(x.page.Patience).Press(ctx, key))
}

// Check checks a checkbox, a radio button or a switch: by a click, unless it is checked.
// See [outrider.Locator.Check].
func (x Target) Check() {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Check "+x.String(), x.Locator.Within(x.page.Patience).Check(ctx))
}

// Uncheck is the opposite of Check.
// See [outrider.Locator.Uncheck].
func (x Target) Uncheck() {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Uncheck "+x.String(), x.Locator.Within(x.page.Patience).Uncheck(ctx))
}

// Select chooses options of a list by their labels, or by their values where no label is so.
// See [outrider.Locator.Select].
func (x Target) Select(labels ...string) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Select "+x.String(), x.Locator.Within(x.page.Patience).Select(ctx, labels...))
}

// SelectValue chooses options of a list by their values.
// See [outrider.Locator.SelectValue].
func (x Target) SelectValue(values ...string) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("SelectValue "+x.String(), x.Locator.Within(x.page.Patience).SelectValue(ctx, values...))
}

// SelectIndex chooses options of a list by their positions, from 0.
// See [outrider.Locator.SelectIndex].
func (x Target) SelectIndex(positions ...int) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("SelectIndex "+x.String(), x.Locator.Within(x.page.Patience).SelectIndex(ctx, positions...))
}

// Hover moves the pointer onto the element.
// See [outrider.Locator.Hover].
func (x Target) Hover() {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Hover "+x.String(), x.Locator.Within(x.page.Patience).Hover(ctx))
}

// DragTo drags the element onto another one of the same tab.
// See [outrider.Locator.DragTo].
func (x Target) DragTo(to Target) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("DragTo "+x.String(), x.Locator.Within(x.page.Patience).DragTo(ctx, to.Locator))
}

// Upload makes files the choice of a file input, or of the file chooser that a click on the element opens.
// See [outrider.Locator.Upload].
func (x Target) Upload(paths ...string) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Upload "+x.String(), x.Locator.Within(x.page.Patience).Upload(ctx, paths...))
}

// Focus moves the keyboard focus to the element.
// See [outrider.Locator.Focus].
func (x Target) Focus() {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Focus "+x.String(), x.Locator.Within(x.page.Patience).Focus(ctx))
}

// Scroll scrolls the element, or what scrolls around it, by a distance in CSS pixels.
// See [outrider.Locator.Scroll].
func (x Target) Scroll(dx float64, dy float64) {
	x.page.t.Helper()
	ctx, cancel := x.page.within(x.page.Patience)
	defer cancel()
	x.page.must("Scroll "+x.String(), x.Locator.Within(x.page.Patience).Scroll(ctx, dx, dy))
}

// Goto opens an address in the tab and waits for it to load: for at most 15 s, and a page that goes on loading is no
// error.
// See [outrider.Tab.Goto].
func (p *Page) Goto(address string) int {
	p.t.Helper()
	ctx, cancel := p.within(openPatience)
	defer cancel()
	out, err := p.tab.Goto(ctx, address)
	p.must("Goto"+" "+address, err)
	return out
}

// Reload loads the page again and waits as Goto does.
// See [outrider.Tab.Reload].
func (p *Page) Reload() {
	p.t.Helper()
	ctx, cancel := p.within(openPatience)
	defer cancel()
	p.must("Reload", p.tab.Reload(ctx))
}

// Back goes back in the history and waits as Goto does.
// See [outrider.Tab.Back].
func (p *Page) Back() {
	p.t.Helper()
	ctx, cancel := p.within(openPatience)
	defer cancel()
	p.must("Back", p.tab.Back(ctx))
}

// Forward goes forward in the history and waits as Goto does.
// See [outrider.Tab.Forward].
func (p *Page) Forward() {
	p.t.Helper()
	ctx, cancel := p.within(openPatience)
	defer cancel()
	p.must("Forward", p.tab.Forward(ctx))
}

// SetContent makes an HTML document the content of the page, at the address that it has.
// See [outrider.Tab.SetContent].
func (p *Page) SetContent(html string) {
	p.t.Helper()
	ctx, cancel := p.within(openPatience)
	defer cancel()
	p.must("SetContent", p.tab.SetContent(ctx, html))
}

// HTML is the HTML of the document as it is now, without its frames.
// See [outrider.Tab.HTML].
func (p *Page) HTML() string {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.HTML(ctx)
	p.must("HTML", err)
	return out
}

// Type types text at the focus, one key after the other.
// See [outrider.Tab.Type].
func (p *Page) Type(text string) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("Type", p.tab.Type(ctx, text))
}

// Press presses a key or a chord at the focus, such as Enter or Control+A.
// See [outrider.Tab.Press].
func (p *Page) Press(key string) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("Press"+" "+key, p.tab.Press(ctx, key))
}

// Text is the text of the page as it is drawn, with its frames.
// See [outrider.Tab.Text].
func (p *Page) Text() string {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.Text(ctx)
	p.must("Text", err)
	return out
}

// Snapshot is the page as an outline of roles and names with refs, for [Tab.ByRef].
// See [outrider.Tab.Snapshot].
func (p *Page) Snapshot() string {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.Snapshot(ctx)
	p.must("Snapshot", err)
	return out
}

// Screenshot is a PNG of what the viewport shows.
// See [outrider.Tab.Screenshot].
func (p *Page) Screenshot() []byte {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.Screenshot(ctx)
	p.must("Screenshot", err)
	return out
}

// PDF prints the page.
// See [outrider.Tab.PDF].
func (p *Page) PDF() []byte {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.PDF(ctx)
	p.must("PDF", err)
	return out
}

// PDFWith prints the page with a paper, margins, pages and so on.
// See [outrider.Tab.PDFWith].
func (p *Page) PDFWith(how client.PagePDFArgs) []byte {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.PDFWith(ctx, how)
	p.must("PDFWith", err)
	return out
}

// ScreenshotWith is a picture with options, such as a JPEG of the whole page.
// See [outrider.Tab.ScreenshotWith].
func (p *Page) ScreenshotWith(arguments client.BrowserScreenshotArgs) []byte {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.ScreenshotWith(ctx, arguments)
	p.must("ScreenshotWith", err)
	return out
}

// WaitURL waits until the address of the page is one: a glob when it has a star (* within a path segment, **
// anything), else a part of it.
// See [outrider.Tab.WaitURL].
func (p *Page) WaitURL(address string) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("WaitURL"+" "+address, p.tab.WaitURL(ctx, address))
}

// WaitText waits until the page shows a text.
// See [outrider.Tab.WaitText].
func (p *Page) WaitText(text string) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("WaitText", p.tab.WaitText(ctx, text))
}

// WaitIdle waits until no request was under way for a time.
// See [outrider.Tab.WaitIdle].
func (p *Page) WaitIdle(quiet time.Duration) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("WaitIdle", p.tab.WaitIdle(ctx, quiet))
}

// StorageState is the session's cookies, local storage and databases as JSON, in the form that Playwright writes and
// reads.
// See [outrider.Session.StorageState].
func (p *Page) StorageState() json.RawMessage {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.session.StorageState(ctx)
	p.must("StorageState", err)
	return out
}

// SetStorageState stores what StorageState or Playwright has written.
// See [outrider.Session.SetStorageState].
func (p *Page) SetStorageState(state json.RawMessage) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("SetStorageState", p.session.SetStorageState(ctx, state))
}

// Cookies are those that requests to some addresses would carry; without an address, all of the session.
// See [outrider.Session.Cookies].
func (p *Page) Cookies(addresses ...string) []*http.Cookie {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.session.Cookies(ctx, addresses...)
	p.must("Cookies", err)
	return out
}

// SetCookies stores cookies as if the address had set them.
// See [outrider.Session.SetCookies].
func (p *Page) SetCookies(address string, cookies ...*http.Cookie) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("SetCookies"+" "+address, p.session.SetCookies(ctx, address, cookies...))
}

// ClearCookies deletes all cookies of the session.
// See [outrider.Session.ClearCookies].
func (p *Page) ClearCookies() {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("ClearCookies", p.session.ClearCookies(ctx))
}

// Grant lets pages of an origin of the session do what they would have to ask for.
// See [outrider.Session.Grant].
func (p *Page) Grant(origin string, permissions ...string) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("Grant", p.session.Grant(ctx, origin, permissions...))
}

// Deny is the opposite of Grant.
// See [outrider.Session.Deny].
func (p *Page) Deny(origin string, permissions ...string) {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	p.must("Deny", p.session.Deny(ctx, origin, permissions...))
}

// URL is the address of the tab's page, "" after the tab was closed.
// See [outrider.Tab.URL].
func (p *Page) URL() string { return p.tab.URL() }

// Title is the title of the tab's page, "" after the tab was closed.
// See [outrider.Tab.Title].
func (p *Page) Title() string { return p.tab.Title() }

// Action runs the site action name of the maps that apply to the page and returns its value.
// See [outrider.Tab.Action].
func (p *Page) Action(name string, arguments any) json.RawMessage {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.Action(ctx, name, arguments)
	p.must("Action"+" "+name, err)
	return out
}

// State reads the state projection name of the maps that apply to the page, as the page is now.
// See [outrider.Tab.State].
func (p *Page) State(name string) *outrider.State {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.State(ctx, name)
	p.must("State"+" "+name, err)
	return out
}

// WaitDownload runs act and waits until the download that begins then is complete.
// See [outrider.Tab.WaitDownload].
func (p *Page) WaitDownload(act func()) *outrider.Download {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.WaitDownload(ctx, acting(act))
	p.must("WaitDownload", err)
	return out
}

// Downloads iterates over the downloads of the session that end after the call.
// See [outrider.Tab.Downloads].
func (p *Page) Downloads() iter.Seq[*outrider.Download] {
	all := p.tab.Downloads(p.t.Context())
	return func(yield func(*outrider.Download) bool) {
		p.t.Helper()
		for out, err := range all {
			p.must("Downloads", err)
			if !yield(out) {
				return
			}
		}
	}
}

// WaitPopup runs act and waits for the tab that opens then.
// See [outrider.Tab.WaitPopup].
func (p *Page) WaitPopup(act func()) *Page {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.WaitPopup(ctx, acting(act))
	p.must("WaitPopup", err)
	return p.other(out)
}

// Popups iterates over the tabs of the session that open after the call.
// See [outrider.Tab.Popups].
func (p *Page) Popups() iter.Seq[*Page] {
	all := p.tab.Popups(p.t.Context())
	return func(yield func(*Page) bool) {
		p.t.Helper()
		for out, err := range all {
			p.must("Popups", err)
			if !yield(p.other(out)) {
				return
			}
		}
	}
}

// WaitNavigation runs act and waits until the page that it leads to has loaded, or the address within the document has
// changed.
// See [outrider.Tab.WaitNavigation].
func (p *Page) WaitNavigation(act func()) {
	p.t.Helper()
	ctx, cancel := p.within(openPatience)
	defer cancel()
	p.must("WaitNavigation", p.tab.WaitNavigation(ctx, acting(act)))
}

// Dialogs iterates over the dialogs that open after the call.
// See [outrider.Tab.Dialogs].
func (p *Page) Dialogs() iter.Seq[*outrider.Dialog] {
	all := p.tab.Dialogs(p.t.Context())
	return func(yield func(*outrider.Dialog) bool) {
		p.t.Helper()
		for out, err := range all {
			p.must("Dialogs", err)
			if !yield(out) {
				return
			}
		}
	}
}

// WaitDialog runs act and waits for the dialog that it opens.
// See [outrider.Tab.WaitDialog].
func (p *Page) WaitDialog(act func()) *outrider.Dialog {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.WaitDialog(ctx, acting(act))
	p.must("WaitDialog", err)
	return out
}

// WaitConsole runs act and waits for the next line of the console.
// See [outrider.Tab.WaitConsole].
func (p *Page) WaitConsole(act func()) *outrider.ConsoleLine {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.WaitConsole(ctx, acting(act))
	p.must("WaitConsole", err)
	return out
}

// Console iterates over the lines of the console that the page, its frames and workers write after the call.
// See [outrider.Tab.Console].
func (p *Page) Console() iter.Seq[*outrider.ConsoleLine] {
	all := p.tab.Console(p.t.Context())
	return func(yield func(*outrider.ConsoleLine) bool) {
		p.t.Helper()
		for out, err := range all {
			p.must("Console", err)
			if !yield(out) {
				return
			}
		}
	}
}

// WaitRequest runs act and waits for a request.
// See [outrider.Tab.WaitRequest].
func (p *Page) WaitRequest(address string, act func()) *outrider.Request {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.WaitRequest(ctx, address, acting(act))
	p.must("WaitRequest"+" "+address, err)
	return out
}

// Requests iterates over the requests that the page makes after the call.
// See [outrider.Tab.Requests].
func (p *Page) Requests() iter.Seq[*outrider.Request] {
	all := p.tab.Requests(p.t.Context())
	return func(yield func(*outrider.Request) bool) {
		p.t.Helper()
		for out, err := range all {
			p.must("Requests", err)
			if !yield(out) {
				return
			}
		}
	}
}

// WaitResponse runs act and waits for the answer to a request that begins then, with its body.
// See [outrider.Tab.WaitResponse].
func (p *Page) WaitResponse(address string, act func()) *outrider.Response {
	p.t.Helper()
	ctx, cancel := p.within(p.Patience)
	defer cancel()
	out, err := p.tab.WaitResponse(ctx, address, acting(act))
	p.must("WaitResponse"+" "+address, err)
	return out
}

// Responses iterates over the answers that the page gets after the call, without their bodies.
// See [outrider.Tab.Responses].
func (p *Page) Responses() iter.Seq[*outrider.Response] {
	all := p.tab.Responses(p.t.Context())
	return func(yield func(*outrider.Response) bool) {
		p.t.Helper()
		for out, err := range all {
			p.must("Responses", err)
			if !yield(out) {
				return
			}
		}
	}
}
