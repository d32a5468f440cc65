package expr

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// compileTemplate walks raw once, in the order of its text.
func compileTemplate(e Engine, raw json.RawMessage, stopAtFirst bool) (*Template, []error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return &Template{}, nil
	}
	// Valid also bounds the nesting, on which the walk recurses.
	if !json.Valid(raw) {
		return nil, []error{fault.New(fault.InvalidJSON, "the value is not JSON")}
	}
	c := &compiler{engine: e, raw: compact(raw), first: stopAtFirst}
	root, _ := c.value("")
	if len(c.errs) > 0 && stopAtFirst {
		return nil, c.errs
	}
	return &Template{root: root, slots: c.slots}, c.errs
}

type compiler struct {
	engine Engine
	raw    []byte // valid JSON without white space
	at     int    // where in raw the walk is
	slots  int
	errs   []error
	first  bool
}

// value compiles the next value. fixed means that it has no slots; the node is
// then the text of the value.
func (c *compiler) value(pointer string) (n node, fixed bool) {
	start := c.at
	switch c.raw[start] {
	case '"':
		c.at = stringEnd(c.raw, start)
		src, ok, err := Slot(unquoted(c.raw[start:c.at]))
		if err == nil && ok {
			var p Program
			p, err = c.engine.Compile(src)
			if err == nil {
				c.slots++
				return &slot{program: p, pointer: pointer}, false
			}
		}
		if err != nil {
			c.errs = append(c.errs, at(pointer, err))
			c.slots++
			return &slot{program: failing{err}, pointer: pointer}, false
		}
	case '{', '[':
		if c.raw[start] == '{' {
			n, fixed = c.object(pointer)
		} else {
			n, fixed = c.array(pointer)
		}
		if !fixed {
			return n, false
		}
	default:
		c.at = valueEnd(c.raw, start)
	}
	return constant(c.raw[start:c.at:c.at]), true
}

// Deferred is an engine whose Compile never fails: what does not compile fails when it
// is evaluated, as in the upstream extension.
func Deferred(e Engine) Engine { return deferred{e} }

type deferred struct{ Engine }

func (l deferred) Compile(src string) (Program, error) {
	p, err := l.Engine.Compile(src)
	if err != nil {
		return failing{err}, nil
	}
	return p, nil
}

// failing is a slot that does not compile: its evaluation fails for the same reason.
type failing struct{ err error }

func (f failing) Source() string { return "" }

func (f failing) Eval(context.Context, Input, Limits) (Value, error) { return Value{}, f.err }

// more steps over what stands before the next member or element, and over the
// end of the object or array when there is none.
func (c *compiler) more() bool {
	next := c.raw[c.at]
	first := next == '{' || next == '['
	if next == ',' || first {
		c.at++
		if !first || c.raw[c.at] != '}' && c.raw[c.at] != ']' {
			return true
		}
	}
	c.at++
	return false
}

func (c *compiler) object(pointer string) (node, bool) {
	var out objectNode
	index := map[string]int{}
	fixed := true
	for c.more() {
		end := stringEnd(c.raw, c.at)
		name := unquoted(c.raw[c.at:end])
		c.at = end + 1 // a colon
		v, f := c.value(pointer + "/" + EscapePointer(name))
		if c.stop() {
			return nil, false
		}
		fixed = fixed && f
		// A name that appears twice has its last value at its first place, as
		// in JavaScript; the text as it stands would say both.
		if i, ok := index[name]; ok {
			out[i].value, fixed = v, false
			continue
		}
		index[name] = len(out)
		key, _ := json.Marshal(name)
		out = append(out, member{name: key, value: v})
	}
	return out, fixed
}

func (c *compiler) array(pointer string) (node, bool) {
	var out arrayNode
	fixed := true
	for i := 0; c.more(); i++ {
		v, f := c.value(pointer + "/" + strconv.Itoa(i))
		if c.stop() {
			return nil, false
		}
		fixed = fixed && f
		out = append(out, v)
	}
	return out, fixed
}

func (c *compiler) stop() bool { return c.first && len(c.errs) > 0 }

func compact(raw []byte) []byte {
	var b bytes.Buffer
	b.Grow(len(raw))
	if err := json.Compact(&b, raw); err != nil {
		return raw
	}
	return b.Bytes()
}

// EscapePointer escapes one reference token of a JSON pointer (RFC 6901).
func EscapePointer(token string) string {
	return strings.ReplaceAll(strings.ReplaceAll(token, "~", "~0"), "/", "~1")
}
