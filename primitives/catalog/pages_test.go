package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/outrider-run/outrider/primitives"
)

// Pages are the pages of docs/reference/primitives by the names of their files: an
// index, one for each family, and one for the arguments that many primitives take.
func Pages() map[string]string {
	pages := map[string]string{"README.md": index(), "arguments.md": sharedArguments()}
	for _, f := range Families() {
		var b strings.Builder
		fmt.Fprintf(&b, "%s# %s\n\n", generated, f.Name)
		wrap(
			&b, "", fmt.Sprintf("The primitives of `primitives/%s`: %s. [All primitives](README.md).", f.Name, f.About),
		)
		for _, p := range f.Primitives {
			describe(&b, p.Record())
		}
		pages[f.Name+".md"] = b.String()
	}
	return pages
}

const generated = "<!-- Generated from the records in primitives by make generate. Do not edit. -->\n\n"

func index() string {
	var b strings.Builder
	b.WriteString(generated + "# Primitives\n\n")
	for _, paragraph := range []string{
		"A primitive is one operation on a tab. Its record, `primitives/<family>/<name>.json`, is the contract: " +
			"arguments and outputs are checked against it.",
		"An *enveloped* result is `{ok, primitive, adapter, value}` or `{ok, primitive, adapter, error}`. " +
			"A *flat* one is the object itself. A primitive that *acts* can change the page; one that is *paced* " +
			"keeps a minimum distance from the one before it.",
		"Every primitive may also fail with the codes that concern any call, such as `invalid_input`, `dialog_open` " +
			"or `tab_closed`: see [error codes](../errors.md). The evidence of `invalid_input` lists what is wrong " +
			"in `validation_errors`, `{path, keyword, message}` each. For a member that is not declared, `nearest` " +
			"is the one that was likely meant.",
		"Coordinates are CSS pixels of the tab's viewport, also for elements in frames. [Arguments](arguments.md) " +
			"has what many primitives take.",
	} {
		wrap(&b, "", paragraph)
		b.WriteString("\n")
	}
	for _, f := range Families() {
		fmt.Fprintf(
			&b, "## [%s](%s.md)\n\n%s.\n\n| primitive | class | result | acts |\n|---|---|---|---|\n",
			f.Name, f.Name, sentence(f.About),
		)
		for _, p := range f.Primitives {
			r := p.Record()
			acts := "no"
			if r.Acts {
				acts = "yes"
			}
			if r.Paced {
				acts = "yes, paced"
			}
			fmt.Fprintf(
				&b, "| [`%s`](%s.md#%s) | %s | %s | %s |\n",
				r.Name, f.Name, strings.ReplaceAll(r.Name, ".", ""), r.Class, r.Result, acts,
			)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// shared are the arguments that are described once, each as the named primitive takes it.
var shared = []struct{ name, of string }{{"locator", "locator.value"}, {"effects", "pointer.click"}}

// properties are the arguments that a primitive declares.
func properties(name string) map[string]docNode {
	var in docNode
	if r, ok := Standard().Lookup(name); ok {
		// Records are checked by their tests.
		_ = json.Unmarshal(r.InputSchema, &in)
	}
	return in.Properties
}

func sharedArguments() string {
	var b strings.Builder
	b.WriteString(generated + "# Arguments that many primitives take\n")
	for _, s := range shared {
		n := properties(s.of)[s.name]
		fmt.Fprintf(&b, "\n## %s\n\n", s.name)
		wrap(&b, "", strings.TrimSpace("Type: "+n.typeName()+". "+n.meaning()))
		b.WriteString("\n")
		n.items(&b, "", n.Required, nil)
	}
	return b.String()
}

func describe(b *strings.Builder, r *primitives.Record) {
	fmt.Fprintf(b, "\n## %s\n\n", r.Name)
	wrap(b, "", r.Summary)
	var in docNode
	// Records are checked by their tests.
	_ = json.Unmarshal(r.InputSchema, &in)
	if len(in.Properties) == 0 {
		b.WriteString("\nIt takes no arguments.\n")
	} else {
		b.WriteString("\nArguments:\n\n")
		elsewhere := map[string]docNode{}
		for _, s := range shared {
			elsewhere[s.name] = properties(s.of)[s.name]
		}
		in.items(b, "", in.Required, elsewhere)
	}
	var out docNode
	_ = json.Unmarshal(r.OutputSchema, &out)
	b.WriteString("\n")
	wrap(b, "", "Answer: "+out.members()+".")
	if len(r.Errors) > 0 {
		b.WriteString("\n")
		wrap(b, "", "Errors: `"+strings.Join(r.Errors, "`, `")+"`.")
	}
}

// width is what a line of a page has at most.
const width = 120

// wrap writes text as a paragraph, or as an item of a list, in lines of at most width.
func wrap(b *strings.Builder, bullet, text string) {
	line, indent := bullet, strings.Repeat(" ", len(bullet))
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line)+utf8.RuneCountInString(word) > width && strings.TrimSpace(line) != "" {
			b.WriteString(strings.TrimRight(line, " ") + "\n")
			line = indent
		}
		line += word + " "
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}

type docNode struct {
	Type        any                `json:"type"`
	Properties  map[string]docNode `json:"properties"`
	Required    []string           `json:"required"`
	Items       *docNode           `json:"items"`
	Enum        []any              `json:"enum"`
	Const       any                `json:"const"`
	OneOf       []docNode          `json:"oneOf"`
	Minimum     *float64           `json:"minimum"`
	Maximum     *float64           `json:"maximum"`
	Default     any                `json:"default"`
	Description string             `json:"description"`
}

// items writes the members of an object, those that must be given first. What is
// described elsewhere is a link.
func (n docNode) items(b *strings.Builder, prefix string, required []string, elsewhere map[string]docNode) {
	names := slices.Sorted(maps.Keys(n.Properties))
	slices.SortStableFunc(names, func(x, y string) int {
		return boolRank(slices.Contains(required, y)) - boolRank(slices.Contains(required, x))
	})
	for _, name := range names {
		p := n.Properties[name]
		typ := p.typeName()
		if slices.Contains(required, name) {
			typ += ", required"
		}
		if same, there := elsewhere[name]; there && reflect.DeepEqual(same.Properties, p.Properties) {
			wrap(
				b, "- ",
				fmt.Sprintf("`%s` (%s): see [%s](arguments.md#%s). %s", prefix+name, typ, name, name, p.Description),
			)
			continue
		}
		entry := fmt.Sprintf("`%s` (%s)", prefix+name, typ)
		if m := p.meaning(); m != "" {
			entry += ": " + m
		}
		wrap(b, "- ", entry)
		p.items(b, prefix+name+".", p.Required, elsewhere)
		if p.Items != nil {
			p.Items.items(b, prefix+name+"[].", p.Items.Required, elsewhere)
		}
	}
}

func boolRank(v bool) int {
	if v {
		return 1
	}
	return 0
}

func (n docNode) typeName() string {
	switch t := n.Type.(type) {
	case string:
		if t == "array" && n.Items != nil && len(n.Items.Properties) == 0 {
			return "array of " + n.Items.typeName()
		}
		return t
	case []any:
		var names []string
		for _, e := range t {
			names = append(names, fmt.Sprint(e))
		}
		return strings.Join(names, " or ")
	}
	return "any"
}

func (n docNode) meaning() string {
	var parts []string
	if n.Description != "" {
		parts = append(parts, n.Description)
	}
	if len(n.Enum) > 0 {
		var values []string
		for _, v := range n.Enum {
			values = append(values, fmt.Sprintf("`%v`", v))
		}
		parts = append(parts, "One of "+strings.Join(values, ", ")+".")
	}
	switch {
	case n.Minimum != nil && n.Maximum != nil:
		parts = append(parts, fmt.Sprintf("%g to %g.", *n.Minimum, *n.Maximum))
	case n.Minimum != nil:
		parts = append(parts, fmt.Sprintf("At least %g.", *n.Minimum))
	case n.Maximum != nil:
		parts = append(parts, fmt.Sprintf("At most %g.", *n.Maximum))
	}
	if n.Default != nil {
		d, _ := json.Marshal(n.Default)
		parts = append(parts, "Default `"+string(d)+"`.")
	}
	return strings.Join(parts, " ")
}

// members lists the names of an output, those that may be missing in brackets.
func (n docNode) members() string {
	if len(n.OneOf) > 0 {
		var alternatives []string
		for _, alt := range n.OneOf {
			alternatives = append(alternatives, alt.members())
		}
		return strings.Join(alternatives, ", or ")
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(n.Properties)) {
		if slices.Contains(n.Required, name) {
			names = append(names, "`"+name+"`")
		} else {
			names = append(names, "[`"+name+"`]")
		}
	}
	return strings.Join(names, ", ")
}
