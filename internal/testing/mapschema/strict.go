package mapschema

import "slices"

// keywordsOf are keywords that say something of values of one type only.
var keywordsOf = map[string][]string{
	"object": {
		"required", "properties", "patternProperties", "additionalProperties", "propertyNames", "minProperties",
		"maxProperties", "dependentRequired",
	},
	"array":  {"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"},
	"string": {"pattern", "minLength", "maxLength"},
	"number": {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"},
}

// apart writes a type of several as one schema for each, with the keywords that are of it.
func apart(s object) {
	types, ok := s["type"].([]any)
	if !ok || len(types) < 2 || len(types) == 2 && slices.Contains(types, any("null")) || s["anyOf"] != nil {
		return
	}
	var all []any
	for _, t := range types {
		one := object{"type": t}
		of := t.(string)
		if of == "integer" {
			of = "number"
		}
		for _, k := range keywordsOf[of] {
			if v, ok := s[k]; ok {
				one[k] = v
			}
		}
		all = append(all, one)
	}
	for _, keywords := range keywordsOf {
		for _, k := range keywords {
			delete(s, k)
		}
	}
	delete(s, "type")
	s["anyOf"] = all
}

// strict says in every schema of a document what validators in a strict mode want to read:
// the type that its keywords are of, and each member that it requires. It allows what was
// allowed before: the types are those of the schema around it, or of the value itself.
func strict(node any, typed []any) {
	s, ok := node.(object)
	if !ok {
		return
	}
	apart(s)
	if t, ok := s["type"]; ok {
		typed, ok = t.([]any)
		if !ok {
			typed = []any{t}
		}
	}
	for _, name := range []string{"object", "array", "string"} {
		keywords := keywordsOf[name]
		if _, own := s["type"]; own || slices.Contains(typed, any(name)) {
			continue
		}
		if slices.ContainsFunc(keywords, func(k string) bool { _, ok := s[k]; return ok }) {
			s["type"] = name
			typed = []any{name}
		}
	}
	if required, ok := s["required"].([]any); ok && s["additionalProperties"] == nil {
		properties, ok := s["properties"].(object)
		if !ok {
			properties = object{}
			s["properties"] = properties
		}
		for _, name := range required {
			if _, ok := properties[name.(string)]; !ok {
				properties[name.(string)] = true
			}
		}
	}
	for _, k := range []string{"dependentSchemas"} {
		members, _ := s[k].(object)
		for _, member := range members {
			strict(member, typed)
		}
	}
	for _, k := range []string{"properties", "patternProperties", "$defs"} {
		members, _ := s[k].(object)
		for _, member := range members {
			strict(member, nil)
		}
	}
	for _, k := range []string{"items", "contains", "additionalProperties", "propertyNames"} {
		strict(s[k], nil)
	}
	// These are about the same value.
	for _, k := range []string{"not", "if", "then", "else"} {
		strict(s[k], typed)
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf"} {
		all, _ := s[k].([]any)
		for _, one := range all {
			strict(one, typed)
		}
	}
}
