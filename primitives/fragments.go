package primitives

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
)

// A record says x_fragment where it takes what many records take, such as a
// locator. The fragment fragments/<name>.json is put there when the
// record is read, so that a schema is complete wherever it is shown; references
// would make every check slower. Members beside x_fragment replace those of the
// fragment, except properties, which are added.

const maxFragmentDepth = 8

var fragmentMark = []byte(`"x_fragment"`)

// expand puts the fragments into a schema.
func expand(schema json.RawMessage) (json.RawMessage, error) {
	if !bytes.Contains(schema, fragmentMark) {
		return schema, nil
	}
	var v any
	if err := json.Unmarshal(schema, &v); err != nil {
		return nil, err
	}
	v, err := expandValue(v, 0)
	if err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

func expandValue(v any, depth int) (any, error) {
	if depth > maxFragmentDepth*8 {
		return nil, fmt.Errorf("fragments refer to each other")
	}
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			next, err := expandValue(e, depth+1)
			if err != nil {
				return nil, err
			}
			v[i] = next
		}
	case map[string]any:
		if name, ok := v["x_fragment"].(string); ok {
			text, err := dictionary.ReadFile(fragmentFolder + "/" + name + ".json")
			if err != nil {
				return nil, fmt.Errorf("fragment %s: %w", name, err)
			}
			var base map[string]any
			if err := json.Unmarshal(text, &base); err != nil {
				return nil, fmt.Errorf("fragment %s: %w", name, err)
			}
			inner, err := expandValue(base, depth+1)
			if err != nil {
				return nil, err
			}
			base = inner.(map[string]any)
			own, _ := v["properties"].(map[string]any)
			for k, e := range v {
				if k != "x_fragment" && k != "properties" {
					base[k] = e
				}
			}
			if own != nil {
				expanded, err := expandValue(own, depth+1)
				if err != nil {
					return nil, err
				}
				properties, _ := base["properties"].(map[string]any)
				if properties == nil {
					properties = map[string]any{}
				}
				maps.Copy(properties, expanded.(map[string]any))
				base["properties"] = properties
			}
			return base, nil
		}
		for k, e := range v {
			next, err := expandValue(e, depth+1)
			if err != nil {
				return nil, err
			}
			v[k] = next
		}
	}
	return v, nil
}
