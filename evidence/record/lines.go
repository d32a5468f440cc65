package record

import (
	"encoding/json"
	"strings"
)

// Lines are the texts of a snapshot, one for each node with text, in order.
func Lines(snapshot []byte) []string {
	var root any
	if json.Unmarshal(snapshot, &root) != nil {
		return nil
	}
	var out []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			if text := strings.Join(strings.Fields(v), " "); text != "" {
				out = append(out, text)
			}
		case []any:
			if len(v) < 2 || v[0] == "STYLE" {
				return
			}
			if attributes, ok := v[1].(map[string]any); ok {
				if value, ok := attributes["__playwright_value_"].(string); ok && value != "" {
					out = append(out, "["+value+"]")
				}
			}
			for _, child := range v[2:] {
				walk(child)
			}
		}
	}
	walk(root)
	return out
}
