package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Problem is one thing that is wrong with an instance.
type Problem struct {
	// Path is the JSON pointer of the value, "" for the whole instance. A
	// missing member is reported at its own path.
	Path string `json:"path"`
	// Keyword is the schema keyword that was broken; json, limit and schema
	// stand for what no keyword says.
	Keyword string `json:"keyword"`
	// Message says what was expected. It quotes the schema and member names,
	// never a value of the instance.
	Message string `json:"message"`
	// Expected is the schema's side: the type or types, the allowed
	// values, the bound, for a member that is not declared the names of those
	// that are. It is nil where that says nothing.
	Expected any `json:"expected,omitempty"`
}

func (p Problem) String() string {
	path := p.Path
	if path == "" {
		path = "(root)"
	}
	return path + " " + p.Message
}

// Advice is for a message to follow on String: of a member that is not declared it
// names the one that was likely meant, or those that there are. It is empty otherwise.
func (p Problem) Advice() string {
	const shown = 30
	names, ok := p.Expected.([]string)
	if !ok || p.Keyword != "additionalProperties" {
		return ""
	}
	if near := fault.Nearest(unescape.Replace(p.Path[strings.LastIndexByte(p.Path, '/')+1:]), names); near != "" {
		return "; did you mean " + strconv.Quote(near) + "?"
	}
	if len(names) > shown {
		return ""
	}
	return "; the members are " + strings.Join(names, ", ")
}

// declared are the members that a schema lists for the object which holds the value
// at a pointer, in order; none where the way there leads through alternatives.
func declared(s *jsonschema.Schema, pointer string) []string {
	const most = 200 // references may go round in a circle
	tokens := strings.Split(pointer, "/")[1:]
	for i, n := 0, 0; s != nil && n < most; n++ {
		if s.Ref != nil && len(s.Properties) == 0 {
			s = s.Ref
			continue
		}
		if i == len(tokens)-1 {
			return slices.Sorted(maps.Keys(s.Properties))
		}
		next := s.Properties[unescape.Replace(tokens[i])]
		if next == nil {
			next = s.Items2020
		}
		s, i = next, i+1
	}
	return nil
}

// Missing returns the names of required members that problems report at the
// root of the instance, in order.
func Missing(problems []Problem) []string {
	var names []string
	for _, p := range problems {
		if p.Keyword == "required" && strings.Count(p.Path, "/") == 1 {
			names = append(names, unescape.Replace(p.Path[1:]))
		}
	}
	return names
}

func collect(root *jsonschema.ValidationError) []Problem {
	out := flatten(root)
	// The library walks objects in map order.
	slices.SortStableFunc(out, func(a, b Problem) int {
		if c := strings.Compare(a.Path, b.Path); c != 0 {
			return c
		}
		return strings.Compare(a.Keyword, b.Keyword)
	})
	out = slices.CompactFunc(out, func(a, b Problem) bool {
		return a.Path == b.Path && a.Keyword == b.Keyword && a.Message == b.Message
	})
	if len(out) > MaxProblems {
		out = out[:MaxProblems]
	}
	return out
}

// flatten turns the tree of e into problems. Of alternatives it reports the
// group and, when one alternative came further than its first check of the
// value, the problems of that one: those are what the author meant.
func flatten(e *jsonschema.ValidationError) []Problem {
	at := pointer(e.InstanceLocation)
	switch k := e.ErrorKind.(type) {
	case *kind.AnyOf:
		return alternatives(e, at, "anyOf", "matches none of the alternatives")
	case *kind.OneOf:
		if len(k.Subschemas) > 0 {
			return []Problem{{Path: at, Keyword: "oneOf", Message: "matches more than one of the alternatives"}}
		}
		return alternatives(e, at, "oneOf", "matches none of the alternatives")
	case *kind.Required:
		return each(k.Missing, func(name string) Problem {
			return Problem{Path: at + "/" + escapeToken(name), Keyword: "required", Message: "is required"}
		})
	case *kind.AdditionalProperties:
		names := slices.Sorted(slices.Values(k.Properties))
		return each(names, func(name string) Problem {
			return Problem{
				Path:    at + "/" + escapeToken(name),
				Keyword: "additionalProperties",
				Message: "is not a declared member",
			}
		})
	case *kind.DependentRequired:
		return each(k.Missing, func(name string) Problem {
			return Problem{
				Path:    at + "/" + escapeToken(name),
				Keyword: "dependentRequired",
				Message: "is required beside " + strconv.Quote(clip(k.Prop)),
			}
		})
	case *kind.Dependency:
		return each(k.Missing, func(name string) Problem {
			return Problem{
				Path:    at + "/" + escapeToken(name),
				Keyword: "dependencies",
				Message: "is required beside " + strconv.Quote(clip(k.Prop)),
			}
		})
	case *kind.PropertyNames:
		return []Problem{{
			Path:    at + "/" + escapeToken(k.Property),
			Keyword: "propertyNames",
			Message: "has a name that is not allowed",
		}}
	}
	if len(e.Causes) > 0 {
		var out []Problem
		for _, c := range e.Causes {
			out = append(out, flatten(c)...)
		}
		return out
	}
	return []Problem{leaf(e, at)}
}

func alternatives(e *jsonschema.ValidationError, at, keyword, message string) []Problem {
	out := []Problem{{Path: at, Keyword: keyword, Message: message}}
	var best []Problem
	for _, c := range e.Causes {
		branch := flatten(c)
		rejected := slices.ContainsFunc(branch, func(p Problem) bool {
			return p.Path == at && (p.Keyword == "type" || p.Keyword == "const" || p.Keyword == "enum")
		})
		if !rejected && (best == nil || len(branch) < len(best)) {
			best = branch
		}
	}
	if best == nil {
		// Every alternative wants another type: say which types would do.
		var types []string
		for _, c := range e.Causes {
			for _, p := range flatten(c) {
				t, ok := p.Expected.(string)
				if ok && p.Path == at && p.Keyword == "type" && !slices.Contains(types, t) {
					types = append(types, t)
				}
			}
		}
		if len(types) > 0 {
			out[0].Expected = types
		}
	}
	return append(out, best...)
}

func leaf(e *jsonschema.ValidationError, at string) Problem {
	p := Problem{Path: at}
	switch k := e.ErrorKind.(type) {
	case *kind.Type:
		p.Keyword, p.Message = "type", "must be "+strings.Join(k.Want, " or ")
		p.Expected = k.Want
		if len(k.Want) == 1 {
			p.Expected = k.Want[0]
		}
	case *kind.Enum:
		p.Keyword = "enum"
		p.Message = "must be one of " + allowed(k.Want) + nearestValue(k.Got, k.Want)
		p.Expected = k.Want
	case *kind.Const:
		p.Keyword = "const"
		p.Message = "must be the one allowed value"
		p.Expected = k.Want
	case *kind.Minimum:
		p.Keyword, p.Message, p.Expected = bound("minimum", "must be at least %s", k.Want)
	case *kind.Maximum:
		p.Keyword, p.Message, p.Expected = bound("maximum", "must be at most %s", k.Want)
	case *kind.ExclusiveMinimum:
		p.Keyword, p.Message, p.Expected = bound("exclusiveMinimum", "must be more than %s", k.Want)
	case *kind.ExclusiveMaximum:
		p.Keyword, p.Message, p.Expected = bound("exclusiveMaximum", "must be less than %s", k.Want)
	case *kind.MultipleOf:
		p.Keyword, p.Message, p.Expected = bound("multipleOf", "must be a multiple of %s", k.Want)
	case *kind.MinLength:
		p.Keyword, p.Message, p.Expected = count("minLength", "must have at least %d characters", k.Want)
	case *kind.MaxLength:
		p.Keyword, p.Message, p.Expected = count("maxLength", "must have at most %d characters", k.Want)
	case *kind.MinItems:
		p.Keyword, p.Message, p.Expected = count("minItems", "must have at least %d items", k.Want)
	case *kind.MaxItems:
		p.Keyword, p.Message, p.Expected = count("maxItems", "must have at most %d items", k.Want)
	case *kind.AdditionalItems:
		p.Keyword, p.Message = "items", "has more items than are declared"
	case *kind.MinProperties:
		p.Keyword, p.Message, p.Expected = count("minProperties", "must have at least %d members", k.Want)
	case *kind.MaxProperties:
		p.Keyword, p.Message, p.Expected = count("maxProperties", "must have at most %d members", k.Want)
	case *kind.Pattern:
		p.Keyword = "pattern"
		p.Message = "must match the pattern"
		p.Expected = clip(k.Want)
	case *kind.Format:
		p.Keyword = "format"
		p.Message = "must have the format " + clip(k.Want)
		p.Expected = clip(k.Want)
		if k.Want == "regex" {
			p.Message = wrongPattern(k.Err)
		}
	case *kind.UniqueItems:
		p.Keyword, p.Message = "uniqueItems", fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains, *kind.MinContains:
		p.Keyword, p.Message = "contains", "has too few of the items that are required"
	case *kind.MaxContains:
		p.Keyword, p.Message = "maxContains", "has too many of the items that are limited"
	case *kind.Not:
		p.Keyword, p.Message = "not", "must not match what the schema excludes"
	case *kind.FalseSchema:
		p.Keyword, p.Message = "false", "is not allowed here"
	case *kind.RefCycle:
		p.Keyword, p.Message = "$ref", "the schema refers to itself without end"
	default:
		p.Keyword = "schema"
		if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
			p.Keyword = path[0]
		}
		p.Message = "does not match " + p.Keyword
	}
	return p
}

func bound(keyword, format string, want *big.Rat) (string, string, any) {
	f, _ := want.Float64()
	return keyword, fmt.Sprintf(format, strconv.FormatFloat(f, 'g', -1, 64)), f
}

func count(keyword, format string, want int) (string, string, any) {
	return keyword, fmt.Sprintf(format, want), want
}

func each(names []string, f func(string) Problem) []Problem {
	out := make([]Problem, len(names))
	for i, n := range names {
		out[i] = f(n)
	}
	return out
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

func escapeToken(s string) string { return escape.Replace(clip(s)) }

// clip bounds a member name or a piece of the schema.
func clip(s string) string {
	const limit = 128
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "..."
}

func pointer(tokens []string) string {
	var b strings.Builder
	for _, t := range tokens {
		b.WriteByte('/')
		b.WriteString(escapeToken(t))
	}
	return b.String()
}

// nearestValue returns the allowed text that is closest to the given one, "" where none is close. The
// given text is not repeated: it may be a secret in the wrong place.
func nearestValue(got any, values []any) string {
	given, ok := got.(string)
	if !ok || given == "" || len(given) > 64 {
		return ""
	}
	best, least := "", len(given)/2+1
	for _, v := range values {
		text, ok := v.(string)
		if !ok || len(text) > 64 {
			continue
		}
		if d := distance(strings.ToLower(given), strings.ToLower(text)); d < least {
			best, least = text, d
		}
	}
	if best == "" {
		return ""
	}
	return "; the nearest is " + strconv.Quote(best)
}

// distance is how many bytes have to be put in, taken out or changed to get from a to b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}

// maxAllowed bounds the values of an enumeration that a message names.
const maxAllowed = 16

// allowed lists the values of an enumeration.
func allowed(values []any) string {
	var out []string
	for _, v := range values[:min(len(values), maxAllowed)] {
		b, err := json.Marshal(v)
		if err != nil {
			continue
		}
		out = append(out, string(b))
	}
	if len(values) > maxAllowed {
		out = append(out, "…")
	}
	return strings.Join(out, ", ")
}
