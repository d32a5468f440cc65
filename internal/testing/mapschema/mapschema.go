// Package mapschema makes the JSON Schema of a map for editors: that of the format, with
// the steps of workflows and the arguments of every primitive, so that an editor
// completes them. It decides nothing when a map is read: sites/manifest and workflow do.
// Its test writes docs/reference/actions.schema.json.
package mapschema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/internal/jsonout"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/sites/manifest"
)

// ID is the $id of the schema.
const ID = "https://outrider.run/schema/actions.v1.editor.schema.json"

// object is a JSON object.
type object = map[string]any

// Editor is the schema.
func Editor() ([]byte, error) {
	root, err := decode(manifest.Published)
	if err != nil {
		return nil, fmt.Errorf("reading the schema of the format: %w", err)
	}
	root["$id"] = ID
	root["$comment"] = "Generated from sites/manifest/schema and the records in primitives by make generate. " +
		"Do not edit."
	defs := root["$defs"].(object)
	defs["slot"] = object{
		"type":        "string",
		"pattern":     `^\s*\{%[\s\S]*%\}\s*$`,
		"description": "an expression: {% input.name %}",
	}
	var names, summaries []any
	h := hoist{defs: defs, count: map[string]int{}, names: map[string]string{}}
	var arguments []object
	for _, r := range primitives.Dictionary() {
		in, err := decode(r.InputSchema)
		if err != nil {
			return nil, fmt.Errorf("reading the arguments of %s: %w", r.Name, err)
		}
		in = open(in).(object)
		in["patternProperties"] = otherSpellings
		names = append(names, r.Name)
		summaries = append(summaries, r.Summary)
		arguments = append(arguments, in)
		h.look(in)
	}
	var ofSteps, ofAbstract []any
	for i, in := range arguments {
		name := names[i].(string)
		if name == "locator.value" {
			defs[locatorDef] = h.members(in["properties"].(object)["locator"].(object)["anyOf"].([]any)[0].(object))
		}
		required, _ := in["required"].([]any)
		defs["arguments."+name] = h.members(in)
		ofSteps = append(ofSteps, argumentsOf("primitive", "args", name, len(required) > 0))
		ofAbstract = append(ofAbstract, argumentsOf("type", "arguments", name, len(required) > 0))
	}
	defs["workflow"] = workflow
	defs["workflowStep"] = with(workflowStep, object{
		"primitive": object{
			"description":      "a primitive of the dictionary",
			"enum":             names,
			"enumDescriptions": summaries,
		},
	}, ofSteps)
	defs["afterEach"] = with(afterEach, object{}, slices.DeleteFunc(slices.Clone(ofSteps), func(c any) bool {
		return !slices.Contains(waits, c.(object)["if"].(object)["properties"].(object)["primitive"].(object)["const"])
	}))
	locator := defs["arguments.locator.wait_for"].(object)["properties"].(object)["locator"]
	defs["settleAfter"] = with(settleAfter, object{"locator": locator}, nil)

	tool := defs["tool"].(object)["properties"].(object)
	tool["workflow"] = object{"description": tool["workflow"].(object)["description"], "$ref": "#/$defs/workflow"}
	step := defs["executionStep"].(object)
	var kinds, about []any
	for _, k := range stepTypes {
		kinds, about = append(kinds, k.name), append(about, k.about)
	}
	step["properties"].(object)["type"] = object{
		"description": "what it does, or the name of a primitive",
		"anyOf": []any{
			object{"enum": append(kinds, names...), "enumDescriptions": append(about, summaries...)},
			object{"$ref": "#/$defs/identifier"},
		},
	}
	step["allOf"] = ofAbstract
	root, err = copied(root)
	if err != nil { // parts of it are shared, and variables of this package
		return nil, err
	}
	strict(root, nil)
	return jsonout.File(root, " ")
}

func copied(root object) (object, error) {
	text, err := json.Marshal(root)
	if err != nil {
		return nil, err
	}
	return decode(text)
}

// locatorDef is the definition of a locator, which can be in a locator.
const locatorDef = "locator"

// argumentsOf says what the arguments of a step are, when its primitive is the one named.
func argumentsOf(by, member, name string, required bool) object {
	then := object{"properties": object{
		member: object{"if": object{"type": "object"}, "then": object{"$ref": "#/$defs/arguments." + name}},
	}}
	if required {
		then["required"] = []any{member}
	}
	return object{"if": object{"required": []any{by}, "properties": object{by: object{"const": name}}}, "then": then}
}

// with is a schema of an object with more properties and conditions.
func with(s, properties object, all []any) object {
	out := maps.Clone(s)
	p := maps.Clone(s["properties"].(object))
	maps.Copy(p, properties)
	out["properties"] = p
	if all != nil {
		out["allOf"] = all
	}
	return out
}

// otherSpellings are names that the runtime reads as others, and members by which a
// caller says which tab is meant. What they hold is not judged.
var otherSpellings = object{`^[a-z0-9]+[A-Z]`: true, `^target_(runtime|url|title)`: true}

// open is the schema of arguments in which an expression may stand for any value.
func open(v any) any {
	s, ok := v.(object)
	if !ok {
		return v
	}
	if s["x_recursive"] == true {
		return object{"$ref": "#/$defs/" + locatorDef, "description": s["description"]}
	}
	out := object{}
	for name, e := range s {
		switch {
		case strings.HasPrefix(name, "x_"):
		case name == "properties":
			p := object{}
			for k, below := range e.(object) {
				p[k] = orSlot(open(below))
			}
			out[name] = p
		case name == "items" || name == "additionalProperties":
			out[name] = orSlot(open(e))
		case name == "anyOf" || name == "oneOf" || name == "allOf":
			var list []any
			for _, below := range e.([]any) {
				list = append(list, open(below))
			}
			if name == "oneOf" { // an expression could fit several
				name = "anyOf"
			}
			out[name] = list
		default:
			out[name] = e
		}
	}
	if p, ok := out["properties"].(object); ok && len(p) > 0 && out["additionalProperties"] == false {
		out["patternProperties"] = object{`^[a-z0-9]+[A-Z]`: true}
	}
	return out
}

// orSlot is the schema, or an expression where the schema takes no text.
func orSlot(v any) any {
	s, ok := v.(object)
	if !ok || takesText(s) {
		return v
	}
	out := object{"anyOf": []any{s, object{"$ref": "#/$defs/slot"}}}
	for _, name := range []string{"description", "default"} {
		if e, ok := s[name]; ok {
			out[name] = e
		}
	}
	return out
}

func takesText(s object) bool {
	for _, narrow := range []string{
		"enum", "const", "pattern", "maxLength", "minLength", "anyOf", "allOf", "$ref", "not",
	} {
		if _, ok := s[narrow]; ok {
			return false
		}
	}
	switch t := s["type"].(type) {
	case nil:
		return true
	case string:
		return t == "string"
	case []any:
		return slices.Contains(t, any("string"))
	}
	return false
}

// hoist gives what several arguments have in common a definition of its own.
type hoist struct {
	defs  object
	count map[string]int    // by the text of the schema
	names map[string]string // of the definition, likewise
}

// smallest is the size from which a schema is worth a definition.
const smallest = 200

func textOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return string(text)
}

// look counts the schemas below s.
func (h *hoist) look(s object) {
	each(s, func(_ string, below object) any {
		if text := textOf(below); len(text) >= smallest {
			h.count[text]++
		}
		h.look(below)
		return below
	})
}

// members is s with the schemas below it replaced by references where they are common.
func (h *hoist) members(s object) object {
	return each(s, func(name string, below object) any {
		text := textOf(below)
		if h.count[text] < 2 {
			return h.members(below)
		}
		def, ok := h.names[text]
		if !ok {
			def = name
			for i := 2; h.defs[def] != nil; i++ {
				def = fmt.Sprintf("%s.%d", name, i)
			}
			h.names[text] = def
			h.defs[def] = object{} // takes the name
			h.defs[def] = h.members(below)
		}
		ref := object{"$ref": "#/$defs/" + def}
		if d, ok := below["description"]; ok {
			ref["description"] = d
		}
		return ref
	})
}

// each is s with each schema directly below it replaced. name is that of the property.
func each(s object, f func(name string, below object) any) object {
	out := object{}
	for _, key := range slices.Sorted(maps.Keys(s)) {
		e := s[key]
		switch v := e.(type) {
		case object:
			if key == "properties" {
				p := object{}
				for _, name := range slices.Sorted(maps.Keys(v)) {
					p[name] = v[name]
					if below, ok := v[name].(object); ok {
						p[name] = f("argument."+name, below)
					}
				}
				e = p
			} else if key == "items" || key == "additionalProperties" {
				e = f("argument.item", v)
			}
		case []any:
			if key == "anyOf" || key == "allOf" {
				list := []any{}
				for _, one := range v {
					if below, ok := one.(object); ok && below["$ref"] == nil {
						one = f("argument.choice", below)
					}
					list = append(list, one)
				}
				e = list
			}
		}
		out[key] = e
	}
	return out
}

func decode(text []byte) (object, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var out object
	err := d.Decode(&out)
	return out, err
}
