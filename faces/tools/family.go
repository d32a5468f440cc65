package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime"
)

// families groups the dictionary by the first part of the names.
func families(entries []runtime.DictionaryEntry) map[string][]runtime.DictionaryEntry {
	out := map[string][]runtime.DictionaryEntry{}
	for _, e := range entries {
		family, _, _ := strings.Cut(e.Name, ".")
		out[family] = append(out[family], e)
	}
	return out
}

// familyTool offers all primitives whose names begin alike as one tool. A tool
// for each would cost a model three times as much; what is lost is the types of
// the arguments, which outrider://primitives/NAME has, and which the runtime
// checks, saying which member is wrong.
func (s *Set) familyTool(family string, entries []runtime.DictionaryEntry) Tool {
	reads := true
	names, signatures := []string{}, []string{}
	acts, schemas := map[string]bool{}, map[string]json.RawMessage{}
	for _, e := range entries {
		if e.Acts {
			reads, acts[e.Name] = false, true
		}
		short := strings.TrimPrefix(e.Name, family+".")
		names = append(names, short)
		schemas[short] = e.InputSchema
		signatures = append(signatures, short+"("+signature(e.InputSchema)+")")
	}
	allowed, _ := json.Marshal(names)
	input := `{"type":"object","required":["name"],"properties":{"name":{"type":"string","enum":` + string(allowed) +
		`},` +
		`"arguments":{"type":"object"},"page":{"type":"string"}}}`
	return newTool("primitives."+family, "", strings.Join(signatures, " "), input, `{"type":"object"}`, reads,
		func(ctx context.Context, c *Call) (*Answer, *fault.Error) {
			var in struct {
				where
				Name string `json:"name"`
			}
			if err := c.Decode(&in); err != nil {
				return nil, err
			}
			args, _ := c.members["arguments"].(map[string]any) // an object or absent, as the schema wants it
			said, _ := coerceMembers(args, schemas[in.Name])
			c.Said = append(c.Said, said...)
			if args == nil {
				args = map[string]any{}
			}
			ctx, cancel := in.bounded(ctx) // timeout_ms beside the name is the time of the call
			defer cancel()
			// absent, or of a type that the runtime refuses
			in.TimeoutMS = cmp.Or(wholeNumber(args["timeout_ms"]), in.TimeoutMS)
			name := family + "." + in.Name
			return c.place(name)(ctx, in.where, func(p page) (*Answer, *fault.Error) {
				return c.primitive(ctx, p, name, args, in.where, acts[name])
			})
		})
}

// signature lists the arguments of a primitive, the optional ones marked.
func signature(input json.RawMessage) string {
	var in struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	_ = json.Unmarshal(input, &in) // records are compiled before they get here
	var required, optional []string
	for name := range in.Properties {
		if slices.Contains(in.Required, name) {
			required = append(required, name)
		} else if name != "tab_id" { // pages are named by page
			optional = append(optional, name+"?")
		}
	}
	slices.Sort(required)
	slices.Sort(optional)
	return strings.Join(append(required, optional...), ",")
}
