package client_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/format"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/outrider-run/outrider/primitives"
)

const generatedFile = "primitives_generated.go"

func TestGeneratedMethodsAreCurrent(t *testing.T) {
	g := generator{named: map[string]bool{}}
	want, err := g.file(primitives.Dictionary())
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("OUTRIDER_GENERATE") == "1" {
		if err := os.WriteFile(generatedFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(generatedFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("%s is not what the dictionary says: run make generate", generatedFile)
	}
}

// schema is what the generator reads of a JSON Schema.
type schemaNode struct {
	Type        typeNames              `json:"type"`
	Properties  map[string]*schemaNode `json:"properties"`
	Required    []string               `json:"required"`
	Items       *schemaNode            `json:"items"`
	OneOf       []*schemaNode          `json:"oneOf"`
	Enum        []any                  `json:"enum"`
	Const       any                    `json:"const"`
	Default     any                    `json:"default"`
	Minimum     *float64               `json:"minimum"`
	Description string                 `json:"description"`
}

// typeNames is the keyword type: a name or a list of them.
type typeNames []string

func (n *typeNames) UnmarshalJSON(b []byte) error {
	if b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(n))
	}
	var one string
	if err := json.Unmarshal(b, &one); err != nil {
		return err
	}
	*n = typeNames{one}
	return nil
}

func (s *schemaNode) is(name string) bool { return slices.Contains(s.Type, name) }

type generator struct {
	b     strings.Builder
	queue []pending
	named map[string]bool // types of their own that are in the file or in the queue
}

type pending struct {
	name, about string
	node        *schemaNode
	input       bool
}

func (g *generator) file(records []*primitives.Record) ([]byte, error) {
	g.b.WriteString("// Code generated from the records of primitives by make generate. DO NOT EDIT.\n\n" +
		"package client\n\nimport (\n\t\"context\"\n\t\"encoding/json\"\n)\n")
	for _, r := range records {
		if err := g.primitive(r); err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
	}
	for _, s := range shapes {
		if !g.named[s.name] {
			return nil, fmt.Errorf("no primitive has the members of %s: they have changed in the records", s.name)
		}
	}
	return format.Source([]byte(g.b.String()))
}

func (g *generator) primitive(r *primitives.Record) error {
	var in, out schemaNode
	if err := json.Unmarshal(r.InputSchema, &in); err != nil {
		return err
	}
	if err := json.Unmarshal(r.OutputSchema, &out); err != nil {
		return err
	}
	for _, alternative := range out.OneOf {
		if out.Properties == nil {
			out.Properties = map[string]*schemaNode{}
		}
		maps.Copy(out.Properties, alternative.Properties)
	}
	// effects stands beside the value, where a typed result has no place for it.
	delete(in.Properties, "effects")
	name := goName(r.Name)
	parameter, argument := "", "nil"
	if len(in.Properties) > 0 {
		parameter, argument = ", arguments "+name+"Args", "arguments"
	}
	g.comment("", fmt.Sprintf("%s runs %s. %s", name, r.Name, r.Summary))
	if len(r.Errors) > 0 {
		fmt.Fprintf(&g.b, "//\n")
		g.comment("", "Its own errors: "+strings.Join(r.Errors, ", ")+".")
	}
	head := fmt.Sprintf("func %s(ctx context.Context, c Caller%s) (*%sResult, error) {", name, parameter, name)
	if len(head) > 120 {
		head = fmt.Sprintf(
			"func %s(\n\tctx context.Context, c Caller%s,\n) (*%sResult, error) {", name, parameter, name,
		)
	}
	fmt.Fprintf(&g.b, "%s\n\tr := &%sResult{}\n", head, name)
	fmt.Fprintf(
		&g.b, "\tif err := c.CallInto(ctx, %q, %s, r); err != nil {\n\t\treturn nil, err\n\t}\n\treturn r, nil\n}\n",
		r.Name, argument,
	)
	if parameter != "" {
		g.structType(pending{
			name + "Args", fmt.Sprintf("%sArgs are the arguments of [%s].", name, name), &in, true,
		})
	}
	g.structType(pending{name + "Result", fmt.Sprintf("%sResult is the result of [%s].", name, name), &out, false})
	for len(g.queue) > 0 {
		next := g.queue[0]
		g.queue = g.queue[1:]
		g.structType(next)
	}
	return nil
}

func (g *generator) structType(p pending) {
	g.b.WriteString("\n")
	g.comment("", p.about)
	fmt.Fprintf(&g.b, "type %s struct {\n%s}\n", p.name, g.fields(p.node, p.name, p.input))
}

// fields are the members of a struct type, the required ones first.
func (g *generator) fields(n *schemaNode, name string, input bool) string {
	optional := func(member string) int {
		if slices.Contains(n.Required, member) {
			return 0
		}
		return 1
	}
	members := slices.SortedFunc(maps.Keys(n.Properties), func(a, b string) int {
		return cmp.Or(optional(a)-optional(b), strings.Compare(a, b))
	})
	inner := generator{named: g.named}
	for _, member := range members {
		node := n.Properties[member]
		if strings.HasPrefix(node.Description, "Deprecated") {
			continue
		}
		if about := describe(node); about != "" {
			inner.comment("\t", about)
		}
		tag := member
		if input && optional(member) == 1 {
			tag += ",omitempty"
		}
		fmt.Fprintf(
			&inner.b, "\t%s %s `json:\"%s\"`\n",
			goName(member), inner.goType(node, name+goName(member), input, optional(member) == 0), tag,
		)
	}
	g.queue = append(g.queue, inner.queue...)
	return inner.b.String()
}

func describe(n *schemaNode) string {
	about := n.Description
	if len(n.Enum) > 0 {
		about = strings.TrimSpace(about + " One of " + joined(n.Enum) + ".")
	}
	if n.Default != nil && n.Default != false && n.Default != 0.0 {
		about = strings.TrimSpace(fmt.Sprintf("%s Default %v.", about, n.Default))
	}
	return about
}

func joined(values []any) string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = fmt.Sprint(v)
	}
	return strings.Join(out, ", ")
}

// goType is the Go type of a schema. An optional argument whose zero value
// means something else than its absence is a pointer.
func (g *generator) goType(n *schemaNode, name string, input, required bool) string {
	pointer := func(t string, when bool) string {
		if input && !required && when {
			return "*" + t
		}
		return t
	}
	// A list may be given as one value too: the list says it all.
	if n.is("array") && n.Items != nil {
		return "[]" + strings.TrimPrefix(g.goType(n.Items, strings.TrimSuffix(name, "s"), input, true), "*")
	}
	switch {
	case n.Properties["selector"] != nil && n.Properties["retarget"] != nil:
		return "*Query"
	case n.is("object") && len(n.Properties) > 0 && !n.is("string"):
		return g.object(n, name, input, required)
	case n.is("object") && n.is("string"), n.is("object"), n.is("array"):
		return "json.RawMessage"
	case n.is("number") && !n.is("string"):
		return pointer("float64", true)
	case n.is("number") && n.is("null"): // coordinates, which may come as text
		return pointer("float64", true)
	case n.is("string") && n.is("boolean") && !input:
		return "any"
	case n.is("string"):
		return "string"
	case n.is("integer"):
		return pointer("int", n.Minimum == nil || *n.Minimum < 1)
	case n.is("boolean"), n.Const == true, n.Const == false:
		return pointer("bool", n.Default == true)
	case len(n.Enum) > 0:
		return "string"
	}
	return "json.RawMessage"
}

// object is the type of an object: one of its own for arguments and for what
// several results have, else a struct in its place.
func (g *generator) object(n *schemaNode, name string, input, required bool) string {
	name = strings.Replace(name, "Args", "", 1)
	about := name + " is a part of arguments."
	shared, ok := shapes[strings.Join(slices.Sorted(maps.Keys(n.Properties)), " ")]
	switch {
	case ok:
		name, about = shared.name, shared.name+" "+shared.about
	case !input:
		t := "struct {\n" + g.fields(n, name, input) + "}"
		if required && !n.is("null") {
			return t
		}
		return "*" + t
	}
	if !g.named[name] {
		g.named[name] = true
		g.queue = append(g.queue, pending{name, about, n, input})
	}
	if required && !n.is("null") {
		return name
	}
	return "*" + name
}

type shape struct{ name, about string }

// shapes are types that several primitives share, by their members.
var shapes = map[string]shape{
	"x y":              {"Point", "is a point in CSS pixels of the tab's viewport."},
	"height width x y": {"Rect", "is a rectangle in CSS pixels of the tab's viewport."},
	"bottom height left right top width x y": {
		"Box", "is the bounding box of an element, in CSS pixels of the tab's viewport.",
	},
	"cross_origin url": {"FrameInfo", "is the frame that an element is in."},
	"type": {
		"DialogInfo", "is a JavaScript dialog that opened: alert, confirm, prompt or beforeunload.",
	},
	"bounding_box name near point role tag_name type": {"ElementInfo", "is an element that a call acted on."},
	"aria_disabled bounding_box class_name computed_role data_testid disabled id name near point role tag_name " +
		"text type viewport": {"TargetInfo", "is the element that a pointer action was for, as it was before."},
	"bounding_box first_ms last_ms occluded_by point reason times": {
		"Attempt", "is what stood in the way of an action, and how long.",
	},
	"name rect role tag_name target_label": {"Occluder", "is an element that lies over another one."},
	"clock geolocation locale media network timezone user_agent viewport webdriver": {
		"Emulation", "is what a tab emulates.",
	},
}

// comment writes text as a comment of at most 80 columns.
func (g *generator) comment(indent, text string) {
	line := indent + "//"
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > 80 && line != indent+"//" {
			g.b.WriteString(line + "\n")
			line = indent + "//"
		}
		line += " " + word
	}
	g.b.WriteString(line + "\n")
}

// goName turns tag_name and page.info into TagName and PageInfo.
func goName(name string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '_' || r == '.' }) {
		switch part {
		case "id", "url", "ms", "html", "css", "kb", "ok", "pdf":
			b.WriteString(strings.ToUpper(part))
		case "urls":
			b.WriteString("URLs")
		default:
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}
