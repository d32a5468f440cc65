package projection

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/outrider-run/outrider/primitives/schema"
)

// subsetProblems checks a state as the Chrome extension does: see
// quirks.SubsetSchema. It knows type, required, properties and items; a number
// is a number, so that integer matches nothing.
func subsetProblems(declared, state json.RawMessage) []schema.Problem {
	var s, v any
	if json.Unmarshal(declared, &s) != nil || json.Unmarshal(state, &v) != nil {
		return nil
	}
	var out []schema.Problem
	var check func(s, v any, at string)
	check = func(s, v any, at string) {
		rules, ok := s.(map[string]any)
		if !ok {
			return
		}
		if want, ok := rules["type"]; ok {
			kinds, isList := want.([]any)
			if !isList {
				kinds = []any{want}
			}
			if !slices.Contains(kinds, any(kindOf(v))) {
				out = append(out, schema.Problem{Path: at, Keyword: "type", Message: "is of another type"})
				return
			}
		}
		switch v := v.(type) {
		case map[string]any:
			required, _ := rules["required"].([]any)
			for _, name := range required {
				if n, ok := name.(string); ok {
					if _, there := v[n]; !there {
						out = append(out, schema.Problem{
							Path:    at + "/" + n,
							Keyword: "required",
							Message: "is missing",
						})
					}
				}
			}
			properties, _ := rules["properties"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(properties)) {
				if value, there := v[name]; there {
					check(properties[name], value, at+"/"+name)
				}
			}
		case []any:
			for i, e := range v {
				check(rules["items"], e, at+"/"+strconv.Itoa(i))
			}
		}
	}
	check(s, v, "")
	return out
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		return "number"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return ""
}
