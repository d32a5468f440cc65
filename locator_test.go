package outrider_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/outrider-run/outrider"
)

// locatorTab is a tab with a page that a session of its own shows.
func locatorTab(t *testing.T, html string) *outrider.Tab {
	t.Helper()
	site := page(html)
	t.Cleanup(site.Close)
	s, err := outrider.Open(t.Context(), outrider.Options{Open: []string{site.URL}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s.Tab()
}

func TestLocatorsAreLookedUpAtEachUse(t *testing.T) {
	tab := locatorTab(t, `<button>One</button><div id=more></div><select aria-label=Size><option>S<option>L</select>
<input type=checkbox aria-label=Stubborn onclick="return false">
<div draggable=true id=a ondragstart="event.dataTransfer.setData('text', 'a')">Drag</div>
<div id=b ondragover="event.preventDefault()" ondrop="this.textContent = 'Dropped'">Here</div>`)
	ctx := t.Context()
	button := tab.ByRole("button", "One")
	more := tab.BySelector("#more").ByRole("button", "")

	if text, err := button.Text(ctx); err != nil || text != "One" {
		t.Fatalf("text: %q, %v", text, err)
	}
	if n, err := more.Count(ctx); err != nil || n != 0 {
		t.Fatalf("none: %d, %v", n, err)
	}
	if _, err := outrider.Evaluate[any](ctx, tab, `() => { document.querySelector('button').replaceWith(
		Object.assign(document.createElement('button'), {textContent: 'One', title: 'new'}));
		setTimeout(() => more.innerHTML = '<button>Late</button><button>Later</button>', 200);
		return 1 }`); err != nil {
		t.Fatal(err)
	}
	if title, ok, err := button.Attribute(ctx, "title"); err != nil || !ok || title != "new" {
		t.Errorf("the replaced button: %q, %v, %v", title, ok, err)
	}
	if err := more.Last().Wait(ctx, "visible"); err != nil {
		t.Fatal(err)
	}
	if texts, err := more.Texts(ctx); err != nil || !slices.Equal(texts, []string{"Late", "Later"}) {
		t.Errorf("texts: %q, %v", texts, err)
	}
	if _, err := more.Text(ctx); !errors.Is(err, outrider.Code("multiple_targets")) {
		t.Errorf("two buttons, one text: %v", err)
	}
	if err := more.Click(ctx); !errors.Is(err, outrider.Code("multiple_targets")) {
		t.Errorf("two buttons, one click: %v", err)
	}
	if text, err := more.Nth(1).Nth(-1).Text(ctx); err != nil || text != "Later" {
		t.Errorf("the last of the second: %q, %v", text, err)
	}
	if n, err := more.Nth(1).Nth(1).Count(ctx); err != nil || n != 0 {
		t.Errorf("the second of one: %d, %v", n, err)
	}
	if text, err := tab.BySelector("body").ByText("Drag").First().Text(ctx); err != nil || text != "Drag" {
		t.Errorf("a text inside, the first: %q, %v", text, err)
	}
	if text, err := more.Filter("Later").Text(ctx); err != nil || text != "Later" {
		t.Errorf("filter: %q, %v", text, err)
	}
	if err := tab.ByLabel("Size").Select(ctx, "L"); err != nil {
		t.Error(err)
	}
	if value, err := tab.ByLabel("Size").Value(ctx); err != nil || value != "L" {
		t.Errorf("value: %q, %v", value, err)
	}
	if err := tab.ByLabel("Stubborn").Check(ctx); !errors.Is(err, outrider.Code("state_postcondition_failed")) {
		t.Errorf("a box that does not take the click: %v", err)
	}
	if err := button.Check(ctx); !errors.Is(err, outrider.Code("invalid_input")) {
		t.Errorf("a button is checked: %v", err)
	}
	if err := tab.BySelector("#a").DragTo(ctx, tab.BySelector("#b")); err != nil {
		t.Error(err)
	}
	if text, err := tab.BySelector("#b").Text(ctx); err != nil || text != "Dropped" {
		t.Errorf("after the drop: %q, %v", text, err)
	}
}

func TestZeroLocator(t *testing.T) {
	var zero outrider.Locator
	if err := zero.Click(t.Context()); !errors.Is(err, outrider.Code("invalid_input")) {
		t.Error(err)
	}
	for _, err := range zero.All(t.Context()) {
		if !errors.Is(err, outrider.Code("invalid_input")) {
			t.Error(err)
		}
	}
	if zero.ByRole("button", "Save").In("iframe").Nth(2).String() == "" || zero.Tab() != nil {
		t.Error("a zero locator does not print")
	}
	if err := zero.ByRole("button", "").Fill(t.Context(), "x"); !errors.Is(err, outrider.Code("invalid_input")) {
		t.Error(err)
	}
}

// The frame of a locator is that of the whole, wherever it was said.
func TestLocatorPrintsWhatTheCommandLineTakes(t *testing.T) {
	var zero outrider.Locator
	row := zero.ByRole("row", "").Filter("Ada")
	for _, c := range []struct {
		locator outrider.Locator
		want    string
	}{
		{zero.ByRole("button", "Save").Exact(),
			`{"role":"button","name":"Save","exact":true,"pierce":true,"strict":true}`},
		{zero.ByText("Save & go"), `{"text":"Save & go","strict":true}`},
		{zero.ByTitle(`a "b"`), `{"selector":"[title=\"a \\\"b\\\"\" i]","pierce":true,"strict":true}`},
		{row.ByRole("button", "").In("#pay", "#inner"), `{"role":"button","within":{"role":"row",` +
			`"has_text":{"contains":"Ada"},"frame":["#pay","#inner"],"pierce":true,"strict":true},` +
			`"pierce":true,"strict":true}`},
		{zero.In("#pay").ByRole("button", ""), `{"role":"button","frame":["#pay"],"pierce":true,"strict":true}`},
	} {
		if got := c.locator.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestLocatorInFrameOfAnotherOrigin(t *testing.T) {
	inner := page(`<label>Card <input></label><button onclick="this.textContent = 'Paid'">Pay</button>`)
	defer inner.Close()
	outer := strings.Replace(inner.URL, "127.0.0.1", "localhost", 1)
	tab := locatorTab(t, `<iframe src="`+outer+`"></iframe>`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	frame := tab.BySelector("body").In("iframe")
	if err := frame.ByLabel("Card").Fill(ctx, "4242"); err != nil {
		t.Fatal(err)
	}
	if err := frame.ByRole("button", "Pay").Click(ctx); err != nil {
		t.Fatal(err)
	}
	if text, err := frame.ByRole("button", "").Text(ctx); err != nil || text != "Paid" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestValuesNameWhatIsMissing(t *testing.T) {
	tab := locatorTab(t, `<li><b>12</b><i></i></li><li><i>x</i></li>`)
	ctx := t.Context()
	type item struct {
		Price int `select:"b"`
	}
	_, err := outrider.Extract[[]item](ctx, tab.BySelector("li"))
	var e *outrider.Error
	if !errors.As(err, &e) || e.Code != "invalid_result" || e.Evidence["field"] != "item[1].Price" {
		t.Errorf("a missing part: %v, %v", err, e)
	}
	type loose struct {
		Price *int `select:"b"`
	}
	some, err := outrider.Extract[[]loose](ctx, tab.BySelector("li"))
	if err != nil || len(some) != 2 || *some[0].Price != 12 || some[1].Price != nil {
		t.Errorf("an optional part: %+v, %v", some, err)
	}
	_, err = outrider.Extract[item](ctx, tab.BySelector("li").Last())
	if !errors.Is(err, outrider.Code("invalid_result")) {
		t.Errorf("one: %v", err)
	}
	type wrong struct {
		Price int `select:"i"`
	}
	if _, err := outrider.Extract[wrong](ctx, tab.BySelector("li").Last()); err == nil ||
		strings.Contains(err.Error(), `"x"`) || !strings.Contains(err.Error(), "wrong.Price") {
		t.Errorf("text that is no number: %v", err)
	}
	_, err = outrider.Extract[struct{ A int }](ctx, tab.BySelector("li"))
	if !errors.Is(err, outrider.Code("invalid_input")) {
		t.Errorf("no tags: %v", err)
	}

	type deep struct {
		List []struct {
			ID   int64  `json:"id"`
			Note string `json:"note,omitempty"`
		} `json:"list"`
	}
	_, err = outrider.Evaluate[deep](ctx, tab, `({list: [{id: 1}, {note: 'a'}]})`)
	if !errors.As(err, &e) || e.Evidence["field"] != "value.list[1].id" {
		t.Errorf("a missing member: %v", err)
	}
	n, err := outrider.Evaluate[any](ctx, tab, `9007199254740991`)
	if err != nil || fmt.Sprint(n) != "9007199254740991" {
		t.Errorf("digits: %v, %v", n, err)
	}
	if v, err := outrider.Evaluate[any](ctx, tab, `undefined`); err != nil || v != nil {
		t.Errorf("undefined: %v, %v", v, err)
	}
	if _, err := outrider.Evaluate[string](ctx, tab, `undefined`); !errors.Is(err, outrider.Code("invalid_result")) {
		t.Errorf("undefined as a string: %v", err)
	}
	if _, err := outrider.Evaluate[int](ctx, tab, `'a'`); !errors.Is(err, outrider.Code("invalid_result")) {
		t.Errorf("a string as a number: %v", err)
	}
}
