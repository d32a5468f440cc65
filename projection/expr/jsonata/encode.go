package jsonata

import (
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// writer writes JSON. It serves $string and &, which round numbers and write
// functions as "", and the result of an evaluation, which does neither.
type writer struct {
	ev      *evaluator
	buf     []byte
	charged int
	limit   int64 // bytes of output allowed, 0 for none
	text    bool  // $string
	indent  bool
}

// stringify is what & and $string make of a value.
func (ev *evaluator) stringify(v value, pretty bool) (string, error) {
	switch v.kind() {
	case kString:
		return v.str(), nil
	case kUndefined, kFunction:
		return "", nil
	case kNumber:
		f := v.num()
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return "", newError("D3001", "a number that is not finite has no text")
		}
		var small [32]byte
		b := appendNumber(small[:0], precision15(f))
		if err := ev.alloc(len(b)); err != nil {
			return "", err
		}
		return string(b), nil
	case kBool:
		if v.bool() {
			return "true", nil
		}
		return "false", nil
	case kNull:
		return "null", nil
	}
	w := writer{ev: ev, text: true, indent: pretty}
	if err := w.value(v, 0); err != nil {
		return "", err
	}
	if err := ev.alloc(len(w.buf)); err != nil {
		return "", err
	}
	return string(w.buf), nil
}

// charge accounts for what was written since the last time.
func (w *writer) charge() error {
	n := len(w.buf) - w.charged
	if n < 512 {
		return w.ev.tick()
	}
	w.charged = len(w.buf)
	if w.limit > 0 && int64(len(w.buf)) > w.limit {
		return w.tooMuch()
	}
	if len(w.buf) > 64<<10 && cap(w.buf)-len(w.buf) < 4096 {
		// The runtime's own growth by a quarter would leave behind five times
		// the text instead of the two that are charged.
		w.buf = slices.Grow(w.buf, len(w.buf))
	}
	return w.ev.alloc(2 * n)
}

func (w *writer) tooMuch() error {
	return budgetError("L0004", "output_bytes", "the result is larger than %d bytes", w.limit)
}

func (w *writer) value(v value, depth int) error {
	switch v.kind() {
	case kNull, kUndefined:
		w.buf = append(w.buf, "null"...)
	case kBool:
		if v.bool() {
			w.buf = append(w.buf, "true"...)
		} else {
			w.buf = append(w.buf, "false"...)
		}
	case kNumber:
		return w.number(v.num())
	case kString:
		s := v.str()
		w.buf = appendJSONString(w.buf, s)
		if len(s) > 512 {
			return w.charge()
		}
	case kArray:
		return w.array(v.arr(), depth)
	case kObject:
		return w.object(v.obj(), depth)
	case kFunction:
		return w.function(v)
	}
	return nil
}

func (w *writer) number(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		if w.text && !math.IsNaN(f) {
			return newError("D1001", "the number is out of range")
		}
		w.buf = append(w.buf, "null"...)
		return nil
	}
	if w.text {
		f = precision15(f)
	}
	w.buf = appendNumber(w.buf, f)
	return nil
}

// vanishes says that JSON.stringify leaves the value out of an object.
func (w *writer) vanishes(v value) bool {
	if v.isUndefined() {
		return true
	}
	if !v.isFunction() || w.text {
		return false
	}
	switch v.fn().kind {
	case fnRegex, fnNext:
		return true
	}
	return v.isWrapped()
}

// function writes what JSON.stringify shows of a function of jsonata-js: the
// record that describes a builtin. A lambda is a cyclic structure there, an
// error for whoever serialises it.
func (w *writer) function(v value) error {
	if w.text {
		w.buf = append(w.buf, `""`...)
		return nil
	}
	if w.vanishes(v) {
		w.buf = append(w.buf, "null"...)
		return nil
	}
	f := v.fn()
	sig := "<(oa):o>"
	switch f.kind {
	case fnBuiltin:
		sig = f.builtin.sig.text
	case fnTransform:
	default:
		return newError("L0005", "the result holds a function, which JSON cannot carry")
	}
	w.buf = append(w.buf, `{"_jsonata_function":true,"signature":{"definition":`...)
	w.buf = appendJSONString(w.buf, sig)
	w.buf = append(w.buf, '}')
	if f.kind == fnBuiltin {
		// jsonata-js also leaves in the function, which all expressions share, the
		// place of its last call in the process. That is not reproducible; we show
		// the place of a call that is the whole expression.
		w.buf = append(w.buf, `,"token":`...)
		w.buf = appendJSONString(w.buf, f.builtin.name)
		w.buf = append(w.buf, `,"position":`...)
		w.buf = strconv.AppendInt(w.buf, int64(len(f.builtin.name)+2), 10)
	}
	w.buf = append(w.buf, '}')
	return nil
}

func (w *writer) newline(depth int) {
	if !w.indent {
		return
	}
	w.buf = append(w.buf, '\n')
	for ; depth > 0; depth-- {
		w.buf = append(w.buf, "  "...)
	}
}

func (w *writer) array(a *array, depth int) error {
	if depth > maxDataDepth {
		return w.ev.tooDeep()
	}
	w.buf = append(w.buf, '[')
	for i, it := range a.items {
		if i > 0 {
			w.buf = append(w.buf, ',')
		}
		w.newline(depth + 1)
		if err := w.value(it, depth+1); err != nil {
			return err
		}
		if err := w.charge(); err != nil {
			return err
		}
	}
	if len(a.items) > 0 {
		w.newline(depth)
	}
	w.buf = append(w.buf, ']')
	return nil
}

func (w *writer) object(o *object, depth int) error {
	if depth > maxDataDepth {
		return w.ev.tooDeep()
	}
	w.buf = append(w.buf, '{')
	first := true
	for i, v := range o.vals {
		if w.vanishes(v) {
			continue
		}
		if !first {
			w.buf = append(w.buf, ',')
		}
		first = false
		w.newline(depth + 1)
		w.buf = appendJSONString(w.buf, o.sh.keys[i])
		w.buf = append(w.buf, ':')
		if w.indent {
			w.buf = append(w.buf, ' ')
		}
		if err := w.value(v, depth+1); err != nil {
			return err
		}
		if err := w.charge(); err != nil {
			return err
		}
	}
	if !first {
		w.newline(depth)
	}
	w.buf = append(w.buf, '}')
	return nil
}

const hexDigits = "0123456789abcdef"

// plainJSON marks the ASCII bytes that need no escape.
var plainJSON [256]bool

func init() {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		plainJSON[c] = c != '"' && c != '\\'
	}
	for c := utf8.RuneSelf; c < 256; c++ {
		plainJSON[c] = c != 0xED // may begin a lone surrogate
	}
}

// appendJSONString quotes s as JSON.stringify does.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plainJSON[c] {
			i++
			continue
		}
		if c == 0xED {
			if i+2 < len(s) && s[i+1] >= 0xA0 {
				r := surrogateAt(s[i:])
				dst = append(dst, s[from:i]...)
				dst = append(
					dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15],
				)
				i += 3
				from = i
			} else {
				i++
			}
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		from = i
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}
