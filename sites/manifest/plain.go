package manifest

import (
	"strconv"
)

// plain reports whether a schema is certain to compile: it uses only everyday
// keywords, each with a value of the right form, and no references and
// patterns. Most schemas of most maps are plain. Checking that takes a
// hundredth of the time of compiling, so a runtime that loads a thousand
// schemas need only compile the few that calls use.
func plain(src []byte, n *node) bool {
	if n.kind == kindBool {
		return true
	}
	if n.kind != kindObject {
		return false
	}
	for i, name := range n.names {
		if !plainKeyword(src, name, n.kids[i]) {
			return false
		}
	}
	return true
}

func plainKeyword(src []byte, name string, v *node) bool {
	switch name {
	case "type":
		return plainType(src, v)
	case "title", "description", "$comment", "format":
		return v.kind == kindString
	case "default", "const":
		return plainData(src, v)
	case "examples", "enum":
		return v.kind == kindArray && plainData(src, v)
	case "deprecated", "readOnly", "writeOnly", "uniqueItems":
		return v.kind == kindBool
	case "properties":
		return each(v, kindObject, func(s *node) bool { return plain(src, s) })
	case "anyOf", "oneOf", "allOf":
		return len(v.kids) > 0 && each(v, kindArray, func(s *node) bool { return plain(src, s) })
	case "additionalProperties", "items", "not", "contains":
		return plain(src, v)
	case "required":
		return plainNames(src, v)
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		i, err := strconv.Atoi(string(src[v.start:v.end]))
		return v.kind == kindNumber && err == nil && i >= 0 && i <= MaxInteger
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return v.kind == kindNumber && plainData(src, v)
	}
	return false
}

func each(v *node, k kind, ok func(*node) bool) bool {
	if v.kind != k {
		return false
	}
	for _, e := range v.kids {
		if !ok(e) {
			return false
		}
	}
	return true
}

func plainType(src []byte, v *node) bool {
	one := func(e *node) bool {
		if e.kind != kindString {
			return false
		}
		switch unquote(src[e.start:e.end]) {
		case "object", "array", "string", "number", "integer", "boolean", "null":
			return true
		}
		return false
	}
	if v.kind == kindString {
		return one(v)
	}
	return len(v.kids) > 0 && plainNames(src, v) && each(v, kindArray, one)
}

// plainNames reports whether v is an array of different strings.
func plainNames(src []byte, v *node) bool {
	seen := make(map[string]bool, len(v.kids))
	return each(v, kindArray, func(e *node) bool {
		if e.kind != kindString {
			return false
		}
		s := unquote(src[e.start:e.end])
		dup := seen[s]
		seen[s] = true
		return !dup
	})
}

// plainData reports whether all numbers of v are short and without an
// exponent, so that every implementation reads them alike.
func plainData(src []byte, v *node) bool {
	if v.kind == kindNumber {
		text := src[v.start:v.end]
		for _, c := range text {
			if c|0x20 == 'e' {
				return false
			}
		}
		return len(text) <= 18
	}
	for _, e := range v.kids {
		if !plainData(src, e) {
			return false
		}
	}
	return true
}
