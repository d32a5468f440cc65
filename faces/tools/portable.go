package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Clients hand the schemas of a list on to models whose services take less than JSON Schema: a type
// beside every property and enumeration, one type each, items in every array, enumerations of texts,
// and an object without alternatives at the top. What a schema loses here is still judged: calls are
// checked against the schema as it was written.

// schemaNode has the keywords of a schema that are read.
type schemaNode struct {
	Type       any                        `json:"type"`
	Enum       []any                      `json:"enum"`
	Const      any                        `json:"const"`
	Properties map[string]json.RawMessage `json:"properties"`
	Items      json.RawMessage            `json:"items"`
	AnyOf      []json.RawMessage          `json:"anyOf"`
	OneOf      []json.RawMessage          `json:"oneOf"`
	AllOf      []json.RawMessage          `json:"allOf"`
}

// readNode reads a schema; one that is true, false or of another form says nothing.
func readNode(raw json.RawMessage) schemaNode {
	var n schemaNode
	if json.Unmarshal(raw, &n) != nil {
		return schemaNode{}
	}
	return n
}

// typeOf is the one type that a client is told. Of several it is the first that is not null; where
// none is said it follows from the rest, and is a text where nothing says otherwise.
func (n schemaNode) typeOf() string {
	switch t := n.Type.(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				return name
			}
		}
	}
	values := n.Enum
	if n.Const != nil {
		values = append([]any{n.Const}, values...)
	}
	for _, v := range values {
		if name := typeOfValue(v); name != "" {
			return name
		}
	}
	if n.Properties != nil {
		return "object"
	}
	if n.Items != nil {
		return "array"
	}
	for _, list := range [][]json.RawMessage{n.AnyOf, n.OneOf, n.AllOf} {
		for _, one := range list {
			if name := readNode(one).typeOf(); name != "null" {
				return name
			}
		}
	}
	return "string"
}

func typeOfValue(v any) string {
	switch v.(type) {
	case string:
		return "string"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	}
	return ""
}

// texts are the values of an enumeration, nil when one of them is no text.
func (n schemaNode) texts() []any {
	for _, v := range n.Enum {
		if _, ok := v.(string); !ok {
			return nil
		}
	}
	return n.Enum
}

// deepest bounds how deep a schema is followed; below it is any object or text.
const deepest = 20

// Portable is a schema that every client takes.
func Portable(raw json.RawMessage) json.RawMessage {
	made := portableNode(raw, 0)
	made["type"] = "object"
	for _, alternatives := range []string{"anyOf", "oneOf", "allOf", "not", "enum", "const", "items"} {
		delete(made, alternatives)
	}
	encoded, err := json.Marshal(made)
	if err != nil {
		return json.RawMessage(`{"type":"object"}`)
	}
	return encoded
}

func portableNode(raw json.RawMessage, depth int) map[string]any {
	made := map[string]any{}
	if json.Unmarshal(raw, &made) != nil || made == nil {
		made = map[string]any{}
	}
	n := readNode(raw)
	kind := n.typeOf()
	made["type"] = kind
	if n.Enum != nil {
		made["enum"] = n.texts()
		if n.texts() == nil || kind != "string" {
			delete(made, "enum")
			described, _ := made["description"].(string)
			made["description"] = strings.TrimSpace(described + " One of " + listed(n.Enum) + ".")
		}
	}
	for _, list := range []string{"anyOf", "oneOf", "allOf"} { // its type is said; the call is checked for the rest
		delete(made, list)
	}
	if depth >= deepest {
		delete(made, "properties")
		n.Properties = nil
	}
	if kind == "object" && n.Properties != nil {
		properties := make(map[string]any, len(n.Properties))
		for name, one := range n.Properties {
			properties[name] = portableNode(one, depth+1)
		}
		made["properties"] = properties
	}
	if kind == "array" {
		made["items"] = map[string]any{"type": "string"}
		if depth < deepest && n.Items != nil {
			made["items"] = portableNode(n.Items, depth+1)
		}
	}
	return made
}

// listed writes values one after the other.
func listed(values []any) string {
	words := make([]string, 0, len(values))
	for _, v := range values {
		encoded, err := json.Marshal(v)
		if err != nil {
			encoded = []byte(fmt.Sprint(v))
		}
		words = append(words, string(encoded))
	}
	return strings.Join(words, ", ")
}

// mostChoices bounds the values of an enumeration that are listed for a primitive.
const mostChoices = 5

// brief is an object schema with types, short enumerations and required members, and page, and
// nothing else.
func brief(input json.RawMessage) string {
	var in struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	_ = json.Unmarshal(input, &in) // records are compiled before they get here
	properties := map[string]any{"page": map[string]string{"type": "string"}}
	for name, raw := range in.Properties {
		properties[name] = briefNode(raw)
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if len(in.Required) > 0 {
		schema["required"] = slices.Sorted(slices.Values(in.Required))
	}
	out, err := json.Marshal(schema)
	if err != nil {
		return `{"type":"object"}`
	}
	return string(out)
}

func briefNode(raw json.RawMessage) map[string]any {
	n := readNode(raw)
	made := map[string]any{"type": n.typeOf()}
	if choices := n.texts(); len(choices) > 0 && len(choices) <= mostChoices && made["type"] == "string" {
		made["enum"] = choices
	}
	if made["type"] == "array" {
		made["items"] = map[string]any{"type": readNode(n.Items).typeOf()}
		if made["items"].(map[string]any)["type"] == "array" {
			made["items"] = briefNode(n.Items)
		}
	}
	return made
}
