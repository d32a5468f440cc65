package outrider

import (
	"context"
	"encoding/json"
	"iter"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Locator says which elements of a tab are meant. It is a value: it holds
// nothing of the page, can be kept and passed on, and is looked up at each use.
//
//	save := tab.BySelector("dialog").ByRole("button", "Save")
//	err := save.Click(ctx)
//
// A method that acts or reads waits until the element is there, until its context ends or for
// [Options.CallTimeout]. Where several elements are drawn, it fails with
// multiple_targets: say which with Filter, Has, Near, Nth, First or Last. The
// names and texts of the By methods are whole ones in any letter case; see Exact.
//
// The zero Locator names nothing: its methods fail with invalid_input.
type Locator struct {
	tab    *Tab
	query  client.Query
	within time.Duration // 0 for as long as the call may take
}

// Find is a locator of everything that a query can say: patterns, XPath, fallbacks.
func (t *Tab) Find(query client.Query) Locator {
	if query.Ref == "" && query.Strict == nil {
		query.Strict = new(true)
	}
	return Locator{tab: t, query: query}
}

// ByRole finds by ARIA role and accessible name, "" for any name, as getByRole of Playwright does.
func (t *Tab) ByRole(role, name string) Locator { return t.root().ByRole(role, name) }

// ByLabel finds a control by its label.
func (t *Tab) ByLabel(label string) Locator { return t.root().ByLabel(label) }

// ByText finds by a part of the text: a control that has it, or else the innermost element. Case matters.
func (t *Tab) ByText(text string) Locator { return t.root().ByText(text) }

// ByPlaceholder finds a control by its placeholder.
func (t *Tab) ByPlaceholder(text string) Locator { return t.root().ByPlaceholder(text) }

// ByTitle finds by the title attribute.
func (t *Tab) ByTitle(title string) Locator { return t.root().ByTitle(title) }

// ByAlt finds an image by its alternative text.
func (t *Tab) ByAlt(text string) Locator { return t.root().ByAlt(text) }

// ByTestID finds by data-testid, data-test-id, data-test, data-cy or data-qa. Case matters.
func (t *Tab) ByTestID(id string) Locator { return t.root().ByTestID(id) }

// BySelector finds by a CSS selector. Open and closed shadow roots are looked into.
func (t *Tab) BySelector(css string) Locator { return t.root().BySelector(css) }

// ByRef finds the element that a snapshot named, such as e12.
func (t *Tab) ByRef(ref string) Locator { return Locator{tab: t, query: client.Query{Ref: ref}} }

func (t *Tab) root() Locator { return Locator{tab: t} }

// inside is the locator of query within the elements of l.
func (l Locator) inside(query client.Query) Locator {
	query.Strict, query.Pierce = new(true), new(true)
	if l.names() {
		outer := l.query
		query.Within = &outer
	} else {
		query.Frame = l.query.Frame
	}
	return Locator{l.tab, query, l.within}
}

// names reports whether the locator says more than a frame.
func (l Locator) names() bool {
	bare := l.query
	bare.Frame = nil
	bare.Strict, bare.Pierce = nil, nil
	return !reflect.ValueOf(bare).IsZero()
}

// ByRole finds inside the elements of l: see [Tab.ByRole].
func (l Locator) ByRole(role, name string) Locator {
	query := client.Query{Role: role}
	if name != "" {
		query.Name = client.Text(name)
	}
	return l.inside(query)
}

// ByLabel finds inside the elements of l: see [Tab.ByLabel].
func (l Locator) ByLabel(label string) Locator {
	return l.inside(client.Query{Label: client.Text(label)})
}

// ByText finds inside the elements of l: see [Tab.ByText].
func (l Locator) ByText(text string) Locator {
	if !l.names() && len(l.query.Frame) == 0 {
		// A text alone finds the innermost element that says it.
		return Locator{l.tab, client.Query{Text: text, Strict: new(true)}, l.within}
	}
	return l.inside(client.Query{Text: text})
}

// ByPlaceholder finds inside the elements of l: see [Tab.ByPlaceholder].
func (l Locator) ByPlaceholder(text string) Locator {
	return l.inside(client.Query{Placeholder: client.Text(text)})
}

// ByTitle finds inside the elements of l: see [Tab.ByTitle].
func (l Locator) ByTitle(title string) Locator {
	return l.inside(client.Query{Selector: attributeIs("title", title)})
}

// ByAlt finds inside the elements of l: see [Tab.ByAlt].
func (l Locator) ByAlt(text string) Locator {
	return l.inside(client.Query{Selector: attributeIs("alt", text)})
}

// ByTestID finds inside the elements of l: see [Tab.ByTestID].
func (l Locator) ByTestID(id string) Locator { return l.inside(client.Query{TestID: client.Text(id)}) }

// BySelector finds inside the elements of l: see [Tab.BySelector].
func (l Locator) BySelector(css string) Locator { return l.inside(client.Query{Selector: css}) }

// attributeIs is the selector of an attribute with a value, in any letter case.
func attributeIs(name, value string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\a `).Replace(value)
	return "[" + name + `="` + quoted + `" i]`
}

// Filter keeps the elements whose text has this part.
func (l Locator) Filter(text string) Locator {
	l.query.HasText = client.Contains(text)
	return l
}

// Has keeps the elements that have an element of inner inside. The tab and the frame of inner do not count.
func (l Locator) Has(inner Locator) Locator {
	l.query.Has = inner.here()
	return l
}

// Near picks the element whose box is nearest to one of other, in the same document.
func (l Locator) Near(other Locator) Locator {
	l.query.NearestTo = other.here()
	return l
}

// here is the query of l for the document of another locator.
func (l Locator) here() *client.Query {
	query := l.In().query
	return &query
}

// Nth picks one of the elements, from 0 in document order, or from the end when i is negative.
func (l Locator) Nth(i int) Locator {
	if l.query.Nth != nil { // of what is one element, all but the first and the last is none
		if i == 0 || i == -1 {
			return l
		}
		outer := l.query
		return Locator{l.tab, client.Query{Selector: ":not(*)", Within: &outer}, l.within}
	}
	l.query.Nth = &i
	return l
}

// First picks the first of the elements.
func (l Locator) First() Locator { return l.Nth(0) }

// Last picks the last of the elements.
func (l Locator) Last() Locator { return l.Nth(-1) }

// In looks inside of a frame, of any origin: selectors of frames, the outer one first. Without any it is the top
// document.
func (l Locator) In(frames ...string) Locator {
	if l.query.Within != nil {
		outer := Locator{query: *l.query.Within}.In(frames...).query
		l.query.Within = &outer
	}
	l.query.Frame = nil
	if l.query.Within == nil && len(frames) > 0 {
		l.query.Frame = append([]string(nil), frames...)
	}
	return l
}

// Exact makes letter case matter.
func (l Locator) Exact() Locator {
	l.query.Exact = true
	return l
}

// Within waits for the element so long at most.
func (l Locator) Within(patience time.Duration) Locator {
	l.within = patience
	return l
}

// Query returns the locator for the functions of package client.
func (l Locator) Query() client.Query { return l.query }

// Tab is the tab of the locator, nil of a zero one.
func (l Locator) Tab() *Tab { return l.tab }

// String is the locator as one line of JSON, as the command line and maps take it.
func (l Locator) String() string {
	raw, err := jsonout.Line(l.query)
	if err != nil {
		return "{}"
	}
	return strings.TrimSpace(string(raw))
}

// Element is one element as it was when it was read.
type Element struct {
	Tag  string `json:"tag_name"`
	Role string `json:"role"`
	// Name is its accessible name, Text its text, white space as one space.
	Name string `json:"name"`
	Text string `json:"text"`
	// Value is the current value of a control, nil of anything else.
	Value *string `json:"value"`
	// Rendered: it has a box, also outside of the viewport. InView: the viewport shows some of it.
	Rendered bool `json:"rendered"`
	InView   bool `json:"visible"`
	Enabled  bool `json:"enabled"`
	Editable bool `json:"editable"`
	Focused  bool `json:"focused"`
	// Checked is true, false, "mixed", or nil of what cannot be checked.
	Checked any `json:"checked"`
	// Selected are the values of the chosen options of a list.
	Selected []string   `json:"selected"`
	Box      client.Box `json:"bounding_box"`
	// Attributes and CSS have what was asked for.
	Attributes map[string]string `json:"attributes"`
	CSS        map[string]string `json:"css"`

	fields json.RawMessage
}

// UnmarshalJSON takes an element of locator.read.
func (e *Element) UnmarshalJSON(raw []byte) error {
	type plain Element
	in := struct {
		*plain
		Fields json.RawMessage `json:"fields"`
	}{plain: (*plain)(e)}
	err := json.Unmarshal(raw, &in)
	e.fields = in.Fields
	return err
}

// Elements are all elements that a locator found in one moment.
type Elements struct {
	// Count is how many there are, List the first 1,000 of them.
	Count int       `json:"count"`
	List  []Element `json:"elements"`
	// State is equal for equal answers: see [Locator.Changed].
	State string `json:"state"`
	// Looked says, where there is none, what each part of the locator left, and the nearest names.
	Looked map[string]any `json:"looked"`
}

// Reading says what Read reads besides what each [Element] has.
type Reading struct {
	// Attributes and CSS name attributes and computed style properties.
	Attributes, CSS []string

	fields map[string]field
}

// Read reads all elements in one moment, without waiting. None is no error.
func (l Locator) Read(ctx context.Context, what Reading) (*Elements, error) {
	return l.read(ctx, what, nil, 0)
}

// Changed is Read that first waits until the answer is another one than that with this state, at most for so long.
// It returns the newest in any case. The state "none" is that of no element.
func (l Locator) Changed(ctx context.Context, what Reading, state string, within time.Duration) (*Elements, error) {
	return l.read(ctx, what, &state, within)
}

func (l Locator) read(ctx context.Context, what Reading, state *string, within time.Duration) (*Elements, error) {
	if err := l.usable(); err != nil {
		return nil, err
	}
	arguments := map[string]any{"locator": &l.query, "limit": 1000}
	if len(what.Attributes) > 0 {
		arguments["attributes"] = what.Attributes
	}
	if len(what.CSS) > 0 {
		arguments["css"] = what.CSS
	}
	if len(what.fields) > 0 {
		arguments["fields"] = what.fields
	}
	if state != nil {
		arguments["changed_from"], arguments["timeout_ms"] = *state, min(within, longestWait).Milliseconds()
	}
	out := &Elements{}
	if err := l.caller().CallInto(ctx, "locator.read", arguments, out); err != nil {
		return nil, err
	}
	return out, nil
}

// longestWait is the most that primitives take as their own time.
const longestWait = 2 * time.Minute

// noElement is the state of no match.
const noElement = "none"

func (l Locator) usable() error {
	if l.tab == nil {
		e := fault.New(fault.InvalidInput, "the locator belongs to no tab")
		return fromFault(e.Next("make one with Tab.ByRole"))
	}
	if !l.names() {
		return fromFault(fault.New(fault.InvalidInput, "the locator names no element"))
	}
	return nil
}

// One reads the one element that the locator names. It waits until it is there.
func (l Locator) One(ctx context.Context, what Reading) (*Element, error) {
	state := noElement
	found, err := l.read(ctx, what, &state, l.patience(ctx))
	if err != nil {
		return nil, err
	}
	if found.Count == 1 {
		return &found.List[0], nil
	}
	var drawn []*Element
	for i := range found.List {
		if found.List[i].Rendered {
			drawn = append(drawn, &found.List[i])
		}
	}
	switch {
	case found.Count == 0:
		e := fault.New(fault.TargetNotFound, "no element matches the locator").With("locator", l.query)
		for name, value := range found.Looked {
			e.With(name, value)
		}
		return nil, l.tab.ended(ctx, e)
	case len(drawn) == 1:
		return drawn[0], nil
	case len(drawn) == 0 && l.query.Strict == nil:
		return &found.List[0], nil
	}
	return nil, fromFault(fault.New(fault.MultipleTargets, "%d elements match the locator; say which", found.Count).
		With("locator", l.query).With("candidate_count", found.Count))
}

// ended is err with the end of the context in it, where that came.
func (t *Tab) ended(ctx context.Context, err *fault.Error) error {
	e := fromFault(err).(*Error)
	e.ended = ctx.Err()
	if deadline, ok := ctx.Deadline(); e.ended == nil && ok && time.Until(deadline) <= longestReserve {
		e.ended = context.DeadlineExceeded
	}
	return e
}

// patience is how long a call may wait for its element.
func (l Locator) patience(ctx context.Context) time.Duration {
	patience := l.tab.session.callTimeout()
	if deadline, ok := ctx.Deadline(); ok {
		patience = time.Until(deadline)
		patience -= min(patience/10, answerMargin)
	}
	if l.within > 0 {
		patience = min(patience, l.within)
	}
	return max(0, min(patience, longestWait))
}

// answerMargin is kept of a caller's time for the answer of a wait that a call ends itself.
const answerMargin = 25 * time.Millisecond

// patient calls for what waits until its context ends: an error that comes then is that of the deadline too.
type patient struct {
	tab   *Tab
	query *client.Query // what it waits for, nil where that is no element
}

// impatient are the codes that no wait changes.
var impatient = []fault.Code{fault.InvalidInput, fault.InvalidSelector, fault.MultipleTargets, fault.PermissionDenied}

func (p patient) CallInto(ctx context.Context, primitive string, arguments, result any) error {
	timeout := timeOf(ctx)
	err := p.tab.CallInto(ctx, primitive, arguments, result)
	e, ok := err.(*Error)
	if !ok {
		return err
	}
	if e.ended == nil && timeout > 0 && !slices.Contains(impatient, fault.Code(e.Code)) &&
		timeOf(ctx) <= min(timeout/5, longestReserve) {
		e.ended = context.DeadlineExceeded
	}
	if e.ended != nil && p.query != nil && e.Evidence["locator"] == nil {
		e.tell("locator", *p.query)
	}
	return err
}

func (l Locator) caller() client.Caller { return patient{l.tab, &l.query} }

func (l Locator) wait(ctx context.Context) *int { return new(int(l.patience(ctx).Milliseconds())) }

// Text is the text of the element, white space as one space, or its aria-label where it has none.
func (l Locator) Text(ctx context.Context) (string, error) {
	e, err := l.One(ctx, Reading{})
	if err != nil {
		return "", err
	}
	return whole(e.Text)
}

// longestText is the most that is read of one element, in UTF-16 units.
const longestText = 100_000

// whole is text, or an error where the page has more of it than is read.
func whole(text string) (string, error) {
	if len(text) < longestText || len(utf16.Encode([]rune(text))) < longestText {
		return text, nil
	}
	e := fault.New(fault.PayloadTooLarge, "the element has more than %d characters", longestText)
	return "", fromFault(e.Next("read its parts, or the page with Tab.Text or Tab.HTML"))
}

// HTML is the HTML of the element with what is inside.
func (l Locator) HTML(ctx context.Context) (string, error) {
	type part struct {
		HTML string `as:"html"`
	}
	p, err := Extract[part](ctx, l)
	if err != nil {
		return "", err
	}
	return whole(p.HTML)
}

// Value returns the current value of a control; invalid_input for an element without one.
func (l Locator) Value(ctx context.Context) (string, error) {
	e, err := l.One(ctx, Reading{})
	if err != nil {
		return "", err
	}
	if e.Value == nil {
		return "", fromFault(fault.New(fault.InvalidInput, "the element is a %s, which has no value", e.Tag))
	}
	return *e.Value, nil
}

// Attribute is an attribute of the element; ok is false where it has none.
func (l Locator) Attribute(ctx context.Context, name string) (value string, ok bool, err error) {
	e, err := l.One(ctx, Reading{Attributes: []string{name}})
	if err != nil {
		return "", false, err
	}
	value, ok = e.Attributes[strings.ToLower(name)]
	if !ok {
		value, ok = e.Attributes[name]
	}
	return value, ok, nil
}

// Box is the box of the element, in CSS pixels of the viewport.
func (l Locator) Box(ctx context.Context) (client.Box, error) {
	e, err := l.One(ctx, Reading{})
	if err != nil {
		return client.Box{}, err
	}
	return e.Box, nil
}

// Count is how many elements there are now. It does not wait.
func (l Locator) Count(ctx context.Context) (int, error) {
	found, err := l.Read(ctx, Reading{})
	if err != nil {
		return 0, err
	}
	return found.Count, nil
}

// Texts are the texts of all elements now. It does not wait.
func (l Locator) Texts(ctx context.Context) ([]string, error) {
	found, err := l.Read(ctx, Reading{})
	if err != nil {
		return nil, err
	}
	texts := make([]string, len(found.List))
	for i, e := range found.List {
		texts[i] = e.Text
	}
	return texts, nil
}

// All iterates over a locator of each element, as many as there are when it begins. An error ends the loop.
func (l Locator) All(ctx context.Context) iter.Seq2[Locator, error] {
	return func(yield func(Locator, error) bool) {
		n, err := l.Count(ctx)
		if err != nil {
			yield(Locator{}, err)
			return
		}
		for i := range n {
			if !yield(l.Nth(i), nil) {
				return
			}
		}
	}
}

// Wait waits until the element is in a state: attached, visible, hidden or detached. Visible means that the viewport
// shows it.
func (l Locator) Wait(ctx context.Context, state string) error {
	if err := l.usable(); err != nil {
		return err
	}
	_, err := client.LocatorWaitFor(ctx, l.caller(), client.LocatorWaitForArgs{
		Locator: &l.query, State: state, TimeoutMS: new(int(min(l.patience(ctx), 30*time.Second).Milliseconds())),
	})
	return err
}

// Screenshot is a PNG of what the viewport shows of the element.
func (l Locator) Screenshot(ctx context.Context) ([]byte, error) {
	if err := l.usable(); err != nil {
		return nil, err
	}
	return l.tab.ScreenshotWith(ctx, client.BrowserScreenshotArgs{Locator: &l.query, TimeoutMS: l.wait(ctx)})
}
