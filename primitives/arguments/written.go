package arguments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
)

// Problem is one fault of arguments that are written down before
// they are used, such as those of a workflow's step.
type Problem struct {
	// Path is the JSON pointer into the arguments as they are written. A missing
	// member is reported at its own path.
	Path string
	// Code is one of map validation: unknown_field, missing_field, wrong_type or
	// invalid_value.
	Code    fault.Code
	Message string
	// Certain means that Invoke answers invalid_input whatever the open values
	// come to, except where the profile mends arguments
	// (quirks.LenientArguments). What is not certain is reported only of members
	// that are not declared: they are refused as soon as they have a value.
	Certain bool
}

// CheckWritten checks the arguments of the named primitive as they are written.
// in is its input schema and f the names that this declares.
func CheckWritten(
	name string, in *schema.Schema, f *Declared, args json.RawMessage, open func(text string) bool,
) []Problem {
	args = bytes.TrimSpace(args)
	if len(args) == 0 || string(args) == "null" {
		args = json.RawMessage("{}")
	}
	as, err := numbersKept(args)
	if err != nil {
		return nil // a map with such arguments is not read
	}
	given, _ := numbersKept(args) // normalise changes it in place
	f.DropRouting(given)
	given, _ = f.Normalise(given)
	w := written{
		name:   name,
		in:     in,
		fields: f,
		as:     as,
		given:  given,
		open:   open,
	}
	return w.problems()
}

func numbersKept(raw json.RawMessage) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	err = d.Decode(&v)
	return v, err
}

// written are arguments of one primitive before their open values are known.
type written struct {
	name      string
	in        *schema.Schema
	fields    *Declared
	as, given any // as written, and as the check of a call gets them
	open      func(string) bool
}

func (w *written) problems() []Problem {
	found := append(w.in.ValidateValue(w.given), w.fields.undeclaredWithin(w.given, "")...)
	var groups []string
	for _, p := range found {
		if alternative(p) {
			groups = append(groups, p.Path)
		}
	}
	var out []Problem
	for _, p := range found {
		undeclared := p.Keyword == "additionalProperties"
		certain := w.certain(p)
		for _, g := range groups {
			switch {
			case !inside(p.Path, g):
			case w.isOpen(valueAt(w.given, g)):
				certain = false // another alternative may hold in the end
			case !undeclared && !alternative(p):
				certain = false // reported by the problem of the group
			}
		}
		// A name that is not declared is why its object matches nothing.
		if alternative(p) && slices.ContainsFunc(found, func(q schema.Problem) bool {
			return q.Keyword == "additionalProperties" && inside(q.Path, p.Path)
		}) {
			certain = false
		}
		if certain || undeclared {
			out = append(out, w.problem(p, certain))
		}
	}
	return out
}

func alternative(p schema.Problem) bool { return p.Keyword == "oneOf" || p.Keyword == "anyOf" }

// inside reports whether the value at a pointer is that at another or part of it.
func inside(pointer, of string) bool {
	return pointer == of || strings.HasPrefix(pointer, of+"/")
}

// certain reports whether p stands whatever the open values come to, as far as its
// own place decides. A member that is absent or not declared is so in any case,
// unless its value comes out absent; everything else depends on the value.
func (w *written) certain(p schema.Problem) bool {
	switch p.Keyword {
	case "required":
		return true
	case "additionalProperties":
		// An alias is declared where the name it stands for is absent.
		parent, name := split(p.Path)
		f := w.fields.at(parent)
		return !w.absentable(p.Path) &&
			(f == nil || f.alias[name] == "" || !w.absentable(parent+"/"+escapeToken.Replace(f.alias[name])))
	case "dependentRequired", "dependencies":
		parent, _ := split(p.Path)
		return !w.isOpen(valueAt(w.given, parent))
	}
	return !w.isOpen(valueAt(w.given, p.Path))
}

// split takes a pointer apart into that of the object and the name of the member.
func split(pointer string) (parent, name string) {
	slash := max(strings.LastIndex(pointer, "/"), 0)
	return pointer[:slash], unescapeToken.Replace(strings.TrimPrefix(pointer[slash:], "/"))
}

// absentable reports whether the value at a pointer is open as a whole, so that its
// member may come out absent.
func (w *written) absentable(pointer string) bool {
	text, ok := valueAt(w.given, pointer).(string)
	return ok && w.open(text)
}

// isOpen reports whether v is or holds an open value.
func (w *written) isOpen(v any) bool {
	switch v := v.(type) {
	case string:
		return w.open(v)
	case []any:
		return slices.ContainsFunc(v, w.isOpen)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), w.isOpen)
	}
	return false
}

func (w *written) problem(p schema.Problem, certain bool) Problem {
	out := Problem{Path: w.asWritten(p.Path), Code: fault.InvalidValue, Certain: certain}
	in, last := split(out.Path)
	if in != "" {
		in = " in " + in[1:]
	}
	switch p.Keyword {
	case "additionalProperties":
		out.Code = fault.UnknownField
		out.Message = fmt.Sprintf("%s takes no %q%s", w.name, last, in)
		if w.absentable(p.Path) {
			out.Message += " and refuses it whenever the expression gives a value"
		}
		if near := w.fields.Nearest(p); near != "" {
			out.Message += fmt.Sprintf("; did you mean %q?", near)
		}
		return out
	case "required", "dependentRequired", "dependencies":
		out.Code = fault.MissingField
		out.Message = fmt.Sprintf("%s needs %q%s", w.name, last, in)
		return out
	case "type":
		out.Code = fault.WrongType
	}
	message := p.Message
	if wanted, ok := p.Expected.([]any); ok && p.Keyword == "enum" && len(wanted) <= maxShownChoices {
		message = "must be one of " + choices(wanted)
	}
	if last == "" {
		last = "arguments"
	}
	out.Message = fmt.Sprintf("%s%s of %s %s", last, in, w.name, message)
	return out
}

const maxShownChoices = 12

func choices(list []any) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}

// asWritten returns the pointer, in the arguments as written, of what the check
// found at pointer: there, aliases have their declared names.
func (w *written) asWritten(pointer string) string {
	if pointer == "" {
		return ""
	}
	v := w.as
	f := w.fields
	out := ""
	for token := range strings.SplitSeq(pointer[1:], "/") {
		name := unescapeToken.Replace(token)
		if o, ok := v.(map[string]any); ok && o[name] == nil && f != nil {
			for alias := range o {
				if f.alias[alias] == name {
					token = escapeToken.Replace(alias)
					break
				}
			}
		}
		out += "/" + token
		v = valueAt(v, "/"+token)
		if f != nil {
			f = f.at("/" + escapeToken.Replace(name))
		}
	}
	return out
}

var escapeToken = strings.NewReplacer("~", "~0", "/", "~1")

// valueAt returns the value at a JSON pointer, nil where there is none.
func valueAt(v any, pointer string) any {
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		switch in := v.(type) {
		case map[string]any:
			v = in[unescapeToken.Replace(token)]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) {
				return nil
			}
			v = in[i]
		default:
			return nil
		}
	}
	return v
}

// undeclaredWithin finds what the schema of a recursive member leaves to the
// decoding of the arguments: members, of locators within locators, that no
// Locator has. There, a name may be in another case.
func (f *Declared) undeclaredWithin(v any, at string) []schema.Problem {
	var out []schema.Problem
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			child, path := f.members[name], at+"/"+escapeToken.Replace(name)
			if child == nil {
				continue
			}
			if o, ok := v[name].(map[string]any); ok && child == f {
				for _, inner := range slices.Sorted(maps.Keys(o)) {
					if !slices.ContainsFunc(slices.Collect(maps.Keys(f.members)), func(m string) bool {
						return strings.EqualFold(m, inner)
					}) {
						out = append(out, schema.Problem{
							Path:    path + "/" + escapeToken.Replace(inner),
							Keyword: "additionalProperties",
						})
					}
				}
			}
			out = append(out, child.undeclaredWithin(v[name], path)...)
		}
	case []any:
		for i, e := range v {
			if f.items != nil {
				out = append(out, f.items.undeclaredWithin(e, at+"/"+strconv.Itoa(i))...)
			}
		}
	}
	return out
}
