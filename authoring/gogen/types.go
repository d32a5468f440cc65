package gogen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// A member is one of a JSON object, in the order of the file.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf reads a JSON object. What is none has no members.
func membersOf(raw json.RawMessage) []member {
	d := json.NewDecoder(bytes.NewReader(raw))
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	var all []member
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		m := member{name: name.(string)}
		if d.Decode(&m.value) != nil {
			return nil
		}
		all = append(all, m)
	}
	return all
}

// node is a schema, of which the members decide about a type.
type node struct {
	Type        json.RawMessage   `json:"type"`
	Description string            `json:"description"`
	Properties  json.RawMessage   `json:"properties"`
	Required    []string          `json:"required"`
	Additional  json.RawMessage   `json:"additionalProperties"`
	Items       json.RawMessage   `json:"items"`
	Enum        []json.RawMessage `json:"enum"`
	Const       json.RawMessage   `json:"const"`
}

// unfit are keywords that make a type depend on the value.
var unfit = []string{
	"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "prefixItems", "patternProperties",
	"dependentSchemas", "unevaluatedProperties", "unevaluatedItems",
}

// top is the type of a whole input or output. An input without properties that takes no others has none.
func (g *generator) top(raw json.RawMessage, name, pointer string, input bool) string {
	var n node
	if json.Unmarshal(raw, &n) == nil && input && len(membersOf(n.Properties)) == 0 {
		if additional := string(n.Additional); additional == "" || additional == "false" {
			return g.plainInput(raw, pointer)
		}
	}
	return g.typeOf(raw, name, pointer, input)
}

// plainInput is the type of an input that declares no properties: none at all.
func (g *generator) plainInput(raw json.RawMessage, pointer string) string {
	g.fits(raw, pointer)
	return ""
}

// fits reports whether a schema has only keywords that a type can say or that narrow a type.
func (g *generator) fits(raw json.RawMessage, pointer string) bool {
	for _, m := range membersOf(raw) {
		if slices.Contains(unfit, m.name) {
			g.refuse(pointer+"/"+escape(m.name), "no type of Go fits a schema with %s", m.name)
			return false
		}
	}
	return true
}

// typeOf is the type of Go for a schema; a struct gets the name. input says that the program makes the value.
func (g *generator) typeOf(raw json.RawMessage, name, pointer string, input bool) string {
	if text := string(bytes.TrimSpace(raw)); text == "true" || text == "" {
		return "any"
	}
	var n node
	if err := json.Unmarshal(raw, &n); err != nil {
		g.refuse(pointer, "no type of Go fits this schema")
		return "any"
	}
	if !g.fits(raw, pointer) {
		return "any"
	}
	kind, nullable, ok := kindOf(n)
	if !ok {
		g.refuse(pointer+"/type", "no type of Go holds values of several types")
		return "any"
	}
	is := g.kind(kind, n, name, pointer, input)
	if nullable && !reference(is) {
		is = "*" + is
	}
	return is
}

func (g *generator) kind(kind string, n node, name, pointer string, input bool) string {
	switch kind {
	case "string":
		return "string"
	case "integer":
		return "int"
	case "number":
		return "float64"
	case "boolean":
		return "bool"
	case "array":
		return "[]" + g.typeOf(n.Items, name+"Item", pointer+"/items", input)
	case "object":
		return g.object(n, name, pointer, input)
	default:
		return "any"
	}
}

// reference reports whether a type has a nil.
func reference(is string) bool {
	return is == "any" || strings.HasPrefix(is, "*") || strings.HasPrefix(is, "[]") || strings.HasPrefix(is, "map[")
}

// kindOf is the one type that a schema has, "" for any. nullable says that null is allowed beside it.
func kindOf(n node) (kind string, nullable, ok bool) {
	var kinds []string
	if json.Unmarshal(n.Type, &kind) == nil && kind != "" {
		kinds = []string{kind}
	} else if n.Type != nil && json.Unmarshal(n.Type, &kinds) != nil {
		return "", false, false
	}
	values := n.Enum
	if n.Const != nil {
		values = append(values, n.Const)
	}
	if len(kinds) == 0 { // what the values say
		for _, value := range values {
			if k := kindOfValue(value); !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
	}
	if len(kinds) == 0 && n.Properties != nil {
		kinds = []string{"object"}
	}
	if len(kinds) == 0 && n.Items != nil {
		kinds = []string{"array"}
	}
	nullable = slices.Contains(kinds, "null")
	kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "null" })
	if slices.Contains(kinds, "number") {
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "integer" })
	}
	switch len(kinds) {
	case 0:
		return "", false, true
	case 1:
		return kinds[0], nullable, true
	default:
		return "", false, false
	}
}

func kindOfValue(raw json.RawMessage) string {
	switch text := strings.TrimSpace(string(raw)); {
	case text == "null":
		return "null"
	case text == "true" || text == "false":
		return "boolean"
	case strings.HasPrefix(text, `"`):
		return "string"
	case strings.HasPrefix(text, "["):
		return "array"
	case strings.HasPrefix(text, "{"):
		return "object"
	case strings.ContainsAny(text, ".eE"):
		return "number"
	default:
		return "integer"
	}
}

// object is a struct with the properties, or a map where none are declared.
func (g *generator) object(n node, name, pointer string, input bool) string {
	properties := membersOf(n.Properties)
	if len(properties) == 0 {
		additional := n.Additional
		if string(additional) == "false" {
			additional = nil
		}
		return "map[string]" + g.typeOf(additional, name+"Value", pointer+"/additionalProperties", input)
	}
	if !g.take(name, pointer) {
		return name
	}
	var fields bytes.Buffer
	used := map[string]string{}
	for _, m := range properties {
		at := pointer + "/properties/" + escape(m.name)
		field := goName(m.name)
		if field == "" || strings.ContainsAny(m.name, "`\",") {
			g.refuse(at, "%q has no name in Go", m.name)
			continue
		}
		if before, taken := used[field]; taken {
			g.refuse(at, "%q and %q have the Go name %s", before, m.name, field)
			continue
		}
		used[field] = m.name
		var about node
		_ = json.Unmarshal(m.value, &about) // a description, if there is one
		if said := fieldComment(about); said != "" {
			writeComment(&fields, field+": "+said)
		}
		is, tag := g.typeOf(m.value, name+field, at, input), m.name
		if !slices.Contains(n.Required, m.name) {
			tag += ",omitempty"
			if reference(is) && input && is[0] != '*' {
				tag = m.name + ",omitzero" // an empty list is one
			}
			if !reference(is) {
				is = "*" + is
			}
		}
		fmt.Fprintf(&fields, "%s %s `json:%q`\n", field, is, tag)
	}
	what := " is what comes back."
	if input {
		what = " is what is given. A nil pointer leaves its member out."
	}
	g.types.WriteByte('\n')
	writeComment(&g.types, name+what)
	fmt.Fprintf(&g.types, "type %s struct {\n%s}\n", name, fields.Bytes())
	return name
}

// fieldComment is what a schema says of a field, and its values.
func fieldComment(n node) string {
	said := oneLine(n.Description)
	var values []string
	for _, value := range n.Enum {
		values = append(values, oneLine(string(value)))
	}
	if len(values) > 0 {
		said = strings.TrimSpace(said + " One of " + strings.Join(values, ", ") + ".")
	}
	return said
}

// escape is a name as a part of a JSON pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
