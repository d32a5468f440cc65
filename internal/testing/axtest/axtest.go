// Package axtest compares what our page library says of elements, their roles, names and
// states, with the tree that the browser computes for assistive technology. It decides
// nothing about which difference is a fault. Tests of the browser and the scripted agents
// call it.
package axtest

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/catalog"
)

// ariaRole translates the browser's own words to those of ARIA; "" for what
// ARIA has no word for, and what is not compared.
var ariaRole = map[string]string{
	"image":                     "img",
	"Figcaption":                "",
	"StaticText":                "",
	"InlineTextBox":             "",
	"RootWebArea":               "",
	"LabelText":                 "",
	"Legend":                    "",
	"LineBreak":                 "",
	"ListMarker":                "",
	"DisclosureTriangle":        "button",
	"DisclosureTriangleGrouped": "button",
	"Details":                   "group",
	"DescriptionList":           "",
	"Iframe":                    "",
	"Date":                      "",
	"DateTime":                  "",
	"InputTime":                 "",
	"ColorWell":                 "",
	"Abbr":                      "",
	"Video":                     "",
	"Audio":                     "",
	"Canvas":                    "",
	"SvgRoot":                   "img",
	"MenuListPopup":             "",
	"Ruby":                      "",
	"RubyAnnotation":            "",
	"EmbeddedObject":            "",
	"PluginObject":              "",
	"graphics-document":         "img",
	"presentation":              "none",
	"LayoutTable":               "generic",
	"LayoutTableCell":           "generic",
	"LayoutTableRow":            "generic",
	"ImeCandidate":              "",
	"FooterAsNonLandmark":       "sectionfooter",
	"HeaderAsNonLandmark":       "sectionheader",
	"Section":                   "generic",
	"Pre":                       "generic",
	"Unknown":                   "",
	"definition":                "definition",
	"DescriptionListTerm":       "term",
	"DescriptionListDetail":     "definition",
	"search":                    "search",
	"cell":                      "cell",
	"MathMLMath":                "math",
}

// textRows are roles whose row in a snapshot may have their name as its text.
var textRows = regexp.MustCompile(
	`^(?:cell|columnheader|gridcell|rowheader|row|listitem|term|treeitem|tooltip|generic|paragraph)$`,
)

// actedOn are the roles of what is clicked and typed into: a snapshot never leaves one out.
var actedOn = map[string]bool{
	"button": true, "link": true, "textbox": true, "searchbox": true, "combobox": true, "listbox": true,
	"checkbox": true, "radio": true,
	"switch": true, "slider": true, "spinbutton": true, "menuitem": true, "tab": true, "treeitem": true, "option": true,
}

// leftOut are the browser's words for what is no element of its own.
var leftOut = map[string]bool{
	"StaticText": true, "InlineTextBox": true, "RootWebArea": true, "ListMarker": true, "LineBreak": true,
}

// Row is a row of a snapshot.
type Row struct {
	Ref      string `json:"ref"`
	Role     string `json:"role"`
	Name     string `json:"name"`
	Checked  any    `json:"checked"`
	Pressed  any    `json:"pressed"`
	Expanded *bool  `json:"expanded"`
	Selected bool   `json:"selected"`
	Disabled bool   `json:"disabled"`
	Required bool   `json:"required"`
	Invalid  bool   `json:"invalid"`
}

// Element is what both say of one element.
type Element struct {
	TagName string `json:"tag_name"`
	Role    string `json:"role"`
	Name    string `json:"name"`
	Exposed bool   `json:"exposed"`
	Label   string `json:"label"`
	Closed  bool   `json:"closed"` // inside the browser's own controls

	Theirs primitives.AXNode `json:"-"`
	Ref    string            `json:"-"` // of what has a name
	Row    *Row              `json:"-"` // of the snapshot
}

// ID is the id in what evidence calls the element: tag#id.class.
func (e *Element) ID() string {
	_, id, _ := strings.Cut(e.Label, "#")
	return strings.TrimSuffix(id, ".before")
}

// BrowserName is the name that the browser gives, its white space as ours, without the
// characters that icon fonts draw.
func (e *Element) BrowserName() string {
	name := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Co, r) {
			return ' '
		}
		return r
	}, e.Theirs.Name)
	return strings.Join(strings.Fields(name), " ")
}

// drawnOnly: the browser takes what an icon font draws for the name.
func (e *Element) drawnOnly() bool {
	return strings.TrimSpace(e.Theirs.Name) != "" && e.BrowserName() == ""
}

// Read reads the elements of one document that the browser exposes, at most so many, and
// how a snapshot of the page shows them.
func Read(ctx context.Context, page primitives.Page, frame primitives.FrameID, most int) ([]*Element, error) {
	nodes, err := page.AXTree(ctx, frame)
	if err != nil {
		return nil, err
	}
	rows, err := snapshot(ctx, page)
	if err != nil {
		return nil, err
	}
	var out, part []*Element
	var handles []string
	var theirs []primitives.AXNode
	ask := func() error {
		part = nil
		if err := page.Call(ctx, frame, "role_name", map[string]any{"handles": handles}, &part); err != nil {
			return err
		}
		for i, e := range part {
			if e == nil || e.Closed { // a pseudo element; a part of a control
				continue
			}
			e.Theirs = theirs[i]
			var ref struct{ Ref string }
			if e.Theirs.Name != "" &&
				page.Call(ctx, frame, "ref_of", map[string]any{"handle": handles[i]}, &ref) == nil {
				e.Ref = ref.Ref
				e.Row = rows[e.Ref]
			}
			out = append(out, e)
		}
		handles, theirs = nil, nil
		return nil
	}
	for _, n := range nodes {
		if n.Ignored || n.DOMNode == 0 || leftOut[n.Role] {
			continue
		}
		h, err := page.ResolveNode(ctx, frame, n.DOMNode)
		if err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			continue // a pseudo element
		}
		handles, theirs = append(handles, h), append(theirs, n)
		if len(out)+len(handles) >= most {
			break
		}
		if len(handles) == 500 { // a document keeps a bounded number of handles
			if err := ask(); err != nil {
				return nil, err
			}
		}
	}
	return out, ask()
}

func snapshot(ctx context.Context, page primitives.Page) (map[string]*Row, error) {
	r := catalog.Standard().Invoke(
		ctx, page, "page.snapshot", []byte(`{"format":"json","max_nodes":20000,"max_bytes":5000000}`),
	)
	if r.Err != nil {
		return nil, r.Err
	}
	var out struct {
		Nodes []*Row `json:"nodes"`
	}
	if err := json.Unmarshal(r.Payload, &out); err != nil {
		return nil, err
	}
	rows := map[string]*Row{}
	for _, row := range out.Nodes {
		if row.Ref != "" {
			rows[row.Ref] = row
		}
	}
	return rows, nil
}

// Differences are what we say of the element otherwise than the browser, its name being want.
func (e *Element) Differences(want string) []string {
	var out []string
	add := func(format string, args ...any) {
		out = append(out, fmt.Sprintf("%s (%s): ", e.Label, e.Theirs.Role)+fmt.Sprintf(format, args...))
	}
	role, translated := ariaRole[e.Theirs.Role]
	if !translated {
		role = e.Theirs.Role
	}
	if none := e.Role == "none" && role == "generic"; role != "" && e.Role != role && !none {
		add("role is %q, the browser says %q", e.Role, role)
	}
	if e.Name != want && !e.drawnOnly() {
		add("name is %q, the browser says %q", e.Name, want)
	}
	if want == "" || e.Ref == "" {
		return out
	}
	if !e.Exposed {
		add("the browser exposes it")
	}
	if e.Row == nil {
		if actedOn[e.Role] && e.TagName != "option" {
			add("the snapshot has no row for it")
		}
		return out
	}
	if e.Row.Name != want && !(textRows.MatchString(e.Row.Role) && e.Row.Name == "") {
		add("the snapshot calls it %q, the browser %q", e.Row.Name, want)
	}
	return append(out, e.states()...)
}

// states are the states of the row that differ from those of the browser.
func (e *Element) states() []string {
	var out []string
	theirs := func(name string) string {
		if v, ok := e.Theirs.Properties[name]; ok && v != nil {
			return fmt.Sprint(v)
		}
		return ""
	}
	compare := func(name, ours string) {
		if t := theirs(name); t != ours {
			out = append(
				out, fmt.Sprintf("%s (%s): %s is %q, the browser says %q", e.Label, e.Theirs.Role, name, ours, t),
			)
		}
	}
	yes := func(b bool) string {
		if b {
			return "true"
		}
		return ""
	}
	switch e.Role {
	case "checkbox", "radio", "switch", "menuitemcheckbox", "menuitemradio":
		compare("checked", fmt.Sprint(e.Row.Checked))
	case "button":
		if e.Row.Pressed != nil {
			compare("pressed", fmt.Sprint(e.Row.Pressed))
		}
	}
	if e.Row.Expanded != nil {
		compare("expanded", fmt.Sprint(*e.Row.Expanded))
	}
	if actedOn[e.Role] && e.Role != "option" {
		compare("disabled", yes(e.Row.Disabled))
		if theirs("required") == "true" || e.Row.Required {
			compare("required", yes(e.Row.Required))
		}
	}
	if e.Role == "tab" && theirs("selected") != "" {
		compare("selected", fmt.Sprint(e.Row.Selected))
	}
	return out
}
