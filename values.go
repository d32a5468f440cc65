package outrider

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/client"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Evaluate runs a JavaScript expression in the page and returns its value as a T. Where the expression is a function,
// that is called with the arguments. A promise is awaited. The page can see and change what happens there.
//
//	title, err := outrider.Evaluate[string](ctx, tab, "document.title")
//	sum, err := outrider.Evaluate[int](ctx, tab, "(a, b) => a + b", 1, 2)
//
// A field of T that the value lacks is invalid_result, which names it, unless the field is a pointer or has omitempty
// or omitzero. Numbers in a T of any are json.Number: they keep their digits.
func Evaluate[T any](ctx context.Context, t *Tab, expression string, arguments ...any) (T, error) {
	var out T
	given, err := json.Marshal(append([]any{}, arguments...))
	if err != nil {
		return out, fromFault(fault.New(fault.InvalidInput, "the arguments do not encode as JSON: %v", err))
	}
	body := "const given = (" + expression + "\n);\nreturn typeof given === 'function' ? given(..." + string(given) +
		") : given;"
	patience := min(t.root().patience(ctx), time.Minute)
	r, err := client.PageEvaluate(ctx, t, client.PageEvaluateArgs{
		Body: body, TimeoutMS: int(max(1, patience.Milliseconds())),
	})
	if err != nil {
		return out, err
	}
	if r.Value == nil {
		if r.Type == "undefined" && reflect.TypeFor[T]().Kind() == reflect.Interface {
			return out, nil
		}
		return out, fromFault(fault.New(
			fault.InvalidResult, "the value is of type %s, which JSON cannot hold", r.Type,
		).With("description", r.Description))
	}
	return out, decodeStrictly(r.Value, &out)
}

// StateAs reads the state projection name as a T, under the rules of [Evaluate]. from is a [Tab] or a [Session].
func StateAs[T any](ctx context.Context, from interface {
	State(ctx context.Context, name string) (*State, error)
}, name string) (T, error) {
	var out T
	state, err := from.State(ctx, name)
	if err != nil {
		return out, err
	}
	return out, decodeStrictly(state.Value, &out)
}

// ActionAs runs the site action name and returns its value as a T, under the rules of [Evaluate]. on is a [Tab] or a
// [Session].
func ActionAs[T any](ctx context.Context, on interface {
	Action(ctx context.Context, name string, arguments any) (json.RawMessage, error)
}, name string, arguments any) (T, error) {
	var out T
	value, err := on.Action(ctx, name, arguments)
	if err != nil {
		return out, err
	}
	return out, decodeStrictly(value, &out)
}

// decodeStrictly decodes raw into the value that out points to. What is missing is an error that names it.
func decodeStrictly(raw json.RawMessage, out any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(out); err != nil {
		return fromFault(fault.Wrap(fault.InvalidResult, err, "the value does not fit: %v", err))
	}
	if path := missing(raw, reflect.TypeOf(out).Elem(), "value"); path != "" {
		return fromFault(fault.New(fault.InvalidResult, "%s is missing", path).With("field", path))
	}
	return nil
}

// missing is the path of the first field of a type that a value lacks, "" for none.
func missing(raw json.RawMessage, t reflect.Type, path string) string {
	if reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return ""
	}
	switch t.Kind() {
	case reflect.Pointer:
		if string(raw) == "null" {
			return ""
		}
		return missing(raw, t.Elem(), path)
	case reflect.Slice, reflect.Array:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return ""
		}
		for i, item := range list {
			if lacks := missing(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i)); lacks != "" {
				return lacks
			}
		}
	case reflect.Map:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return ""
		}
		for name, item := range members {
			if lacks := missing(item, t.Elem(), path+"."+name); lacks != "" {
				return lacks
			}
		}
	case reflect.Struct:
		var members map[string]json.RawMessage
		if json.Unmarshal(raw, &members) != nil {
			return ""
		}
		return missingField(members, raw, t, path)
	}
	return ""
}

func missingField(members map[string]json.RawMessage, raw json.RawMessage, t reflect.Type, path string) string {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		name, options, _ := strings.Cut(tag, ",")
		if f.Anonymous && name == "" && tag != "-" {
			if lacks := missing(raw, f.Type, path); lacks != "" {
				return lacks
			}
			continue
		}
		if !f.IsExported() || tag == "-" {
			continue
		}
		if name == "" {
			name = f.Name
		}
		item, there := members[name]
		for other, value := range members {
			if !there && strings.EqualFold(other, name) {
				item, there = value, true
			}
		}
		optional := f.Type.Kind() == reflect.Pointer || strings.Contains(options, "omit")
		if !there && !optional {
			return path + "." + name
		}
		if !there {
			continue
		}
		if lacks := missing(item, f.Type, path+"."+name); lacks != "" {
			return lacks
		}
	}
	return ""
}

// field is a part of an element for locator.read.
type field struct {
	Selector  string           `json:"selector,omitempty"`
	Attribute string           `json:"attribute,omitempty"`
	HTML      bool             `json:"html,omitempty"`
	All       bool             `json:"all,omitempty"`
	Fields    map[string]field `json:"fields,omitempty"`
}

// Extract reads the elements of a locator in one moment into a T: a struct for the one element, which it waits for, or
// a slice of structs for all that there are. Fields have tags:
//
//	type Book struct {
//		Title string   `select:"h3 a"`
//		Link  *url.URL `select:"h3 a" attr:"href"`
//		Price float64  `select:".price" as:"number"`
//		Tags  []string `select:".tag"`
//		Stars *string  `select:".stars" attr:"title"`
//	}
//	books, err := outrider.Extract[[]Book](ctx, tab.BySelector("article"))
//
// select is a CSS selector inside the element, "" the element itself; attr takes an attribute in place of the text. as
// is number (the first number of the text, without signs between thousands), html, or exact words of the layout of a
// time after "time:". A struct nests, a slice repeats, a *url.URL is absolute, and types with UnmarshalText read
// themselves. A part that is missing is invalid_result, which names the field, unless the field is a pointer. Fields
// without these tags are left alone.
func Extract[T any](ctx context.Context, from Locator) (T, error) {
	var out T
	target := reflect.ValueOf(&out).Elem()
	item := target.Type()
	if item.Kind() == reflect.Slice {
		item = item.Elem()
	}
	fields, err := fieldsOf(item, "")
	if err != nil {
		return out, err
	}
	read := extraction{}
	if target.Kind() != reflect.Slice {
		e, err := from.One(ctx, Reading{fields: fields})
		if err != nil {
			return out, err
		}
		read.base = from.tab.URL()
		return out, read.object(target, e.fields, item.Name())
	}
	found, err := from.Read(ctx, Reading{fields: fields})
	if err != nil {
		return out, err
	}
	if found.Count > len(found.List) {
		return out, fromFault(fault.New(fault.InvalidResult, "there are %d elements, and %d are read at a time",
			found.Count, len(found.List)).Next("narrow the locator"))
	}
	read.base = from.tab.URL()
	all := reflect.MakeSlice(target.Type(), len(found.List), len(found.List))
	for i, e := range found.List {
		if err := read.object(all.Index(i), e.fields, fmt.Sprintf("%s[%d]", item.Name(), i)); err != nil {
			return out, err
		}
	}
	target.Set(all)
	return out, nil
}

// fieldsOf reads the tags of a struct type.
func fieldsOf(t reflect.Type, path string) (map[string]field, error) {
	if t.Kind() != reflect.Struct {
		return nil, fromFault(fault.New(fault.InvalidInput, "%s is a %s: expected a struct", path+t.String(), t.Kind()))
	}
	fields := map[string]field{}
	for i := range t.NumField() {
		f := t.Field(i)
		selector, selects := f.Tag.Lookup("select")
		attribute, takes := f.Tag.Lookup("attr")
		as := f.Tag.Get("as")
		if !f.IsExported() || !selects && !takes && as == "" {
			continue
		}
		want := field{Selector: selector, Attribute: attribute, HTML: as == "html"}
		of := f.Type
		if of.Kind() == reflect.Slice && of.Elem().Kind() != reflect.Uint8 {
			want.All, of = true, of.Elem()
		}
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		if nests(of) {
			inner, err := fieldsOf(of, path+f.Name+".")
			if err != nil {
				return nil, err
			}
			want.Fields = inner
		}
		fields[f.Name] = want
	}
	if len(fields) == 0 {
		return nil, fromFault(fault.New(fault.InvalidInput, "no field of %s has the tag select", t))
	}
	return fields, nil
}

// nests reports whether a type has fields of its own to read.
func nests(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != reflect.TypeFor[time.Time]() && t != reflect.TypeFor[url.URL]() &&
		!reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// extraction puts what was read into values.
type extraction struct{ base string }

func (x extraction) object(into reflect.Value, raw json.RawMessage, path string) error {
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return fromFault(fault.Wrap(fault.InvalidResult, err, "reading %s", path))
	}
	for i := range into.NumField() {
		f := into.Type().Field(i)
		part, asked := parts[f.Name]
		if !asked {
			continue
		}
		if err := x.part(into.Field(i), part, f, path+"."+f.Name); err != nil {
			return err
		}
	}
	return nil
}

func (x extraction) part(into reflect.Value, raw json.RawMessage, f reflect.StructField, path string) error {
	if into.Kind() == reflect.Slice && into.Type().Elem().Kind() != reflect.Uint8 {
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return fromFault(fault.Wrap(fault.InvalidResult, err, "reading %s", path))
		}
		list := reflect.MakeSlice(into.Type(), len(items), len(items))
		for i, item := range items {
			if err := x.part(list.Index(i), item, f, fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
		into.Set(list)
		return nil
	}
	if string(raw) == "null" {
		if into.Kind() == reflect.Pointer {
			return nil
		}
		return fromFault(fault.New(fault.InvalidResult, "%s is missing: nothing has %q%s", path, f.Tag.Get("select"),
			attributeOf(f)).With("field", path))
	}
	if into.Kind() == reflect.Pointer {
		value := reflect.New(into.Type().Elem())
		if err := x.part(value.Elem(), raw, f, path); err != nil {
			return err
		}
		into.Set(value)
		return nil
	}
	if nests(into.Type()) {
		return x.object(into, raw, path)
	}
	var text string
	if err := json.Unmarshal(raw, &text); err != nil {
		return fromFault(fault.Wrap(fault.InvalidResult, err, "reading %s", path))
	}
	if err := x.set(into, text, f.Tag.Get("as")); err != nil {
		return fromFault(fault.New(fault.InvalidResult, "%s: %v", path, err).With("field", path))
	}
	return nil
}

func attributeOf(f reflect.StructField) string {
	if name := f.Tag.Get("attr"); name != "" {
		return " with the attribute " + name
	}
	return ""
}

var (
	firstNumber = regexp.MustCompile(`[-+]?[0-9][0-9'’,_\x{a0}\x{202f}]*(\.[0-9]+)?|[-+]?\.[0-9]+`)
	between     = strings.NewReplacer("'", "", "’", "", ",", "", "_", "", "\u00a0", "", "\u202f", "")
)

// set gives a value the text of a part.
func (x extraction) set(into reflect.Value, text, as string) error {
	switch {
	case as == "number":
		text = between.Replace(firstNumber.FindString(text))
		if text == "" {
			return fmt.Errorf("the text has no number")
		}
	case strings.HasPrefix(as, "time:"):
		at, err := time.Parse(strings.TrimPrefix(as, "time:"), text)
		if err != nil || into.Type() != reflect.TypeFor[time.Time]() {
			return fmt.Errorf("the text is no time of the layout")
		}
		into.Set(reflect.ValueOf(at))
		return nil
	case as != "" && as != "html":
		return fmt.Errorf("as is %q: expected number, html or time:LAYOUT", as)
	}
	if into.Type() == reflect.TypeFor[url.URL]() {
		base, err := url.Parse(x.base)
		if err != nil {
			return err
		}
		at, err := base.Parse(text)
		if err != nil {
			return err
		}
		into.Set(reflect.ValueOf(*at))
		return nil
	}
	if u, ok := into.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	return setPlain(into, text)
}

// setPlain parses the text as what the kind of a value holds.
func setPlain(into reflect.Value, text string) error {
	switch into.Kind() {
	case reflect.String:
		into.SetString(text)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, err := strconv.ParseInt(text, 10, into.Type().Bits())
		if err != nil {
			return notA("whole number", err)
		}
		into.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, err := strconv.ParseUint(text, 10, into.Type().Bits())
		if err != nil {
			return notA("whole number from 0", err)
		}
		into.SetUint(n)
	case reflect.Float32, reflect.Float64:
		n, err := strconv.ParseFloat(text, into.Type().Bits())
		if err != nil {
			return notA("number", err)
		}
		into.SetFloat(n)
	case reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return notA("bool", err)
		}
		into.SetBool(b)
	default:
		return fmt.Errorf("a %s cannot hold a text", into.Type())
	}
	return nil
}

// notA is an error without the text of the page.
func notA(what string, err error) error {
	why := err
	if n, ok := err.(*strconv.NumError); ok {
		why = n.Err
	}
	return fmt.Errorf("the text is no %s: %w", what, why)
}
