// Package arguments reads, normalises, coerces and checks the arguments of calls, and has the types of arguments
// that several primitives share. It knows schemas and no primitive. Package primitives calls it for every call,
// and handlers use its types.
package arguments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
)

// routing are argument names that address a call and are no part of it.
var routing = []string{"policy_exception_report", "target_runtime_id", "target_url_contains"}

// DropRouting takes routing members out of the arguments v, except those that
// are declared, and reports whether there were any.
func (f *Declared) DropRouting(v any) bool {
	m, ok := v.(map[string]any)
	dropped := false
	for _, name := range routing {
		if _, there := m[name]; ok && there && f.members[name] == nil {
			delete(m, name)
			dropped = true
		}
	}
	return dropped
}

// Declared is the tree of declared member names of an input schema.
type Declared struct {
	members map[string]*Declared
	alias   map[string]string // alias -> declared name
	items   *Declared
}

// DeclaredBy reads the names that a schema declares. Besides the camelCase
// form of each name, a property may list further ones under x_aliases.
func DeclaredBy(raw json.RawMessage) (*Declared, error) {
	type node struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Items      json.RawMessage            `json:"items"`
		OneOf      []json.RawMessage          `json:"oneOf"`
		AnyOf      []json.RawMessage          `json:"anyOf"`
		Aliases    []string                   `json:"x_aliases"`
	}
	f := &Declared{members: map[string]*Declared{}, alias: map[string]string{}}
	var read func(raw json.RawMessage, into *Declared) ([]string, error)
	read = func(raw json.RawMessage, into *Declared) ([]string, error) {
		raw = bytes.TrimSpace(raw)
		if len(raw) == 0 || raw[0] != '{' {
			return nil, nil
		}
		var n node
		if err := json.Unmarshal(raw, &n); err != nil {
			return nil, err
		}
		for name, sub := range n.Properties {
			child := into.members[name]
			if child == nil {
				child = &Declared{members: map[string]*Declared{}, alias: map[string]string{}}
				into.members[name] = child
			}
			if recursive(sub) {
				child = into
				into.members[name] = into
			}
			aliases, err := read(sub, child)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			for _, a := range append(aliases, camel(name)) {
				if a != name {
					into.alias[a] = name
				}
			}
		}
		for _, alt := range append(n.OneOf, n.AnyOf...) {
			if _, err := read(alt, into); err != nil {
				return nil, err
			}
		}
		if len(n.Items) > 0 {
			if into.items == nil {
				into.items = &Declared{members: map[string]*Declared{}, alias: map[string]string{}}
			}
			if _, err := read(n.Items, into.items); err != nil {
				return nil, err
			}
		}
		return n.Aliases, nil
	}
	_, err := read(raw, f)
	return f, err
}

// recursive reports whether a schema marks a member as one of the form of the
// object it is in: a locator searches within a locator.
func recursive(raw json.RawMessage) bool {
	var n struct {
		Recursive bool `json:"x_recursive"`
	}
	return json.Unmarshal(raw, &n) == nil && n.Recursive
}

func camel(name string) string {
	parts := strings.Split(name, "_")
	for i, p := range parts[1:] {
		if r := []rune(p); len(r) > 0 {
			r[0] = unicode.ToUpper(r[0])
			parts[i+1] = string(r)
		}
	}
	return strings.Join(parts, "")
}

// at returns the fields of the value at a JSON pointer, nil when the schema
// declares none.
func (f *Declared) at(pointer string) *Declared {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch {
		case pointer == "" || f == nil:
			return f
		case f.members[unescapeToken.Replace(token)] != nil:
			f = f.members[unescapeToken.Replace(token)]
		default:
			f = f.items // nil for a member that is not declared
		}
	}
	return f
}

var unescapeToken = strings.NewReplacer("~1", "/", "~0", "~")

// Nearest returns the declared name that was likely meant by the member that p
// is about, "" where p is no such problem or none is close.
func (f *Declared) Nearest(p schema.Problem) string {
	parent, name := split(p.Path)
	f = f.at(parent)
	if f == nil || p.Keyword != "additionalProperties" {
		return ""
	}
	return fault.Nearest(name, slices.Sorted(maps.Keys(f.members)))
}

// Normalise renames aliases to declared names and writes whole numbers as
// integers: an expression that gives 3.0 means 3. It changes v in place and
// reports whether it changed anything.
func (f *Declared) Normalise(v any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		changed := false
		for name, value := range v {
			declared := name
			if f.members[name] == nil {
				if target, ok := f.alias[name]; ok {
					if _, taken := v[target]; !taken {
						delete(v, name)
						v[target] = value
						declared = target
						changed = true
					}
				}
			}
			if child := f.members[declared]; child != nil {
				if next, ok := child.Normalise(value); ok {
					v[declared], changed = next, true
				}
			}
		}
		return v, changed
	case []any:
		changed := false
		if f.items != nil {
			for i, e := range v {
				if next, ok := f.items.Normalise(e); ok {
					v[i], changed = next, true
				}
			}
		}
		return v, changed
	case json.Number:
		return wholeNumber(v)
	}
	return v, false
}

func wholeNumber(n json.Number) (any, bool) {
	if !strings.ContainsAny(string(n), ".eE") {
		return n, false
	}
	f, err := n.Float64()
	if err != nil || f > 1<<53 || f < -(1<<53) || f != float64(int64(f)) {
		return n, false
	}
	return json.Number(strconv.FormatInt(int64(f), 10)), true
}

// Declares returns the declared name that a written one stands for, itself or by
// an alias.
func (f *Declared) Declares(name string) (declared string, ok bool) {
	if f.members[name] != nil {
		return name, true
	}
	declared, ok = f.alias[name]
	return declared, ok
}

// EscapePointer writes a member's name as a token of a JSON pointer.
func EscapePointer(name string) string { return escapeToken.Replace(name) }
