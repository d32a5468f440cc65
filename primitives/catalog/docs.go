package catalog

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives"
)

// Markdown renders docs/primitives.md from records.
func Markdown(records []*primitives.Record) string {
	var b strings.Builder
	b.WriteString("# Primitives\n\n")
	b.WriteString("Generated from the records `primitives/<family>/<name>.json` by `make generate`. The record is the contract: arguments and outputs are checked against it.\n\n")
	b.WriteString("An *enveloped* result is `{ok, primitive, adapter, value}` or `{ok, primitive, adapter, error}`; a *flat* one is the object itself.\n")
	b.WriteString("Every primitive may also fail with the codes that concern any call, such as `invalid_input`, `dialog_open` or `tab_closed`:\n")
	b.WriteString("see [errors.md](errors.md). The evidence of `invalid_input` lists what is wrong in `validation_errors`, `{path, keyword, message}` each; for a member that\n")
	b.WriteString("is not declared, `nearest` is the one that was likely meant. Coordinates are CSS pixels of the tab's viewport, also for elements in frames.\n\n")
	b.WriteString("| primitive | class | result | acts |\n|---|---|---|---|\n")
	for _, r := range records {
		acts := "no"
		if r.Acts {
			acts = "yes"
		}
		if r.Paced {
			acts = "yes, paced"
		}
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", r.Name, strings.ReplaceAll(r.Name, ".", ""), r.Class, r.Result, acts)
	}
	for _, r := range records {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", r.Name, r.Summary)
		var in docNode
		// Records are checked by their tests.
		_ = json.Unmarshal(r.InputSchema, &in)
		if len(in.Properties) == 0 {
			b.WriteString("\nIt takes no arguments.\n")
		} else {
			b.WriteString("\n| argument | type | meaning |\n|---|---|---|\n")
			in.rows(&b, "", in.Required)
		}
		var out docNode
		_ = json.Unmarshal(r.OutputSchema, &out)
		fmt.Fprintf(&b, "\nAnswer: %s.\n", out.members())
		if len(r.Errors) > 0 {
			fmt.Fprintf(&b, "\nErrors: `%s`.\n", strings.Join(r.Errors, "`, `"))
		}
	}
	return b.String()
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

func (n docNode) rows(b *strings.Builder, prefix string, required []string) {
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
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", prefix+name, typ, cell(p.meaning()))
		p.rows(b, prefix+name+".", p.Required)
		if p.Items != nil {
			p.Items.rows(b, prefix+name+"[].", p.Items.Required)
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

func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
