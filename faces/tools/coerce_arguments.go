package tools

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Models send null for what they leave out, and numbers and booleans as texts. There is one way to
// mean these, so they are read that way, and the answer says so.

// objectSchema has the keywords of the schema of arguments that are read.
type objectSchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

// decodeArguments are the members of arguments; nil for what is no object.
func decodeArguments(args json.RawMessage) map[string]any {
	var members map[string]any
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	if d.Decode(&members) != nil || d.More() {
		return nil
	}
	return members
}

// coerceMembers converts members whose type is wrong and whose meaning is clear, and returns what it says of those
// that it converted.
func coerceMembers(members map[string]any, schema json.RawMessage) (said []string, changed bool) {
	var of objectSchema
	if json.Unmarshal(schema, &of) != nil {
		return nil, false
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		declared, ok := of.Properties[name]
		if !ok {
			continue
		}
		switch value := members[name].(type) {
		case nil:
			if !slices.Contains(of.Required, name) && !takes(declared, "null") {
				delete(members, name)
				changed = true
			}
		case map[string]any:
			more, inside := coerceMembers(value, declared)
			for _, one := range more {
				said = append(said, name+"."+one)
			}
			changed = changed || inside
		case string:
			if takes(declared, "string") || readNode(declared).Enum != nil {
				continue
			}
			if read := coerceText(strings.TrimSpace(value), declared); read != nil {
				members[name] = read
				changed = true
				said = append(said, fmt.Sprintf("%s was a text and is read as %v", name, read))
			}
		}
	}
	return said, changed
}

// coerceText is a text as the declared number or boolean; nil for what is neither.
func coerceText(text string, declared json.RawMessage) any {
	switch {
	case text == "true" || text == "false":
		if takes(declared, "boolean") {
			return text == "true"
		}
	case takes(declared, "number") || takes(declared, "integer"):
		var n json.Number
		if json.Unmarshal([]byte(text), &n) == nil && text != "" && text[0] != '"' && text != "null" {
			return n
		}
	}
	return nil
}

// takes reports whether a schema names a type. One that names none takes all.
func takes(declared json.RawMessage, kind string) bool {
	switch t := readNode(declared).Type.(type) {
	case string:
		return t == kind
	case []any:
		return slices.Contains(t, any(kind))
	}
	return true
}
