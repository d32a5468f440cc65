package spec

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/outrider-run/outrider/primitives/fault"
)

// elsewhere are words that other tools and formats have for members of a plan.
var elsewhere = map[string]string{
	"with":         "args",
	"arguments":    "args",
	"params":       "args",
	"parameters":   "args",
	"input":        "args",
	"inputs":       "args",
	"primitive":    "call",
	"uses":         "call",
	"tool":         "action",
	"goto":         "open",
	"visit":        "open",
	"navigate":     "open",
	"url":          "open",
	"assert":       "expect",
	"env":          "vars",
	"variables":    "vars",
	"storageState": "storage_state",
	"foreach":      "for_each",
	"before":       "setup",
	"after":        "teardown",
	"mock":         "route",
	"routes":       "route",
	"save":         "capture",
	"id":           "name",
}

// suggestedMember is the member that was likely meant by one that is not declared, "" where none is close.
func suggestedMember(path string) string {
	i := strings.LastIndexByte(path, '/')
	members := declared(path[:i])
	name := unescapePointer(path[i+1:])
	if other := elsewhere[name]; slices.Contains(members, other) {
		return other
	}
	return fault.Nearest(name, members)
}

var schemaDocument = sync.OnceValue(func() (doc map[string]any) {
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		panic(err) // it is made from types of ours
	}
	return doc
})

// declared are the members that the schema has for the object at a place of a plan.
func declared(path string) []string {
	at := []map[string]any{schemaDocument()}
	for _, token := range strings.Split(path, "/")[1:] {
		var next []map[string]any
		for _, s := range alternatives(at) {
			if p, ok := s["properties"].(map[string]any); ok {
				next = appendSchema(next, p[unescapePointer(token)])
			}
			next = appendSchema(next, s["additionalProperties"])
			next = appendSchema(next, s["items"])
		}
		at = next
	}
	names := map[string]bool{}
	for _, s := range alternatives(at) {
		p, _ := s["properties"].(map[string]any)
		for name := range p {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// alternatives are schemas with what they refer to.
func alternatives(list []map[string]any) []map[string]any {
	for i := 0; i < len(list); i++ {
		if ref, ok := list[i]["$ref"].(string); ok {
			defs, _ := schemaDocument()["$defs"].(map[string]any)
			list = appendSchema(list, defs[strings.TrimPrefix(ref, "#/$defs/")])
		}
		for _, word := range []string{"anyOf", "oneOf"} {
			some, _ := list[i][word].([]any)
			for _, each := range some {
				list = appendSchema(list, each)
			}
		}
	}
	return list
}

func appendSchema(list []map[string]any, v any) []map[string]any {
	if s, ok := v.(map[string]any); ok {
		list = append(list, s)
	}
	return list
}
