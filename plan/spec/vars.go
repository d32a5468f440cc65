package spec

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/internal/lazyregexp"
	"github.com/outrider-run/outrider/primitives/fault"
)

var (
	word      = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	reference = lazyregexp.New(`\$?\$\{(vars|env|row)\.[^}]*\}`)
	anyBraces = lazyregexp.New(`\$?\$\{[^}]*\}`)
)

// roots are the names that a reference begins with.
var roots = []string{"vars", "env", "row"}

// misspelt are names that look like one of them.
var misspelt = map[string]string{
	"var":         "${vars.NAME}",
	"rows":        "${row.COLUMN}",
	"data":        "${row.COLUMN}",
	"secret":      "{{secret:NAME}}",
	"secrets":     "{{secret:NAME}}",
	"environment": "${env.NAME}",
}

// Scope is what references stand for.
type Scope struct {
	Vars  map[string]any
	Row   map[string]any
	Items map[string]any // of for_each, by their names
	Env   func(name string) (string, bool)
}

// Expand replaces the references in a value. A text that is one reference becomes the
// value itself, of whatever type it is.
func (s *Scope) Expand(v any) (any, error) {
	var err error
	switch v := v.(type) {
	case string:
		if m := anyBraces().FindString(v); m != "" && m == v && !strings.HasPrefix(v, "$$") {
			if value, ours, err := s.lookup(v[2 : len(v)-1]); ours {
				return value, err
			}
		}
		return s.Text(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i], err = s.Expand(v[i])
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	case map[string]any:
		out := make(map[string]any, len(v))
		for k := range v {
			out[k], err = s.Expand(v[k])
			if err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

// Text replaces the references in a text. ${ of another name stays, and $${ stands for
// ${.
func (s *Scope) Text(text string) (string, error) {
	var failed error
	out := anyBraces().ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasPrefix(found, "$$") {
			return found[1:]
		}
		v, ours, err := s.lookup(found[2 : len(found)-1])
		if !ours {
			return found
		}
		if err != nil && failed == nil {
			failed = err
		}
		switch v := v.(type) {
		case string:
			return v
		case json.Number:
			return v.String()
		case nil:
			return ""
		case unknown:
			return unknownText
		}
		b, err := json.Marshal(v)
		if err != nil {
			return ""
		}
		return string(b)
	})
	return out, failed
}

// lookup is the value of vars.a.b; ours is false when that is no reference.
func (s *Scope) lookup(path string) (v any, ours bool, err error) {
	parts := strings.Split(path, ".")
	root := parts[0]
	if right, ok := misspelt[root]; ok && len(parts) > 1 {
		return nil, true, fmt.Errorf("${%s} is not known: did you mean %s?", path, right)
	}
	if item, ok := s.Items[root]; ok {
		v, err := member(item, parts[1:], path)
		return v, true, err
	}
	if len(parts) < 2 || !slices.Contains(roots, root) {
		return nil, false, nil
	}
	if root == "env" {
		name := strings.Join(parts[1:], ".")
		look := s.Env
		if look == nil {
			look = os.LookupEnv
		}
		value, ok := look(name)
		if !ok {
			return nil, true, fmt.Errorf("the environment has no variable %s", name)
		}
		return value, true, nil
	}
	values, kind := s.Vars, "variable"
	if root == "row" {
		values, kind = s.Row, "column"
	}
	first, ok := values[parts[1]]
	if !ok {
		return nil, true, noName(kind, parts[1], slices.Sorted(maps.Keys(values)))
	}
	v, err = member(first, parts[2:], path)
	return v, true, err
}

func noName(kind, name string, names []string) error {
	text := fmt.Sprintf("there is no %s %s", kind, name)
	if near := fault.Near(name, names); len(near) > 0 {
		text += ": did you mean " + near[0] + "?"
	} else if len(names) > 0 {
		text += ": there are " + strings.Join(names[:min(len(names), 10)], ", ")
	}
	return fmt.Errorf("%s", text)
}

func member(v any, path []string, whole string) (any, error) {
	for _, name := range path {
		switch at := v.(type) {
		case map[string]any:
			next, ok := at[name]
			if !ok {
				return nil, fmt.Errorf("${%s}: there is no member %s", whole, name)
			}
			v = next
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(at) {
				return nil, fmt.Errorf("${%s}: the list has no element %s", whole, name)
			}
			v = at[i]
		case unknown:
			return at, nil
		default:
			return nil, fmt.Errorf("${%s}: %s is no object", whole, name)
		}
	}
	return v, nil
}

// unknown is a value that a step will give.
type unknown struct{}

// unknownText stands for it in a text.
const unknownText = "…"

// MarshalJSON implements json.Marshaler.
func (unknown) MarshalJSON() ([]byte, error) { return []byte(`"` + unknownText + `"`), nil }

// ReadVars reads a file of variables, "" for none, and NAME=VALUE pairs, which come
// before it.
func ReadVars(path string, pairs []string) (map[string]any, error) {
	out := map[string]any{}
	if path != "" {
		doc, places, err := readDocument(path)
		if err != nil {
			return nil, err
		}
		vars, ok := doc.(map[string]any)
		if !ok {
			return nil, Problems{{places.at(""), "expected an object of variables"}}
		}
		kept(vars)
		out = vars
	}
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("the variable %q has no value: expected NAME=VALUE", fault.Clip(pair, 80))
		}
		out[name] = value
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if !word().MatchString(name) {
			return nil, fmt.Errorf("%q is no name of a variable: expected letters, digits and _", name)
		}
	}
	return out, nil
}

// SecretNames are the names in NAME=REFERENCE pairs.
func SecretNames(assignments []string) ([]string, error) {
	var out []string
	for _, a := range assignments {
		name, _, ok := strings.Cut(a, "=")
		if !ok {
			return nil, fmt.Errorf(
				"a secret has no reference: expected NAME=env:VARIABLE, NAME=file:PATH or NAME=cmd:PROGRAM ARGUMENTS",
			)
		}
		out = append(out, name)
	}
	return out, nil
}
