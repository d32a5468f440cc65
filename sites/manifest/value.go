package manifest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Extensions are the x_ members of an object, which anybody may add.
type Extensions map[string]json.RawMessage

// value is a node at its place, with the checker to which problems are reported
// with it.
type value struct {
	c  *checker
	n  *node
	at *path
}

func (v value) fail(code fault.Code, format string, args ...any) {
	v.c.found.error(v.at.String(), int(v.n.start), code, fmt.Sprintf(format, args...))
}

func (v value) warn(code fault.Code, format string, args ...any) {
	v.c.found.warn(v.at.String(), int(v.n.start), code, fmt.Sprintf(format, args...))
}

// deviate is fail, and warn where drafts are accepted: for rules that maps in
// the wild were written without.
func (v value) deviate(code fault.Code, format string, args ...any) {
	if !v.c.opts.AcceptDrafts {
		v.fail(code, format, args...)
		v.c.found.remedy(acceptDrafts)
		return
	}
	v.c.deviations++
	v.warn(code, format, args...)
}

func (v value) raw() json.RawMessage {
	return json.RawMessage(v.c.src[v.n.start:v.n.end:v.n.end])
}

// is checks the type of v and reports wrong_type.
func (v value) is(k kind) bool {
	if v.n.kind == k {
		return true
	}
	v.fail(fault.WrongType, "must be %s, not %s", k, v.n.kind)
	return false
}

func (v value) text() string { return unquote(v.c.src[v.n.start:v.n.end]) }

// string returns the text of v, or "" after reporting.
func (v value) string() string {
	if !v.is(kindString) {
		return ""
	}
	return v.text()
}

// nonBlank is string for text that must say something.
func (v value) nonBlank() string {
	if !v.is(kindString) {
		return ""
	}
	s := v.text()
	if strings.TrimSpace(s) == "" {
		v.fail(fault.InvalidValue, "must not be blank")
	}
	return s
}

// identifier returns the name or id that v holds, or "" after reporting.
func (v value) identifier() string {
	if !v.is(kindString) {
		return ""
	}
	s := v.text()
	switch {
	case !SafeIdentifier(s):
		v.fail(fault.UnsafeIdentifier, "%s is not a safe identifier: letters, digits, _ and -, in parts that start "+
			"with a letter and are joined by dots", quote(s))
		return ""
	case len(s) > MaxIdentifier:
		v.fail(fault.LimitExceeded, "the identifier has %d bytes, the limit is %d", len(s), MaxIdentifier)
		return ""
	}
	return s
}

func (v value) oneOf(allowed ...string) string {
	if !v.is(kindString) {
		return ""
	}
	s := v.text()
	if !slices.Contains(allowed, s) {
		hint := ""
		if n := fault.Nearest(s, allowed); n != "" {
			hint = fmt.Sprintf("; did you mean %s?", quote(n))
		}
		v.fail(fault.InvalidValue, "%s is none of %s%s", quote(s), strings.Join(allowed, ", "), hint)
		return ""
	}
	return s
}

func (v value) bool() bool {
	return v.is(kindBool) && v.c.src[v.n.start] == 't'
}

// integer returns a whole number from least to MaxInteger.
func (v value) integer(least int) int {
	if !v.is(kindNumber) {
		return 0
	}
	f, err := strconv.ParseFloat(string(v.raw()), 64)
	switch {
	case err != nil || f != math.Trunc(f):
		v.fail(fault.InvalidValue, "must be a whole number")
		return 0
	case f < float64(least) || f > MaxInteger:
		v.fail(fault.InvalidValue, "must be a whole number from %d to %d", least, MaxInteger)
		return 0
	}
	return int(f)
}

// MaxInteger bounds every count and duration of a map.
const MaxInteger = math.MaxInt32

// items returns the elements of an array.
func (v value) items() []value {
	if !v.is(kindArray) {
		return nil
	}
	out := make([]value, len(v.n.kids))
	for i, k := range v.n.kids {
		out[i] = value{v.c, k, v.at.at(i)}
	}
	return out
}

// strings returns the elements of an array of strings.
func (v value) strings() []string {
	items := v.items()
	out := make([]string, 0, len(items))
	for _, e := range items {
		if e.is(kindString) {
			out = append(out, e.text())
		}
	}
	return out
}

// oneOrMore returns the strings of a string or an array of strings.
func (v value) oneOrMore() []string {
	if v.n.kind == kindString {
		return []string{v.text()}
	}
	if v.n.kind != kindArray {
		v.fail(fault.WrongType, "must be a string or an array of strings, not %s", v.n.kind)
		return nil
	}
	return v.strings()
}

// object returns v as an object, or nil after reporting.
func (v value) object() *object {
	if !v.is(kindObject) {
		return nil
	}
	return &object{value: v}
}

// object is an object whose members are being read. Each name that is asked
// for counts as known; done warns about the others.
type object struct {
	value
	known []string
}

// get returns the member name, which is missing when ok is false.
func (o *object) get(name string) (value, bool) {
	o.known = append(o.known, name)
	n := o.n.member(name)
	if n == nil {
		return value{}, false
	}
	return value{o.c, n, o.at.member(name)}, true
}

// need is get for a required member.
func (o *object) need(name string) (value, bool) {
	v, ok := o.get(name)
	if !ok {
		o.missing(name, fault.MissingField, fmt.Sprintf("%s is required", name))
	}
	return v, ok
}

func (o *object) missing(name string, code fault.Code, message string) {
	o.c.found.error(o.at.member(name).String(), int(o.n.start), code, message)
}

// deviate is missing, and a warning where drafts are accepted.
func (o *object) deviate(name string, code fault.Code, message string) {
	if !o.c.opts.AcceptDrafts {
		o.missing(name, code, message)
		o.c.found.remedy(acceptDrafts)
		return
	}
	o.c.deviations++
	o.c.found.warn(o.at.member(name).String(), int(o.n.start), code, message)
}

// read calls into with the member name when it is there.
func read[T any](o *object, name string, into func(value) T) T {
	if v, ok := o.get(name); ok {
		return into(v)
	}
	var zero T
	return zero
}

func (o *object) string(name string) string     { return read(o, name, value.string) }
func (o *object) strings(name string) []string  { return read(o, name, value.strings) }
func (o *object) identifier(name string) string { return read(o, name, value.identifier) }
func (o *object) oneOrMore(name string) []string {
	return read(o, name, value.oneOrMore)
}

func (o *object) oneOf(name string, allowed ...string) string {
	return read(o, name, func(v value) string { return v.oneOf(allowed...) })
}

func (o *object) bool(name string) *bool {
	return read(o, name, func(v value) *bool {
		if !v.is(kindBool) {
			return nil
		}
		b := v.bool()
		return &b
	})
}

func (o *object) integer(name string, least int) *int {
	return read(o, name, func(v value) *int {
		i := v.integer(least)
		return &i
	})
}

// float returns a number, nil when it is not declared or no number.
func (o *object) float(name string) *float64 {
	return read(o, name, func(v value) *float64 {
		if !v.is(kindNumber) {
			return nil
		}
		f, err := strconv.ParseFloat(string(v.raw()), 64)
		if err != nil {
			return nil // beyond what a double holds, such as 1e999
		}
		return &f
	})
}

// anyText returns a member that is a string; any other value is passed over.
func (o *object) anyText(name string) string {
	return read(o, name, func(v value) string {
		if v.n.kind != kindString {
			return ""
		}
		return v.text()
	})
}

// rawObject returns a member that must be an object and is handed on as it is.
func (o *object) rawObject(name string) json.RawMessage {
	return read(o, name, func(v value) json.RawMessage {
		if !v.is(kindObject) {
			return nil
		}
		return v.raw()
	})
}

func (o *object) rawArray(name string) json.RawMessage {
	return read(o, name, func(v value) json.RawMessage {
		if !v.is(kindArray) {
			return nil
		}
		return v.raw()
	})
}

// any returns a member of any type.
func (o *object) any(name string) json.RawMessage { return read(o, name, value.raw) }

// done warns about members that nobody read and returns the extensions.
func (o *object) done() Extensions {
	if o.c.opts.trace != nil {
		o.c.opts.trace(o.at.String(), o.known)
	}
	var ext Extensions
	for i, name := range o.n.names {
		if slices.Contains(o.known, name) {
			continue
		}
		if strings.HasPrefix(name, "x_") {
			if ext == nil {
				ext = Extensions{}
			}
			ext[name] = value{o.c, o.n.kids[i], nil}.raw()
			continue
		}
		hint := ""
		if n := fault.Nearest(name, o.known); n != "" {
			hint = fmt.Sprintf("; did you mean %s?", n)
		}
		o.c.found.warn(
			o.at.member(name).String(), int(o.n.kids[i].start), fault.UnknownField,
			fmt.Sprintf("%s is not a field of the format%s", quote(name), hint),
		)
	}
	return ext
}

// entries reads an array of objects, one by one.
func entries[T any](o *object, name string, read func(*object) T) []T {
	v, ok := o.get(name)
	if !ok {
		return nil
	}
	items := v.items()
	out := make([]T, 0, len(items))
	for i, e := range items {
		if eo := e.object(); eo != nil {
			out = append(out, read(eo))
			if o.at == nil || o.at.parent == nil {
				o.c.places[v.at.String()] = append(o.c.places[v.at.String()], i)
			}
		}
	}
	return out
}

// names finds names that occur twice in one namespace.
type names struct {
	what string
	seen map[string]string // name → pointer of its first use
}

func (s *names) add(name string, at value) {
	if name == "" {
		return
	}
	if s.seen == nil {
		s.seen = map[string]string{}
	}
	if first, dup := s.seen[name]; dup {
		at.fail(fault.DuplicateName, "the %s %s is already declared at %s", s.what, quote(name), first)
		return
	}
	s.seen[name] = at.at.String()
}

func (s *names) has(name string) bool { _, ok := s.seen[name]; return ok }

func (s *names) list() []string {
	out := make([]string, 0, len(s.seen))
	for n := range s.seen {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
