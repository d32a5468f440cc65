package manifest_test

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const fieldsPage = "../../docs/reference/map-fields.md"

// TestFieldsPageIsCurrent holds docs/reference/map-fields.md to the schema.
func TestFieldsPageIsCurrent(t *testing.T) {
	text, err := os.ReadFile("schema/actions.v1.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var root schemaNode
	if err := json.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	want := fieldsMarkdown(t, &root)
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.WriteFile(fieldsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(fieldsPage)
	if err != nil || string(got) != want {
		t.Errorf("docs/reference/map-fields.md is stale: run make generate (%v)", err)
	}
}

// schemaNode is what the page needs to know of a schema. Properties keep the
// order in which they are written.
type schemaNode struct {
	Ref         string                 `json:"$ref"`
	Description string                 `json:"description"`
	Type        any                    `json:"type"`
	Const       any                    `json:"const"`
	Enum        []any                  `json:"enum"`
	Examples    []any                  `json:"examples"`
	Required    []string               `json:"required"`
	Properties  properties             `json:"properties"`
	Items       *schemaNode            `json:"items"`
	Additional  *schemaNode            `json:"additionalProperties"`
	AllOf       []schemaNode           `json:"allOf"`
	Then        *schemaNode            `json:"then"`
	Defs        map[string]*schemaNode `json:"$defs"`
}

type properties struct {
	names []string
	nodes map[string]*schemaNode
}

func (p *properties) UnmarshalJSON(text []byte) error {
	p.nodes = map[string]*schemaNode{}
	dec := json.NewDecoder(bytes.NewReader(text))
	if _, err := dec.Token(); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return err
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		node := &schemaNode{}
		if raw[0] == '{' { // true allows anything
			if err := json.Unmarshal(raw, node); err != nil {
				return err
			}
		}
		p.names = append(p.names, name.(string))
		p.nodes[name.(string)] = node
	}
	return nil
}

// sections are the tables of the page, in the order in which people write maps.
// The key is a definition of the schema.
var sections = []struct{ def, title, text string }{
	{"surface", "surface", ""},
	{"tool", "tools", "A tool needs one way to run: `workflow`, or one of `x_actions`.\n" +
		"See [workflows](workflows.md) and [steps of a map](map-steps.md)."},
	{"xActions", "tools: x_actions", ""},
	{"execution", "tools: x_actions.execution", ""},
	{"executionStep", "Steps", "What each type needs: [steps of a map](map-steps.md)."},
	{"target", "Targets", "A target says where something is in the live page."},
	{"state", "states", "See [checks and transitions](../explanation/checks.md)."},
	{"transition", "transitions", "See [checks and transitions](../explanation/checks.md)."},
	{"check", "checks", "See [checks and transitions](../explanation/checks.md)."},
	{
		"probe", "Probes",
		"Diagnostics, assertions and `assert` of a step are probes. A field that is not set does not count.",
	},
	{"signal", "signals", "See [signals and attachments](../explanation/signals-and-attachments.md)."},
	{"attachment", "attachments", "See [signals and attachments](../explanation/signals-and-attachments.md)."},
	{"projection", "state_projections", "See [state projections](projections.md)."},
	{"context", "context", "Documentation that applies in one place; it permits nothing."},
	{"import", "imports", "See [maps](../explanation/map-imports.md)."},
	{"composition", "composition", ""},
	{"provenance", "provenance", ""},
	{"source", "source", "Hints for review and repair, never executed."},
	{"file", "x_actions.files", "Only declared files may be read."},
}

const fieldsHead = "<!-- Generated from sites/manifest/schema/actions.v1.schema.json by make generate. Do not edit. " +
	"-->\n\n" +
	"# Fields of a map\n\n" +
	"```json\n" +
	`{
  "protocol": "actions.json",
  "version": 1,
  "surface": {"origin": "https://example.com", "name": "Example"},
  "tools": [{
    "name": "page.heading",
    "description": "Read the heading of the page.",
    "input_schema": {"type": "object", "additionalProperties": false},
    "x_actions": {"execution": {"mode": "steps_only", "steps": [
      {"type": "extract", "target": {"selector": "h1"}, "as": "heading"}
    ]}}
  }]
}
` + "```\n\n" +
	"A name in bold is required. An *identifier* has parts of letters, digits, `_` and `-`, joined by dots, each " +
	"beginning\n" +
	"with a letter. A *target* may be the name of one where the table says so. Unknown fields are a warning of\n" +
	"`outrider validate`; fields that begin with `x_` are extensions and pass. The demonstration map,\n" +
	"[sites/demo/actions.json](../../sites/demo/actions.json), has every section.\n"

func fieldsMarkdown(t *testing.T, root *schemaNode) string {
	var b strings.Builder
	b.WriteString(fieldsHead)
	section := func(title, text string, n *schemaNode) {
		b.WriteString("\n## " + title + "\n\n")
		if text != "" {
			b.WriteString(text + "\n\n")
		}
		b.WriteString("| field | type | meaning |\n|---|---|---|\n")
		notes := rows(t, &b, n, "", title)
		if len(notes) > 0 {
			b.WriteString("\n" + strings.Join(notes, ""))
		}
	}
	section("The root", "", root)
	documented := map[string]bool{}
	for _, s := range sections {
		n := root.Defs[s.def]
		if n == nil {
			t.Fatalf("the schema has no definition %s", s.def)
		}
		documented[s.def] = true
		section(s.title, s.text, n)
	}
	for name, n := range root.Defs {
		if len(n.Properties.names) > 0 && !documented[name] {
			t.Errorf("the definition %s of the schema has fields, but no section on the page", name)
		}
	}
	return b.String()
}

// rows writes a row for each field, and returns what does not fit into one: the
// values of a choice among many.
func rows(t *testing.T, b *strings.Builder, n *schemaNode, prefix, title string) (notes []string) {
	for _, name := range n.Properties.names {
		field := n.Properties.nodes[name]
		if field.Description == "" {
			t.Errorf("%s: %s%s has no description in the schema", title, prefix, name)
		}
		shown, what := "`"+prefix+name+"`", kind(field)
		if values := append(field.Enum, field.Examples...); len(values) > 3 {
			what = "choice"
			notes = append(notes, "- "+shown+": "+choices(values)+"\n")
		}
		if slices.Contains(n.Required, name) {
			shown = "**" + shown + "**"
		}
		row := "| " + shown + " | " + what + " | " + field.Description + " |"
		if utf8.RuneCountInString(row) > 120 {
			t.Errorf("%s: the row of %s%s has more than 120 characters: shorten its description", title, prefix, name)
		}
		b.WriteString(row + "\n")
		for _, within := range []*schemaNode{field, field.Items, field.Additional} {
			if within != nil && title != "The root" && name != "assert" {
				below := prefix + name + "."
				if within == field.Items {
					below = prefix + name + "[]."
				}
				notes = append(notes, rows(t, b, within, below, title)...)
			}
		}
	}
	return notes
}

// kind says in a word or two what a field takes.
func kind(n *schemaNode) string {
	if def, ok := strings.CutPrefix(n.Ref, "#/$defs/"); ok {
		if name, ok := map[string]string{
			"text": "string", "strings": "strings", "oneOrMore": "string or strings", "whole": "whole number",
			"positive": "whole number > 0", "jsonSchema": "JSON Schema", "selectorField": "selector or selectors",
			"relativePath": "path", "companionPath": "path", "targetOrName": "target or name", "xActions": "object",
			"direction": "choice",
		}[def]; ok {
			return name
		}
		return def
	}
	switch {
	case n.Const != nil:
		return "constant"
	case len(n.Enum) > 0, len(n.Examples) > 0:
		return choices(append(n.Enum, n.Examples...))
	case n.Then != nil:
		return "object or string"
	case len(n.AllOf) > 0:
		return kind(&n.AllOf[0])
	case n.Items != nil:
		if len(n.Items.Properties.names) > 0 || n.Items.Type == "object" {
			return "list of objects"
		}
		return "list of " + kind(n.Items)
	}
	switch v := n.Type.(type) {
	case string:
		return map[string]string{"array": "list", "boolean": "true or false"}[v] +
			strings.TrimPrefix(strings.TrimPrefix(v, "array"), "boolean")
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, one.(string))
		}
		return strings.Join(all, " or ")
	}
	return "any"
}

func choices(values []any) string {
	var all []string
	for _, v := range values {
		all = append(all, "`"+v.(string)+"`")
	}
	return strings.Join(all, " ")
}
