// Package locators ranks the ways to name an element of a page, and proves on the page which of them name it alone. It
// does not search for elements. Repair calls it; recording, learning and element pickers may.
package locators

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
)

// Kind is how a locator names its element, best first.
type Kind string

const (
	TestID     Kind = "test_id"
	RoleName   Kind = "role_name"
	Attributes Kind = "attributes"
	Text       Kind = "text"
	Structure  Kind = "structure"
)

// Locator is one way to name an element, in the words of a target of a map.
type Locator struct {
	Kind       Kind   `json:"kind"`
	Selector   string `json:"selector,omitempty"`
	Role       string `json:"role,omitempty"`
	Name       string `json:"name,omitempty"`
	TextEquals string `json:"text_equals,omitempty"`
}

// Descriptor is the locator as targets of maps are resolved.
func (l Locator) Descriptor() descriptor.Descriptor {
	d := descriptor.Descriptor{Role: l.Role, Name: l.Name, TextEquals: l.TextEquals}
	if l.Selector != "" {
		d.Selector = []string{l.Selector}
	}
	return d
}

// Bounds of text in a locator: what is longer is content and no label.
const (
	maxName = 80
	maxText = 60
)

// Ranked lists the locators of an element, the one that should last longest first.
// Whether another element has the same is not known: see Unique.
func Ranked(e likeness.Seen) []Locator {
	var out []Locator
	css := func(kind Kind, selector string) { out = append(out, Locator{Kind: kind, Selector: selector}) }
	stable := func(name string) string {
		if v := e.Attributes[name]; v != "" && !likeness.Generated(v) {
			return v
		}
		return ""
	}
	for _, name := range likeness.TestIDs {
		if v := stable(name); v != "" {
			css(TestID, Attribute("", name, v))
		}
	}
	if e.Role != "" && e.Role != "generic" && readable(e.Name) && len(e.Name) <= maxName {
		out = append(out, Locator{Kind: RoleName, Role: e.Role, Name: e.Name})
	}
	if v := stable("id"); v != "" {
		css(Attributes, identifier(v))
	}
	if v := stable("name"); v != "" {
		css(Attributes, Attribute(e.Tag, "name", v))
		if value := stable("value"); value != "" {
			css(Attributes, Attribute(Attribute(e.Tag, "name", v), "value", value))
		}
	}
	for _, name := range []string{"aria-label", "placeholder", "autocomplete", "alt", "title", "for"} {
		if v := e.Attributes[name]; v != "" && len(v) <= maxName {
			css(Attributes, Attribute(e.Tag, name, v))
		}
	}
	if v := stable("href"); v != "" && !strings.ContainsAny(v, "?&") {
		css(Attributes, Attribute(e.Tag, "href", v))
	}
	if v := e.Attributes["type"]; v != "" && (e.Tag == "input" || e.Tag == "button") {
		css(Attributes, Attribute(e.Tag, "type", v))
	}
	for _, c := range likeness.StableClasses(e.Attributes["class"]) {
		css(Attributes, e.Tag+"."+Escape(c))
	}
	if readable(e.Text) && len(e.Text) <= maxText {
		out = append(out, Locator{Kind: Text, Selector: e.Tag, TextEquals: e.Text})
	}
	return append(out, Locator{Kind: Structure, Selector: structure(e)})
}

// readable reports whether a text has more than the pictures of an icon font, which are letters without a meaning.
func readable(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsSpace(r) && !unicode.Is(unicode.Co, r) })
}

// structure leads from the nearest ancestor that can be named to the element.
func structure(e likeness.Seen) string {
	step := func(tag string, nth int) string { return fmt.Sprintf("%s:nth-of-type(%d)", tag, nth) }
	steps := []string{step(e.Tag, e.Nth)}
	for _, a := range e.Path {
		named := ""
		switch {
		case a.TestID != "" && !likeness.Generated(a.TestID):
			named = Attribute("", "data-testid", a.TestID)
		case a.ID != "" && !likeness.Generated(a.ID):
			named = identifier(a.ID)
		case a.Tag == "body":
			named = "body"
		}
		if named != "" {
			steps = append(steps, named)
			break
		}
		steps = append(steps, step(a.Tag, a.Nth))
	}
	slices.Reverse(steps)
	return strings.Join(steps, " > ")
}

// Attribute is a selector of CSS: elements that have an attribute with a value.
func Attribute(before, name, value string) string {
	return before + "[" + name + "=" + quoted(value) + "]"
}

// quoted is a string of CSS.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ':
			fmt.Fprintf(&b, `\%x `, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

func identifier(id string) string {
	return "#" + Escape(id)
}

// Escape is an identifier of CSS.
func Escape(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r >= '0' && r <= '9' && (i == 0 || i == 1 && s[0] == '-'):
			fmt.Fprintf(&b, `\%x `, r)
		case r == '-' && len(s) == 1:
			b.WriteString(`\-`)
		case r == '-', r == '_', r >= '0' && r <= '9', r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= 0x80:
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\%x `, r)
		default:
			b.WriteByte('\\')
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Unique are the locators of an element that name it and nothing else on the page,
// the best first. It takes one page call.
func Unique(ctx context.Context, page primitives.Page, e likeness.Seen) ([]Locator, error) {
	all, err := UniqueOf(ctx, page, []likeness.Seen{e})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// UniqueOf is Unique for many elements, in one page call.
func UniqueOf(ctx context.Context, page primitives.Page, elements []likeness.Seen) ([][]Locator, error) {
	ranked, err := Tried(ctx, page, elements)
	if err != nil {
		return nil, err
	}
	out := make([][]Locator, len(elements))
	for i := range ranked {
		for _, r := range ranked[i] {
			if r.Alone {
				out[i] = append(out[i], r.Locator)
			}
		}
	}
	return out, nil
}

// Proven is a locator with what it found on the page.
type Proven struct {
	Locator
	Count int  `json:"count"` // elements that it matches
	Alone bool `json:"alone"` // it matches the element and nothing else
}

// Tried ranks the locators of elements and tries each on the page, in one page call.
func Tried(ctx context.Context, page primitives.Page, elements []likeness.Seen) ([][]Proven, error) {
	out := make([][]Proven, len(elements))
	var all []descriptor.Descriptor
	for i, e := range elements {
		for _, l := range Ranked(e) {
			out[i] = append(out[i], Proven{Locator: l})
			all = append(all, l.Descriptor())
		}
	}
	matches, err := descriptor.ResolveAll(ctx, page, all)
	if err != nil {
		return nil, err
	}
	at := 0
	for i, e := range elements {
		for j := range out[i] {
			m := matches[at]
			at++
			out[i][j].Count = m.Count
			out[i][j].Alone = m.Found && m.Count == 1 && m.Handle == e.Handle && len(m.Relaxed) == 0
		}
	}
	return out, nil
}
