package expr

import (
	"bytes"
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
	raw = compact(raw)
	c := &compiler{engine: e, raw: raw, dec: json.NewDecoder(bytes.NewReader(raw)), first: stopAtFirst}
	c.dec.UseNumber()
	root, _ := c.value("")
	if len(c.errs) > 0 {
		return nil, c.errs
	}
	return &Template{root: root, slots: c.slots}, nil
}

type compiler struct {
	engine Engine
	raw    []byte
	dec    *json.Decoder
	slots  int
	errs   []error
	first  bool
}

// value compiles the next value of the decoder. fixed means that it has no
// slots; the node is then the text of the value.
func (c *compiler) value(pointer string) (n node, fixed bool) {
	start := c.valueStart()
	tok, err := c.dec.Token()
	if err != nil {
		c.errs = append(c.errs, fault.Wrap(fault.InvalidJSON, err, "reading the value at %s", pointer))
		return nil, false
	}
	switch t := tok.(type) {
	case string:
		src, ok, err := Slot(t)
		if err == nil && ok {
			var p Program
			if p, err = c.engine.Compile(src); err == nil {
				c.slots++
				return &slot{program: p, pointer: pointer}, false
			}
		}
		if err != nil {
			c.errs = append(c.errs, at(pointer, err))
			return nil, false
		}
	case json.Delim:
		if t == '{' {
			n, fixed = c.object(pointer)
		} else {
			n, fixed = c.array(pointer)
		}
		if !fixed {
			return n, false
		}
	}
	return constant(c.raw[start:c.dec.InputOffset():c.dec.InputOffset()]), true
}

func (c *compiler) object(pointer string) (node, bool) {
	var out objectNode
	index := map[string]int{}
	fixed := true
	for c.dec.More() && !c.stop() {
		tok, err := c.dec.Token()
		if err != nil {
			c.errs = append(c.errs, fault.Wrap(fault.InvalidJSON, err, "reading the object at %s", pointer))
			return nil, false
		}
		name := tok.(string)
		v, f := c.value(pointer + "/" + EscapePointer(name))
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
	if c.stop() {
		return nil, false
	}
	_, _ = c.dec.Token() // the closing brace: Valid has seen it
	return out, fixed
}

func (c *compiler) array(pointer string) (node, bool) {
	var out arrayNode
	fixed := true
	for i := 0; c.dec.More() && !c.stop(); i++ {
		v, f := c.value(pointer + "/" + strconv.Itoa(i))
		fixed = fixed && f
		out = append(out, v)
	}
	if c.stop() {
		return nil, false
	}
	_, _ = c.dec.Token()
	return out, fixed
}

func (c *compiler) stop() bool { return c.first && len(c.errs) > 0 }

// valueStart returns the offset at which the next value begins. The text is
// compact: only a comma or a colon can stand before it.
func (c *compiler) valueStart() int {
	i := int(c.dec.InputOffset())
	if i < len(c.raw) && (c.raw[i] == ',' || c.raw[i] == ':') {
		i++
	}
	return i
}

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
