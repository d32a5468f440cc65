// Package inspect reads what a page offers: its controls, its forms, what repeats and what stands out. It does not
// judge and writes nothing. Scaffolding, coverage and learning call it.
package inspect

import (
	"context"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Page is what a page offers at one moment.
type Page struct {
	URL   string `json:"url"`
	Title string `json:"title"`
	// Complete is false when the page has more than is listed.
	Complete bool      `json:"complete"`
	Controls []Control `json:"controls"`
	Marks    []Mark    `json:"marks"`
	Lists    []List    `json:"lists"`
	Groups   []Group   `json:"groups"`
}

// Control is something that a person operates.
type Control struct {
	likeness.Seen
	Type     string            `json:"type"`  // of an input or a button
	Group    int               `json:"group"` // index of Page.Groups, -1 for none
	Places   []string          `json:"places"`
	Legend   string            `json:"legend"`
	Label    string            `json:"label"`
	Beside   string            `json:"beside"` // what stands in the place of a label, where there is none
	Required bool              `json:"required"`
	Disabled bool              `json:"disabled"`
	ReadOnly bool              `json:"readonly"`
	Checked  *bool             `json:"checked"`
	Multiple bool              `json:"multiple"`
	Editable bool              `json:"editable"`
	Choices  []Choice          `json:"choices"`
	Limits   map[string]string `json:"limits"`
	Href     string            `json:"href"`
	Repeated bool              `json:"repeated"` // in an item of a list
	Shadow   bool              `json:"shadow"`   // in a shadow root
}

// Choice is an option of a list.
type Choice struct {
	Value    string `json:"value"`
	Label    string `json:"label"`
	Disabled bool   `json:"disabled"`
}

// Group is what controls belong to: a form, or the container of fields and a button.
type Group struct {
	likeness.Seen
	Method string `json:"method"`
	Action string `json:"action"`
	Title  string `json:"title"`
}

// Mark is something by which a person knows where they are, or what happened: a
// heading, a landmark, a dialog, a message.
type Mark struct {
	likeness.Seen
	Level  int  `json:"level"`
	Live   bool `json:"live"`
	Shadow bool `json:"shadow"`
}

// List is a structure that repeats.
type List struct {
	likeness.Seen
	Kind      string   `json:"kind"` // table or list
	Item      string   `json:"item"` // selector of the items below the list
	ItemClass string   `json:"itemClass"`
	Count     int      `json:"count"`
	Headers   []string `json:"headers"`
	Title     string   `json:"title"`
	Places    []string `json:"places"`
	Items     []Item   `json:"items"` // the first of them
}

// Item is one of what repeats.
type Item struct {
	Text       string            `json:"text"`
	Class      string            `json:"class"`
	Attributes map[string]string `json:"attributes"`
	Leaves     []Leaf            `json:"leaves"`
}

// Leaf is one thing that an item shows.
type Leaf struct {
	Way        []string          `json:"way"` // from the item down: tag:nth-of-type(n)
	Tag        string            `json:"tag"`
	Class      string            `json:"class"`
	Text       string            `json:"text"`
	Own        bool              `json:"own"` // the text is its own, not that of what is in it
	Attributes map[string]string `json:"attributes"`
	Control    string            `json:"control"`
}

// tries bounds how often a page is read again whose document was replaced meanwhile.
const tries = 5

// Take reads a page in one page call. Where another document takes the place of the one
// that is read, it reads that.
func Take(ctx context.Context, page primitives.Page) (Page, error) {
	return take[Page](ctx, page, "inspect_page")
}

func take[T any](ctx context.Context, page primitives.Page, function string) (out T, err error) {
	for range tries {
		var fresh T
		err = page.Call(ctx, "", function, map[string]any{}, &fresh)
		out = fresh
		if fault.CodeOf(err) != fault.PageNavigated {
			break
		}
	}
	return out, err
}
