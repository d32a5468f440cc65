package jsonata

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"sort"
)

// Input is what an expression is evaluated over. It is immutable and may be
// used for any number of evaluations at the same time.
type Input struct {
	members []Member
	raw     json.RawMessage
	v       value
	err     error
	form    inputForm
}

type inputForm uint8

const (
	inputNone inputForm = iota
	inputMembers
	inputRaw
	inputValue
)

// Member is one member of an input object.
type Member struct {
	Name string
	JSON json.RawMessage
}

// ObjectInput is an object whose members are decoded only when the expression
// can read them. Later members replace earlier ones of the same name.
func ObjectInput(members ...Member) Input {
	return Input{form: inputMembers, members: members}
}

// JSONInput is a JSON text. Of an object only the members that the expression
// can read are decoded. The text must not change while it is in use.
func JSONInput(raw json.RawMessage) Input { return Input{form: inputRaw, raw: raw} }

// DecodeInput decodes a JSON text once, for evaluating many expressions over it.
func DecodeInput(raw json.RawMessage) (Input, error) {
	d := decoder{src: string(raw)}
	v, err := d.document()
	if err != nil {
		return Input{}, err
	}
	return Input{form: inputValue, v: v}, nil
}

// Object is a decoded object that keeps the order of its members.
type Object []ObjectMember

// ObjectMember is one member of an Object.
type ObjectMember struct {
	Name  string
	Value any
}

// ValueInput is a decoded value: nil, bool, numbers, json.Number, string,
// []any, map[string]any (whose keys are taken in sorted order) and Object. It
// is converted here, once.
func ValueInput(v any) Input {
	c := converter{d: decoder{shapes: &shape{}}}
	out, err := c.value(v, 0)
	return Input{form: inputValue, v: out, err: err}
}

// UndefinedInput is no input at all.
func UndefinedInput() Input { return Input{} }

type converter struct{ d decoder }

func (c *converter) value(v any, depth int) (value, error) {
	if depth > maxInputDepth {
		return undefined, badJSON(0)
	}
	switch x := v.(type) {
	case nil:
		return null, nil
	case bool:
		return boolValue(x), nil
	case float64:
		return numberValue(x), nil
	case int:
		return numberValue(float64(x)), nil
	case int64:
		return numberValue(float64(x)), nil
	case json.Number:
		s := string(x)
		if s == "" || scanNumber(s) != len(s) {
			return undefined, badJSON(0)
		}
		return numberValue(parseDecimal(s)), nil
	case string:
		return stringValue(x), nil
	case json.RawMessage:
		d := decoder{src: string(x), shapes: c.d.shapes}
		return d.document()
	case []any:
		items := make([]value, len(x))
		for i, it := range x {
			var err error
			items[i], err = c.value(it, depth+1)
			if err != nil {
				return undefined, err
			}
		}
		return c.d.newArray(items), nil
	case map[string]any:
		keys := make([]string, 0, len(x))
		for k := range x {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		b := builder{sh: c.d.shapes, vals: make([]value, 0, len(keys))}
		for _, k := range keys {
			it, err := c.value(x[k], depth+1)
			if err != nil {
				return undefined, err
			}
			b.set(k, it)
		}
		return objectValue(b.object()), nil
	case Object:
		b := builder{sh: c.d.shapes, vals: make([]value, 0, len(x))}
		for _, m := range x {
			it, err := c.value(m.Value, depth+1)
			if err != nil {
				return undefined, err
			}
			b.set(m.Name, it)
		}
		return objectValue(b.object()), nil
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32:
		return numberValue(float64(r.Int())), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return numberValue(float64(r.Uint())), nil
	case reflect.Float32:
		return numberValue(r.Float()), nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return undefined, newError("L1003", "the input cannot be written as JSON")
	}
	d := decoder{src: string(text), shapes: c.d.shapes}
	return d.document()
}

// value makes the input a value of one evaluation.
func (in *Input) value(ev *evaluator) (value, error) {
	switch in.form {
	case inputValue:
		return in.v, in.err
	case inputRaw:
		return in.decodeRaw(ev)
	case inputMembers:
		b := builder{sh: ev.rootShape()}
		d := decoder{shapes: ev.shapes, charge: ev.alloc}
		for _, m := range in.members {
			if !ev.prog.mayRead(m.Name) {
				continue
			}
			if err := ev.alloc(len(m.JSON)); err != nil {
				return undefined, err
			}
			d.src, d.pos = string(m.JSON), 0
			v, err := d.document()
			if err != nil {
				return undefined, err
			}
			b.set(m.Name, v)
		}
		return ev.build(&b)
	}
	return undefined, nil
}

func (p *Program) mayRead(name string) bool {
	if p.readsAll {
		return true
	}
	return slices.Contains(p.reads, name)
}

func (in *Input) decodeRaw(ev *evaluator) (value, error) {
	if err := ev.alloc(min(len(in.raw), math.MaxInt32)); err != nil {
		return undefined, err
	}
	d := decoder{src: string(in.raw), shapes: ev.rootShape(), charge: ev.alloc}
	d.skipSpace()
	if ev.prog.readsAll || d.pos >= len(d.src) || d.src[d.pos] != '{' {
		return d.document()
	}
	d.pos++
	b := builder{sh: ev.rootShape()}
	d.skipSpace()
	if d.pos < len(d.src) && d.src[d.pos] == '}' {
		return ev.build(&b)
	}
	for {
		k, err := d.key()
		if err != nil {
			return undefined, err
		}
		if ev.prog.mayRead(k) {
			v, err := d.value(1)
			if err != nil {
				return undefined, err
			}
			b.set(k, v)
		} else if err := d.skip(); err != nil {
			return undefined, err
		}
		if err := ev.step(1); err != nil {
			return undefined, err
		}
		more, err := d.more()
		if err != nil {
			return undefined, err
		}
		if !more {
			break
		}
	}
	if err := d.settle(0); err != nil {
		return undefined, err
	}
	return ev.build(&b)
}
