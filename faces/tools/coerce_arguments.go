package tools

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Models send null for what they leave out, and numbers and booleans as texts. There is one way to
// mean these, so they are read that way, and the answer says so.

// objectSchema is what is read of the schema of arguments.
type objectSchema struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
}

// coerceArguments converts arguments whose type is wrong and whose meaning is clear, and returns which it
// converted.
func coerceArguments(args, schema json.RawMessage) (json.RawMessage, []string) {
	var of objectSchema
	var members map[string]json.RawMessage
	if json.Unmarshal(schema, &of) != nil || json.Unmarshal(args, &members) != nil {
		return args, nil
	}
	var said []string
	changed := false
	for _, name := range slices.Sorted(maps.Keys(members)) {
		declared, ok := of.Properties[name]
		value := members[name]
		if !ok {
			continue
		}
		if string(value) == "null" {
			if !slices.Contains(of.Required, name) && !takes(declared, "null") {
				delete(members, name)
				changed = true
			}
			continue
		}
		if value[0] == '{' {
			inner, more := coerceArguments(value, declared)
			for _, one := range more {
				said = append(said, name+"."+one)
			}
			members[name], changed = inner, changed || string(inner) != string(value)
			continue
		}
		var text string
		if value[0] != '"' || json.Unmarshal(value, &text) != nil || takes(declared, "string") ||
			readNode(declared).Enum != nil {
			continue
		}
		if read, ok := coerceText(strings.TrimSpace(text), declared); ok {
			members[name], changed = read, true
			said = append(said, fmt.Sprintf("%s was a text and is read as %s", name, read))
		}
	}
	if !changed {
		return args, nil
	}
	encoded, err := json.Marshal(members)
	if err != nil {
		return args, nil
	}
	return encoded, said
}

// coerceText converts a text to the declared number or boolean.
func coerceText(text string, declared json.RawMessage) (json.RawMessage, bool) {
	switch {
	case text == "true" || text == "false":
		return json.RawMessage(text), takes(declared, "boolean")
	case takes(declared, "number") || takes(declared, "integer"):
		var n json.Number
		err := json.Unmarshal([]byte(text), &n)
		return json.RawMessage(text), err == nil && text != "" && text[0] != '"' && text != "null"
	}
	return nil, false
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
