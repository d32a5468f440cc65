package expr

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/blues/jsonata-go/jtypes"
)

// bluesNull is JSON null as jsonata-go makes it itself for the literal. An
// ordinary nil would be undefined to it.
var bluesNull *any

// keyOrder remembers the order in which names first appeared, because
// jsonata-go keeps objects in Go maps. Literals of the expression come before
// names of the input: they are what constructors are made of.
type keyOrder struct {
	literal map[string]int
	input   map[string]int
}

// literals notes the string literals of src in the order of the text.
func (o *keyOrder) literals(src string) {
	for _, t := range scan(src) {
		if t.kind == tokString {
			if s := unquote(t.text); s != "" {
				if _, ok := o.literal[s]; !ok {
					o.literal[s] = len(o.literal)
				}
			}
		}
	}
}

func (o *keyOrder) seen(name string) {
	if _, ok := o.input[name]; !ok {
		o.input[name] = len(o.input)
	}
}

func (o *keyOrder) sort(keys []string) {
	rank := func(k string) (int, int) {
		if i, ok := o.literal[k]; ok {
			return 0, i
		}
		if i, ok := o.input[k]; ok {
			return 1, i
		}
		// What builtins make.
		return 2, slices.Index([]string{"match", "index", "groups"}, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		ca, ia := rank(a)
		cb, ib := rank(b)
		return cmp.Or(cmp.Compare(ca, cb), cmp.Compare(ia, ib), cmp.Compare(a, b))
	})
}

// decodeForBlues decodes the input with nulls as jsonata-go wants them.
func decodeForBlues(body []byte) (any, *keyOrder, error) {
	o := &keyOrder{literal: map[string]int{}, input: map[string]int{}}
	d := json.NewDecoder(bytes.NewReader(body))
	v, err := decodeValue(d, o)
	if err == nil {
		if _, end := d.Token(); end != io.EOF {
			err = errors.New("text after the input")
		}
	}
	return v, o, err
}

func decodeValue(d *json.Decoder, o *keyOrder) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case nil:
		return bluesNull, nil
	case json.Delim:
		if t == '[' {
			out := []any{}
			for d.More() {
				v, err := decodeValue(d, o)
				if err != nil {
					return nil, err
				}
				out = append(out, v)
			}
			_, err = d.Token()
			return out, err
		}
		out := map[string]any{}
		for d.More() {
			k, err := d.Token()
			if err != nil {
				return nil, err
			}
			name := k.(string)
			o.seen(name)
			out[name], err = decodeValue(d, o)
			if err != nil {
				return nil, err
			}
		}
		_, err = d.Token()
		return out, err
	}
	return t, nil
}

var (
	errValueTooLarge = errors.New("value too large")
	errNotJSON       = errors.New("the value is a function")
)

// encodeFromBlues writes a value as JSON.stringify would. It stops at limit.
// nil without an error is undefined.
func encodeFromBlues(v any, o *keyOrder, limit int) ([]byte, error) {
	e := &encoder{order: o, limit: limit}
	if err := e.value(reflect.ValueOf(v), 0); err != nil {
		return nil, err
	}
	if len(e.b) > limit {
		return nil, errValueTooLarge
	}
	return e.b, nil
}

type encoder struct {
	b     []byte
	order *keyOrder
	limit int
}

func (e *encoder) value(v reflect.Value, depth int) error {
	if len(e.b) > e.limit || depth > 10_000 {
		return errValueTooLarge
	}
	for v.IsValid() && (v.Kind() == reflect.Interface || v.Kind() == reflect.Pointer) {
		if v.IsNil() {
			e.b = append(e.b, "null"...)
			return nil
		}
		if v.Type().Implements(jtypes.TypeCallable) {
			return errNotJSON
		}
		v = v.Elem()
	}
	if !v.IsValid() {
		e.b = append(e.b, "null"...)
		return nil
	}
	if v.Type().Implements(jtypes.TypeCallable) {
		return errNotJSON
	}
	switch v.Kind() {
	case reflect.Bool:
		e.b = strconv.AppendBool(e.b, v.Bool())
	case reflect.String:
		e.b = appendString(e.b, v.String())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.b = strconv.AppendInt(e.b, v.Int(), 10)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.b = strconv.AppendUint(e.b, v.Uint(), 10)
	case reflect.Float32, reflect.Float64:
		e.b = appendNumber(e.b, v.Float())
	case reflect.Slice, reflect.Array:
		e.b = append(e.b, '[')
		for i := range v.Len() {
			if i > 0 {
				e.b = append(e.b, ',')
			}
			if err := e.value(v.Index(i), depth+1); err != nil {
				return err
			}
		}
		e.b = append(e.b, ']')
	case reflect.Map:
		keys := make([]string, 0, v.Len())
		for _, k := range v.MapKeys() {
			keys = append(keys, k.String())
		}
		e.order.sort(keys)
		e.b = append(e.b, '{')
		for i, k := range keys {
			if i > 0 {
				e.b = append(e.b, ',')
			}
			e.b = append(appendString(e.b, k), ':')
			if err := e.value(v.MapIndex(reflect.ValueOf(k).Convert(v.Type().Key())), depth+1); err != nil {
				return err
			}
		}
		e.b = append(e.b, '}')
	default:
		return fmt.Errorf("the value has the Go kind %s", v.Kind())
	}
	return nil
}

// appendNumber writes a number as JavaScript does.
func appendNumber(b []byte, f float64) []byte {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(b, "null"...)
	case f == 0:
		return append(b, '0') // also for -0
	}
	t, err := json.Marshal(f) // the format of ECMAScript
	if err != nil {
		return append(b, "null"...)
	}
	return append(b, t...)
}

// appendString writes a string as JSON.stringify does: nothing is escaped for
// the sake of HTML.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c >= 0x20 && c < utf8.RuneSelf:
			b = append(b, c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			r, n := utf8.DecodeRuneInString(s[i:])
			b = utf8.AppendRune(b, r)
			i += n
			continue
		}
		i++
	}
	return append(b, '"')
}

// collapse gives a sequence the form jsonata-js gives it: undefined for no
// value, the value itself for one.
func collapse(v any, err error) (any, error) {
	r := reflect.ValueOf(v)
	if err != nil || r.Kind() != reflect.Slice {
		return v, err
	}
	switch r.Len() {
	case 0:
		return nil, jtypes.ErrUndefined
	case 1:
		return r.Index(0).Interface(), nil
	}
	return v, nil
}
