package jsonata

// decoder reads JSON text into values. Strings are parts of the one copy of
// the text, objects with the same keys share a shape.
type decoder struct {
	src    string
	pos    int
	shapes *shape
	guess  *shape // the shape of the object decoded last: records follow records
	vals   []value
	objs   []object
	arrs   []array
	stack  []value
	charge func(n int) error
	spent  int
}

// maxInputDepth is how deep input may nest.
const maxInputDepth = 10000

func badJSON(pos int) *Error {
	return newError("L1003", "the input is not valid JSON (byte %d)", pos)
}

func (d *decoder) skipSpace() {
	for d.pos < len(d.src) {
		switch d.src[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// document decodes one value that must be the whole text.
func (d *decoder) document() (value, error) {
	v, err := d.value(0)
	if err != nil {
		return undefined, err
	}
	d.skipSpace()
	if d.pos != len(d.src) {
		return undefined, badJSON(d.pos)
	}
	return v, d.settle(0)
}

// settle reports the bytes allocated since the last time.
func (d *decoder) settle(n int) error {
	d.spent += n
	if d.charge == nil || d.spent == 0 {
		return nil
	}
	n, d.spent = d.spent, 0
	return d.charge(n)
}

func (d *decoder) value(depth int) (value, error) {
	d.skipSpace()
	if d.pos >= len(d.src) || depth > maxInputDepth {
		return undefined, badJSON(d.pos)
	}
	switch c := d.src[d.pos]; c {
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case '"':
		s, err := d.string()
		return stringValue(s), err
	case 't':
		return vTrue, d.word("true")
	case 'f':
		return vFalse, d.word("false")
	case 'n':
		return null, d.word("null")
	}
	n := scanNumber(d.src[d.pos:])
	if n == 0 {
		return undefined, badJSON(d.pos)
	}
	f := parseDecimal(d.src[d.pos : d.pos+n])
	d.pos += n
	return numberValue(f), nil
}

func (d *decoder) word(w string) error {
	if len(d.src)-d.pos < len(w) || d.src[d.pos:d.pos+len(w)] != w {
		return badJSON(d.pos)
	}
	d.pos += len(w)
	return nil
}

func (d *decoder) string() (string, error) {
	start := d.pos + 1
	for i := start; i < len(d.src); i++ {
		switch c := d.src[i]; {
		case c == '"':
			d.pos = i + 1
			return d.src[start:i], nil
		case c == '\\':
			return d.escaped(start, i)
		case c < 0x20:
			return "", badJSON(i)
		}
	}
	return "", badJSON(len(d.src))
}

func (d *decoder) escaped(start, i int) (string, error) {
	buf := append(make([]byte, 0, i-start+32), d.src[start:i]...)
	for i < len(d.src) {
		c := d.src[i]
		switch {
		case c == '"':
			d.pos = i + 1
			d.spent += cap(buf)
			return string(buf), nil
		case c < 0x20:
			return "", badJSON(i)
		case c != '\\':
			buf = append(buf, c)
			i++
			continue
		}
		i++
		if i >= len(d.src) {
			break
		}
		switch c = d.src[i]; c {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			buf = append(buf, escaped[c])
		case 'u':
			r, ok := hex4(d.src[i+1:])
			if !ok {
				return "", badJSON(i)
			}
			buf = appendCodePoint(buf, r)
			i += 4
		default:
			return "", badJSON(i)
		}
		i++
	}
	return "", badJSON(len(d.src))
}

func (d *decoder) room(n int) []value {
	d.spent += n * valueSize
	if n > len(d.vals) {
		if n >= 256 {
			return make([]value, n)
		}
		size := 32
		if len(d.src) > 4096 {
			size = 1024
		}
		d.vals = make([]value, max(n, size))
	}
	s := d.vals[:n:n]
	d.vals = d.vals[n:]
	return s
}

func (d *decoder) newArray(items []value) value {
	if len(d.arrs) == 0 {
		d.arrs = make([]array, 8)
	}
	a := &d.arrs[0]
	d.arrs = d.arrs[1:]
	a.items = items
	d.spent += 48
	return arrayValue(a)
}

func (d *decoder) newObject(sh *shape, vals []value) value {
	if len(d.objs) == 0 {
		d.objs = make([]object, 16)
	}
	o := &d.objs[0]
	d.objs = d.objs[1:]
	o.sh, o.vals = sh, vals
	d.spent += 32
	return objectValue(o)
}

func (d *decoder) array(depth int) (value, error) {
	d.pos++
	mark := len(d.stack)
	d.skipSpace()
	if d.pos < len(d.src) && d.src[d.pos] == ']' {
		d.pos++
		return d.newArray(nil), nil
	}
	for {
		v, err := d.value(depth + 1)
		if err != nil {
			return undefined, err
		}
		d.stack = append(d.stack, v)
		d.skipSpace()
		if d.pos >= len(d.src) {
			return undefined, badJSON(d.pos)
		}
		switch d.src[d.pos] {
		case ',':
			d.pos++
		case ']':
			d.pos++
			items := d.room(len(d.stack) - mark)
			copy(items, d.stack[mark:])
			d.stack = d.stack[:mark]
			if d.spent > 1<<14 {
				if err := d.settle(0); err != nil {
					return undefined, err
				}
			}
			return d.newArray(items), nil
		default:
			return undefined, badJSON(d.pos)
		}
	}
}

// key reads a member's name and the colon behind it.
func (d *decoder) key() (string, error) {
	d.skipSpace()
	if d.pos >= len(d.src) || d.src[d.pos] != '"' {
		return "", badJSON(d.pos)
	}
	k, err := d.string()
	if err != nil {
		return "", err
	}
	d.skipSpace()
	if d.pos >= len(d.src) || d.src[d.pos] != ':' {
		return "", badJSON(d.pos)
	}
	d.pos++
	return k, nil
}

// more reads what stands behind a member: true for a comma, false for the end.
func (d *decoder) more() (bool, error) {
	d.skipSpace()
	if d.pos >= len(d.src) {
		return false, badJSON(d.pos)
	}
	d.pos++
	switch d.src[d.pos-1] {
	case ',':
		return true, nil
	case '}':
		return false, nil
	}
	return false, badJSON(d.pos - 1)
}

func (d *decoder) object(depth int) (value, error) {
	d.pos++
	if d.shapes == nil {
		d.shapes = &shape{}
	}
	d.skipSpace()
	if d.pos < len(d.src) && d.src[d.pos] == '}' {
		d.pos++
		return d.newObject(d.shapes, nil), nil
	}
	mark := len(d.stack)
	sh, guess := d.shapes, d.guess
	var big *builder // for objects too large for a shared shape
	for {
		k, err := d.key()
		if err != nil {
			return undefined, err
		}
		v, err := d.value(depth + 1)
		if err != nil {
			return undefined, err
		}
		n := len(d.stack) - mark
		switch {
		case big != nil:
			big.set(k, v)
		case guess != nil && n < len(guess.keys) && guess.keys[n] == k && sh == nil:
			d.stack = append(d.stack, v)
		case guess != nil && n == 0 && guess.keys[0] == k:
			sh = nil // follow the guess while it holds
			d.stack = append(d.stack, v)
		default:
			if sh == nil { // the guess failed after n keys
				sh = d.shapes
				for _, g := range guess.keys[:n] {
					sh = sh.with(g)
				}
				guess = nil
			}
			if i := sh.find(k); i >= 0 {
				d.stack[mark+i] = v
				break
			}
			if n >= sharedShape {
				big = &builder{sh: newShape(append([]string(nil), sh.keys...)), own: true}
				big.vals = append(big.vals, d.stack[mark:]...)
				d.stack = d.stack[:mark]
				big.set(k, v)
				break
			}
			sh = sh.with(k)
			guess = nil
			d.spent += 16
			d.stack = append(d.stack, v)
		}
		more, err := d.more()
		if err != nil {
			return undefined, err
		}
		if !more {
			break
		}
	}
	if big != nil {
		o := big.object()
		d.spent += len(o.vals) * 96
		return objectValue(o), d.settle(0)
	}
	n := len(d.stack) - mark
	if sh == nil {
		sh = guess
		if n < len(guess.keys) {
			sh = d.shapes
			for _, g := range guess.keys[:n] {
				sh = sh.with(g)
			}
		}
	}
	vals := d.room(n)
	copy(vals, d.stack[mark:])
	d.stack = d.stack[:mark]
	d.guess = sh
	if sh.ints {
		sh, vals = indexesFirst(sh, vals)
	}
	return d.newObject(sh, vals), nil
}

// skip passes over a value without building it. It looks only at brackets and
// strings; what is never read need not be valid inside.
func (d *decoder) skip() error {
	d.skipSpace()
	depth := 0
	for i := d.pos; i < len(d.src); i++ {
		switch d.src[i] {
		case '"':
			i++
			for i < len(d.src) && d.src[i] != '"' {
				if d.src[i] == '\\' {
					i++
				}
				i++
			}
			if i >= len(d.src) {
				return badJSON(len(d.src))
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth == 0 {
				d.pos = i
				return nil
			}
			depth--
		case ',':
			if depth == 0 {
				d.pos = i
				return nil
			}
			continue
		default:
			continue
		}
		if depth == 0 {
			d.pos = i + 1
			return nil
		}
	}
	d.pos = len(d.src)
	if depth > 0 {
		return badJSON(d.pos)
	}
	return nil
}
