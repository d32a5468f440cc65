package scaffold

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/authoring/ident"
	"github.com/outrider-run/outrider/authoring/inspect"
	"github.com/outrider-run/outrider/internal/element/likeness"
	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/lazyregexp"
)

// stable reports whether people gave an id or a class.
func stable(v string) bool { return v != "" && !likeness.Generated(v) }

// projected drafts a projection of what repeats. container is the selector of the list;
// nil is returned when its items show nothing that can be told apart.
func projected(page inspect.Page, l inspect.List, container, name string) *Projection {
	fields := fieldsOf(l)
	if len(fields) == 0 {
		return nil
	}
	item := " > " + l.Item
	if l.Kind == "table" {
		item = " tr:has(> td)"
		if l.Tag != "table" {
			item = " " + l.Item
		}
	}
	if classes := likeness.StableClasses(l.ItemClass); len(classes) > 0 {
		item += "." + locators.Escape(classes[0])
	}
	p := &Projection{
		Name: name, Description: fmt.Sprintf(
			"The %s %s.", map[string]string{"table": "rows of", "list": "entries of"}[l.Kind],
			ident.First(quotedTitle(ident.First(l.Title, l.Name)), "the list"),
		),
		Scope: Scope{URLMatches: scopeOf(page.URL)},
		Snapshot: Snapshot{
			Version: 1, Source: "dom", Extract: []Extract{{ID: "items", Selector: container + item, Fields: fields}},
			Projection: Expression{"jsonata", "{% {'items': $append([], records.items)} %}"},
			OutputSchema: []byte(`{"type": "object", "required": ["items"], ` +
				`"properties": {"items": {"type": "array", "items": {"type": "object"}}}}`),
		},
		Summaries: []Summary{{
			Name:       "agent_context",
			MaxBytes:   4000,
			Expression: "{'count': $count(state.items), 'first': state.items[[0..9]]}",
		}},
	}
	return p
}

// scopeOf is a page without its query, whatever follows.
func scopeOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "*"
	}
	return u.Scheme + "://" + u.Host + u.EscapedPath() + "*"
}

// leafKey is where a leaf stands in its item.
func leafKey(l inspect.Leaf) string { return strings.Join(l.Way, " > ") }

// fieldsOf are the fields of items that most of them have.
func fieldsOf(l inspect.List) Fields {
	type column struct {
		key   string
		leaf  inspect.Leaf
		count int
		texts []string
	}
	var columns []*column
	byKey := map[string]*column{}
	for _, it := range l.Items {
		for _, leaf := range it.Leaves {
			k := leafKey(leaf)
			c := byKey[k]
			if c == nil {
				c = &column{key: k, leaf: leaf}
				byKey[k] = c
				columns = append(columns, c)
			}
			c.count++
			c.texts = append(c.texts, leaf.Text)
		}
	}
	var out Fields
	used := ident.Names{}
	seen := map[string]bool{} // what other fields read, item by item
	add := func(name string, f Field, values []string) {
		text := strings.Join(values, "\x00")
		if strings.Trim(text, "\x00 ") == "" || seen[f.Attribute+"\x00"+text] {
			return
		}
		seen[f.Attribute+"\x00"+text] = true
		f.Name = used.Free(ident.First(ident.Slug(name), "text"))
		f.Trim = f.Attribute == "" && f.Property == ""
		out = append(out, f)
	}
	for _, name := range identifying(l) {
		var values []string
		for _, it := range l.Items {
			values = append(values, it.Attributes[name])
		}
		add(strings.TrimPrefix(name, "data-"), Field{Attribute: name}, values)
	}
	least := max(1, (len(l.Items)*6+9)/10)
	for _, c := range columns {
		if c.count < least && len(l.Items) > 1 {
			continue
		}
		selector := leafSelector(l, c.leaf)
		switch {
		case c.leaf.Control == "checkbox" || c.leaf.Control == "radio":
			add(
				ident.First(c.leaf.Attributes["aria-label"], "checked"),
				Field{Selector: selector, Property: "checked"}, []string{"\x01" + c.key},
			)
			continue
		case c.leaf.Control != "" && c.leaf.Tag != "button" && c.leaf.Tag != "select":
			add(
				ident.First(c.leaf.Attributes["aria-label"], "value"),
				Field{Selector: selector, Property: "value"}, []string{"\x02" + c.key},
			)
			continue
		case c.leaf.Tag == "button" || c.leaf.Tag == "select":
			continue // what operates an item does not say what it is
		}
		name := nameOf(l, c.leaf)
		if operates(l, c.leaf, c.texts) {
			continue
		}
		if strings.Trim(strings.Join(c.texts, ""), " ") != "" && (c.leaf.Own || c.leaf.Tag == "td") &&
			!(c.leaf.Tag == "a" && constant(c.texts)) {
			add(name, Field{Selector: selector}, c.texts)
		}
		for _, attribute := range []string{"href", "src", "datetime"} {
			var values []string
			for _, it := range l.Items {
				for _, leaf := range it.Leaves {
					if leafKey(leaf) == c.key {
						values = append(values, leaf.Attributes[attribute])
					}
				}
			}
			if strings.Trim(strings.Join(values, ""), " ") == "" {
				continue
			}
			add(
				map[string]string{"href": "link", "src": "image", "datetime": "time"}[attribute],
				Field{Selector: selector, Attribute: attribute}, values,
			)
		}
	}
	if len(out) == 0 && len(l.Items) > 0 { // an entry that is text alone
		var texts []string
		for _, it := range l.Items {
			texts = append(texts, it.Text)
		}
		add("text", Field{}, texts)
	}
	return out
}

// operates reports whether a text is that of a control which each item has: it says what
// can be done with the item.
func operates(l inspect.List, leaf inspect.Leaf, texts []string) bool {
	if len(l.Items) < 2 || len(slices.Compact(slices.Clone(texts))) > 1 ||
		leaf.Tag == "a" && leaf.Attributes["href"] != "" {
		return false
	}
	return slices.ContainsFunc(l.Items[0].Leaves, func(other inspect.Leaf) bool {
		return other.Tag == "button" && other.Text == leaf.Text && strings.HasPrefix(leafKey(other), leafKey(leaf))
	})
}

// constant reports whether a text is the same in all of several items.
func constant(texts []string) bool {
	return len(texts) > 1 && len(slices.Compact(slices.Clone(texts))) == 1
}

var identifiers = lazyregexp.New(`^data-(?:[a-z-]*-)?(?:id|key|uid|uuid|slug|sku|code|pk|row-key)$`)

// identifying are attributes of the items that tell each from the others.
func identifying(l inspect.List) []string {
	if len(l.Items) < 2 {
		return nil
	}
	var out []string
	for name := range l.Items[0].Attributes {
		if name != "id" && !identifiers().MatchString(name) && !strings.HasPrefix(name, "data-") {
			continue
		}
		values := map[string]bool{}
		for _, it := range l.Items {
			if v := it.Attributes[name]; v != "" {
				values[v] = true
			}
		}
		if len(values) == len(l.Items) && (name == "id" || identifiers().MatchString(name) || len(l.Items) > 2) &&
			!slices.Contains(likeness.TestIDs, name) {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b string) int { // the clearest first
		rank := func(s string) int {
			switch {
			case identifiers().MatchString(s):
				return 0
			case s == "id":
				return 2
			}
			return 1
		}
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return out[:min(len(out), 1)]
}

// leafSelector names a leaf below its item: by what people gave it, or by the way.
func leafSelector(l inspect.List, leaf inspect.Leaf) string {
	if len(leaf.Way) == 0 {
		return ""
	}
	for _, name := range []string{"itemprop", "data-field"} {
		if v := leaf.Attributes[name]; v != "" {
			return locators.Attribute("", name, v)
		}
	}
	if l.Kind == "table" && leaf.Tag == "td" {
		return leaf.Way[len(leaf.Way)-1]
	}
	candidates := []string{}
	for _, c := range likeness.StableClasses(leaf.Class) {
		candidates = append(candidates, leaf.Tag+"."+locators.Escape(c), "."+locators.Escape(c))
	}
	if leaf.Tag != "div" && leaf.Tag != "span" && leaf.Tag != "td" {
		candidates = append(candidates, leaf.Tag)
	}
	for _, c := range candidates {
		if alone(l, leaf, c) {
			return c
		}
	}
	return ":scope > " + strings.Join(leaf.Way, " > ")
}

// alone reports whether the leaf is the first in its item that has the tag and the class of
// a selector, in every item.
func alone(l inspect.List, leaf inspect.Leaf, selector string) bool {
	tag, class, _ := strings.Cut(selector, ".")
	for _, it := range l.Items {
		for _, other := range it.Leaves {
			if tag != "" && other.Tag != tag ||
				class != "" && !slices.Contains(strings.Fields(other.Class), strings.ReplaceAll(class, `\`, "")) {
				continue
			}
			if leafKey(other) != leafKey(leaf) {
				return false
			}
			break
		}
	}
	return true
}

// nameOf is what a leaf is called: by the header of its column, or by what people gave
// it.
func nameOf(l inspect.List, leaf inspect.Leaf) string {
	if l.Kind == "table" && len(l.Headers) > 0 && len(leaf.Way) > 0 {
		var column int
		if _, err := fmt.Sscanf(strings.TrimPrefix(leaf.Way[0], leaf.Tag), ":nth-of-type(%d)", &column); err != nil {
			tag, _, _ := strings.Cut(leaf.Way[0], ":")
			_, _ = fmt.Sscanf(strings.TrimPrefix(leaf.Way[0], tag), ":nth-of-type(%d)", &column)
		}
		headers := l.Headers
		if column >= 1 && column <= len(headers) && ident.Slug(headers[column-1]) != "" {
			return headers[column-1]
		}
	}
	for _, name := range []string{"itemprop", "data-field", "headers"} {
		if v := leaf.Attributes[name]; v != "" {
			return v
		}
	}
	if classes := likeness.StableClasses(leaf.Class); len(classes) > 0 && leaf.Tag != "td" {
		c := classes[len(classes)-1]
		if i := strings.LastIndex(c, "__"); i >= 0 {
			c = c[i+2:]
		}
		return c
	}
	switch leaf.Tag {
	case "h1", "h2", "h3", "h4", "h5", "h6", "strong":
		return "title"
	case "time":
		return "time"
	case "a":
		return "title"
	case "p":
		return "description"
	}
	return "text"
}

// identity is the field that tells items apart, "" when none does for certain.
func identity(fields Fields, items []map[string]any) string {
	if len(items) < 2 {
		return ""
	}
	for _, f := range fields {
		values := map[string]bool{}
		for _, it := range items {
			if s, ok := it[f.Name].(string); ok && s != "" {
				values[s] = true
			}
		}
		if len(values) == len(items) {
			return f.Name
		}
	}
	return ""
}
