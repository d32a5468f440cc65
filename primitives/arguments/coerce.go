package arguments

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Coerce makes arguments what their schema asks for. What cannot be
// made so stays, for the check that follows.
func Coerce(input json.RawMessage, f *Declared, args json.RawMessage) json.RawMessage {
	var s argumentSchema
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() || json.Unmarshal(input, &s) != nil {
		return args
	}
	v, _ = f.Normalise(v)
	f.DropRouting(v)
	v, _ = s.coerce(v, &s)
	b, err := json.Marshal(v)
	if err != nil {
		return args
	}
	return b
}

// Only leaves out the arguments whose names may not be read. Arguments that are
// no object stay, for the check that follows.
func Only(args json.RawMessage, may func(name string) bool) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil {
		return args
	}
	given := len(members)
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return !may(name) })
	if len(members) == given {
		return args
	}
	b, err := json.Marshal(members)
	if err != nil {
		return args
	}
	return b
}

// argumentSchema has the keywords of an input schema that coercing reads.
type argumentSchema struct {
	Type       typeNames                  `json:"type"`
	Enum       []any                      `json:"enum"`
	Minimum    *float64                   `json:"minimum"`
	Maximum    *float64                   `json:"maximum"`
	Properties map[string]*argumentSchema `json:"properties"`
	More       json.RawMessage            `json:"additionalProperties"`
	Required   []string                   `json:"required"`
	Items      *argumentSchema            `json:"items"`
	OneOf      []*argumentSchema          `json:"oneOf"`
	AnyOf      []*argumentSchema          `json:"anyOf"`
	Recursive  bool                       `json:"x_recursive"`
	// Upstream is "any" where the extension takes every value of the type as it is,
	// and "exact" where it refuses what it does not know instead of mending it.
	Upstream string `json:"x_upstream"`
}

type typeNames []string

func (t *typeNames) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '[' {
		return json.Unmarshal(b, (*[]string)(t))
	}
	var one string
	err := json.Unmarshal(b, &one)
	*t = typeNames{one}
	return err
}

// takes reports whether a value of this type may stand here.
func (s *argumentSchema) takes(kind string) bool {
	if len(s.Type) == 0 {
		for _, alt := range append(s.OneOf, s.AnyOf...) {
			if alt.takes(kind) {
				return true
			}
		}
		return len(s.OneOf)+len(s.AnyOf) == 0
	}
	return slices.Contains(s.Type, kind) || kind == "number" && slices.Contains(s.Type, "integer")
}

// coerce returns v as s wants it; keep is false when it is to be left out.
// within is the object that a recursive member stands for.
func (s *argumentSchema) coerce(v any, within *argumentSchema) (_ any, keep bool) {
	if s.Recursive {
		return within.coerce(v, within)
	}
	if s.Upstream != "" {
		return v, true
	}
	kind := kindOf(v)
	if len(s.Type) == 0 {
		for _, alt := range append(s.OneOf, s.AnyOf...) {
			if len(alt.Type) > 0 && alt.takes(kind) {
				return alt.coerce(v, within)
			}
		}
	}
	if !s.takes(kind) {
		v, kind = s.converted(v, kind)
		if v == nil {
			return nil, false
		}
	}
	switch x := v.(type) {
	case map[string]any:
		for name, value := range x {
			sub := s.Properties[name]
			if sub == nil {
				if string(s.More) == "false" {
					delete(x, name)
				}
				continue
			}
			next, keep := sub.coerce(value, s)
			if !keep && !slices.Contains(s.Required, name) {
				delete(x, name)
			} else if keep {
				x[name] = next
			}
		}
		for _, name := range s.Required {
			if sub := s.Properties[name]; x[name] == nil && sub != nil && slices.Equal(sub.Type, typeNames{"array"}) {
				x[name] = []any{}
			}
		}
	case []any:
		if s.Items != nil {
			for i, e := range x {
				if next, keep := s.Items.coerce(e, within); keep {
					x[i] = next
				}
			}
		}
	case json.Number:
		v = s.bounded(x)
	}
	return v, len(s.Enum) == 0 || slices.ContainsFunc(s.Enum, func(e any) bool { return e == v || kind == "number" })
}

// converted is v as the first type of s that it can be made to, as JavaScript's
// Number and String make it; nil for none.
func (s *argumentSchema) converted(v any, kind string) (any, string) {
	text, isText := v.(string)
	flag, isFlag := v.(bool)
	number, isNumber := v.(json.Number)
	for _, want := range s.Type {
		switch {
		case (want == "number" || want == "integer") && isText:
			f, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
				return json.Number(numberText(f)), "number"
			}
			if strings.TrimSpace(text) == "" {
				return json.Number("0"), "number"
			}
		case (want == "number" || want == "integer") && isFlag:
			if flag {
				return json.Number("1"), "number"
			}
			return json.Number("0"), "number"
		case want == "string" && isNumber:
			f, err := number.Float64()
			if err == nil {
				return numberText(f), "string"
			}
		case want == "string" && isFlag:
			return strconv.FormatBool(flag), "string"
		case want == "boolean" && isText:
			return text != "", "boolean"
		case want == "boolean" && isNumber:
			f, _ := number.Float64()
			return f != 0, "boolean"
		}
	}
	return nil, kind
}

func (s *argumentSchema) bounded(n json.Number) json.Number {
	f, err := n.Float64()
	if err != nil {
		return n
	}
	was := f
	if slices.Contains(s.Type, "integer") && !slices.Contains(s.Type, "number") {
		f = math.Round(f)
	}
	if s.Minimum != nil {
		f = max(f, *s.Minimum)
	}
	if s.Maximum != nil {
		f = min(f, *s.Maximum)
	}
	if f == was {
		return n
	}
	return json.Number(numberText(f))
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}
