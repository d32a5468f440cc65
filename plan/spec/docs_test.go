package spec_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/plan/spec"
)

const (
	schemaPage = "../../docs/reference/plan.schema.json"
	fieldsPage = "../../docs/reference/plan-fields.md"
)

// TestSchemaPageIsCurrent holds docs/reference/plan.schema.json to the types.
func TestSchemaPageIsCurrent(t *testing.T) { current(t, schemaPage, string(spec.Schema())) }

// TestFieldsPageIsCurrent holds docs/reference/plan-fields.md to the schema.
func TestFieldsPageIsCurrent(t *testing.T) {
	var root node
	if err := json.Unmarshal(spec.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	b.WriteString("<!-- Generated from plan/spec by make generate. Do not edit. -->\n\n# Fields of a plan\n\n" +
		"What they do together: [plans](plans.md). For editors: [JSON Schema](plan.schema.json). A name in bold is " +
		"required.\n")
	sections := []struct{ def, title string }{
		{"", "A plan"},
		{"step", "A step"},
		{"request", "A request"},
		{"expectation", "An expectation"},
		{"region", "A region"},
		{"networkRequest", "A request that is expected"},
		{"forEach", "for_each"},
		{"secret", "A secret"},
		{"session", "A session"},
		{"signIn", "A sign-in"},
		{"serve", "An app"},
		{"matrix", "A matrix"},
		{"clock", "A clock"},
		{"quarantine", "A quarantine"},
		{"route", "A route"},
	}
	for _, s := range sections {
		n := &root
		if s.def != "" {
			n = root.Defs[s.def]
			if n == nil {
				continue
			}
		}
		fmt.Fprintf(&b, "\n## %s\n\n| field | type | meaning |\n|---|---|---|\n", s.title)
		for _, name := range orderOf(t, n) {
			p := n.Properties[name]
			shown := "`" + name + "`"
			if slices.Contains(n.Required, name) {
				shown = "**" + shown + "**"
			}
			row := fmt.Sprintf(
				"| %s | %s | %s |",
				shown, p.kind(), strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`).Replace(p.Description),
			)
			b.WriteString(row + "\n")
		}
	}
	for name := range root.Defs {
		if !slices.ContainsFunc(sections, func(s struct{ def, title string }) bool { return s.def == name }) {
			t.Errorf("the page has no section for %s", name)
		}
	}
	current(t, fieldsPage, b.String())
}

func current(t *testing.T, path, want string) {
	t.Helper()
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is stale: run make generate (%v)", strings.TrimPrefix(path, "../../"), err)
	}
}

type node struct {
	Ref         string           `json:"$ref"`
	Type        string           `json:"type"`
	Enum        []string         `json:"enum"`
	Description string           `json:"description"`
	Required    []string         `json:"required"`
	Properties  map[string]*node `json:"properties"`
	Items       *node            `json:"items"`
	AnyOf       []*node          `json:"anyOf"`
	Pattern     string           `json:"pattern"`
	Additional  json.RawMessage  `json:"additionalProperties"`
	Defs        map[string]*node `json:"$defs"`

	raw json.RawMessage
}

func (n *node) UnmarshalJSON(b []byte) error {
	type plain node
	n.raw = slices.Clone(b)
	return json.Unmarshal(b, (*plain)(n))
}

// orderOf are the names of the properties as the schema has them.
func orderOf(t *testing.T, n *node) []string {
	t.Helper()
	var members struct {
		Properties json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(n.raw, &members); err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(string(members.Properties)))
	if _, err := d.Token(); err != nil {
		t.Fatal(err)
	}
	var out []string
	for d.More() {
		name, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		var skip json.RawMessage
		if err := d.Decode(&skip); err != nil {
			t.Fatal(err)
		}
		out = append(out, name.(string))
	}
	return out
}

func (n *node) kind() string {
	switch {
	case n.Ref != "":
		return "object"
	case len(n.Enum) > 5:
		return "one of those of the schema"
	case n.Enum != nil:
		return "`" + strings.Join(n.Enum, "` or `") + "`"
	case n.AnyOf != nil:
		var parts []string
		for _, a := range n.AnyOf {
			if k := a.kind(); !slices.Contains(parts, k) {
				parts = append(parts, k)
			}
		}
		return strings.Join(parts, ", ")
	case n.Pattern != "":
		return "duration"
	case n.Type == "array" && n.Items != nil:
		if k := n.Items.kind(); k != "any" && !strings.Contains(k, ",") {
			return "list of " + k + "s"
		}
		return "list"
	case n.Type != "":
		return n.Type
	}
	return "any"
}
