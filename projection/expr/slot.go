package expr

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Slot takes apart a string value of a map. ok is true when the whole string,
// surrounding white space aside, is one slot {% ... %}; src is the expression
// inside. A string that holds a marker without being a whole slot is refused
// with partial_expression_unsupported: it would otherwise reach the page as
// literal text.
func Slot(s string) (src string, ok bool, err error) {
	open, end := strings.Contains(s, "{%"), strings.Contains(s, "%}")
	if !open && !end {
		return "", false, nil
	}
	t := strings.TrimFunc(s, isSpace)
	// "{%}" starts and ends with a marker but has no room for both.
	if len(t) >= 4 && strings.HasPrefix(t, "{%") && strings.HasSuffix(t, "%}") {
		return strings.TrimFunc(t[2:len(t)-2], isSpace), true, nil
	}
	return "", false, fault.New(fault.PartialExpressionUnsupported,
		"a string must be one whole {%% ... %%} slot or have none; build the text inside the slot with &")
}

// isSpace is what String.prototype.trim of JavaScript removes.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff:
		return true
	}
	return r >= 0x2000 && r <= 0x200a
}

// CompileExpression compiles the value of a field that is always an
// expression, such as the expression of a projection: as a whole slot or bare.
func CompileExpression(e Engine, text string) (Program, error) {
	src, ok, err := Slot(text)
	if err != nil {
		return nil, err
	}
	if !ok {
		src = strings.TrimFunc(text, isSpace)
	}
	return e.Compile(src)
}

// Template is a JSON value of a map with its slots compiled. It is immutable
// and safe for concurrent use.
type Template struct {
	root  node
	slots int
}

// node is one value of a template.
type node interface {
	// write appends the value to b. ok is false when the value is undefined;
	// b is then unchanged.
	write(ctx context.Context, b []byte, in Input, l Limits) (out []byte, ok bool, err error)
}

// CompileTemplate compiles the slots among the string values of raw, at any
// depth. Names of members are never slots. An empty raw is the undefined
// value. The error is that of the first slot in the order of the text, with
// the JSON pointer of the slot inside raw in its evidence as pointer.
func CompileTemplate(e Engine, raw json.RawMessage) (*Template, error) {
	t, errs := compileTemplate(e, raw, true)
	if len(errs) > 0 {
		return nil, errs[0]
	}
	return t, nil
}

// CheckTemplate is CompileTemplate for validators: it goes on after an error
// and returns all of them. Pointer is where each belongs. What compiled can be
// evaluated all the same: a slot that did not fails then. The template is nil
// only where the value is no JSON.
func CheckTemplate(e Engine, raw json.RawMessage) (*Template, []error) {
	return compileTemplate(e, raw, false)
}

// Pointer returns the JSON pointer of the slot that err is about, relative to
// the template; "" is its root, or no pointer is known.
func Pointer(err error) string {
	var f *fault.Error
	if errors.As(err, &f) {
		if p, ok := f.Evidence["pointer"].(string); ok {
			return p
		}
	}
	return ""
}

// Constant reports whether the template has no slots, so that its value is the
// same whatever the input.
func (t *Template) Constant() bool { return t.slots == 0 }

// Eval evaluates the slots over in. The limits hold for each slot by itself. A
// member whose slot is undefined is left out, an undefined element of an array
// becomes null, and undefined is true when the whole value is. The result
// shares memory with the template when there is nothing to evaluate: do not
// write to it. Errors carry the pointer of the slot in their evidence.
func (t *Template) Eval(ctx context.Context, in Input, l Limits) (value json.RawMessage, undefined bool, err error) {
	if t == nil || t.root == nil {
		return nil, true, nil
	}
	if c, ok := t.root.(constant); ok {
		return json.RawMessage(c), false, nil
	}
	if s, ok := t.root.(*slot); ok {
		v, err := s.eval(ctx, in, l)
		return v.JSON, v.Undefined, err
	}
	b, ok, err := t.root.write(ctx, nil, in, l)
	if err != nil {
		return nil, false, err
	}
	return b, !ok, nil
}

// constant is the text of a value without slots.
type constant []byte

func (c constant) write(_ context.Context, b []byte, _ Input, _ Limits) ([]byte, bool, error) {
	return append(b, c...), true, nil
}

// slot is one expression and where it stands.
type slot struct {
	program Program
	pointer string
}

func (s *slot) eval(ctx context.Context, in Input, l Limits) (Value, error) {
	v, err := s.program.Eval(ctx, in, l)
	if err != nil {
		return Value{}, at(s.pointer, err)
	}
	return v, nil
}

func (s *slot) write(ctx context.Context, b []byte, in Input, l Limits) ([]byte, bool, error) {
	v, err := s.eval(ctx, in, l)
	if err != nil || v.Undefined {
		return b, false, err
	}
	return append(b, v.JSON...), true, nil
}

type member struct {
	name  []byte // as JSON, quotes included
	value node
}

type objectNode []member

func (o objectNode) write(ctx context.Context, b []byte, in Input, l Limits) ([]byte, bool, error) {
	b = append(b, '{')
	first := true
	for _, m := range o {
		mark := len(b)
		if !first {
			b = append(b, ',')
		}
		b = append(append(b, m.name...), ':')
		out, ok, err := m.value.write(ctx, b, in, l)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			b = b[:mark]
			continue
		}
		b, first = out, false
	}
	return append(b, '}'), true, nil
}

type arrayNode []node

func (a arrayNode) write(ctx context.Context, b []byte, in Input, l Limits) ([]byte, bool, error) {
	b = append(b, '[')
	for i, el := range a {
		if i > 0 {
			b = append(b, ',')
		}
		out, ok, err := el.write(ctx, b, in, l)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			out = append(b, "null"...)
		}
		b = out
	}
	return append(b, ']'), true, nil
}

// at adds the pointer to a copy of err: errors of programs may be shared.
func at(pointer string, err error) error {
	src := fault.From(err)
	f := *src
	f.Evidence = make(map[string]any, len(src.Evidence)+1)
	maps.Copy(f.Evidence, src.Evidence)
	f.Evidence["pointer"] = pointer
	if pointer != "" {
		f.Message = "at " + pointer + ": " + src.Message
	}
	f.Err = err
	return &f
}
