package jsonata

import (
	"math"
	"strconv"
	"strings"
)

// matching finds matches one after another, by a regular expression or by any
// function that returns match objects.
type matching struct {
	ev *evaluator
	re *regex
	in *regexInput
	at int

	fn   value // a function other than a regex
	next value
	s    value
	open bool // the first match was asked for: only that one may be empty

	length int  // where to stop looking for further matches
	any    bool // a matcher function may also answer with null, false, 0 or ""
}

// found is one match. Positions are UTF-16 offsets.
type found struct {
	text       string
	start, end int
	groups     []value // undefined for a group that took no part
}

func (ev *evaluator) startMatching(pattern, s value) (*matching, error) {
	m := &matching{ev: ev, s: s, fn: pattern}
	if f := pattern.fn(); f.kind == fnRegex {
		if err := ev.alloc(3 * len(s.str())); err != nil {
			return nil, err
		}
		m.re, m.in = f.re, newRegexInput(s.str())
		m.length = m.in.length()
	}
	return m, nil
}

// step returns the next match; ok is false when there is none.
func (m *matching) step() (f found, ok bool, err error) {
	if err := m.ev.tick(); err != nil {
		return f, false, err
	}
	if m.re == nil {
		return m.stepFunction()
	}
	again := m.open
	m.open = true
	if again && m.at >= m.length {
		return f, false, nil
	}
	spans, err := m.re.match(m.ev, m.in, m.at)
	if err != nil || spans == nil {
		return f, false, err
	}
	f.start, f.end = spans[0], spans[1]
	if again && f.end == f.start {
		return f, false, newError("D1004", "the regular expression matches an empty string")
	}
	m.at = f.end
	f.text = m.in.slice(f.start, f.end)
	if err := m.ev.alloc(len(f.text) + 32*m.re.groups); err != nil {
		return f, false, err
	}
	for g := 1; g <= m.re.groups; g++ {
		if spans[2*g] < 0 {
			f.groups = append(f.groups, undefined)
		} else {
			f.groups = append(f.groups, stringValue(m.in.slice(spans[2*g], spans[2*g+1])))
		}
	}
	return f, true, nil
}

// stepFunction asks a user-defined matcher, which must answer with an object
// of match, start, end, groups and next.
func (m *matching) stepFunction() (f found, ok bool, err error) {
	var v value
	switch {
	case !m.open:
		m.open = true
		v, err = m.ev.apply(m.fn, []value{m.s}, null)
	case m.next.isFunction():
		v, err = m.ev.apply(m.next, nil, null)
	}
	if err != nil {
		return f, false, err
	}
	if v.isUndefined() {
		return f, false, nil
	}
	bad := newError("T1010", "a matcher function must return an object with match, start, end, groups and next")
	if m.any && falsy(v) {
		return f, true, nil
	}
	if !v.isObject() {
		return f, false, bad
	}
	o := v.obj()
	start := o.get("start")
	end := o.get("end")
	groups := o.get("groups")
	next := o.get("next")
	if !start.isNumber() && !end.isNumber() && !groups.isArray() && !next.isFunction() {
		return f, false, bad
	}
	m.next = next
	f.text = textOf(o.get("match"))
	if start.isNumber() && end.isNumber() {
		f.start, f.end = int(start.num()), int(end.num())
	}
	if groups.isArray() {
		f.groups = groups.arr().items
	}
	return f, true, nil
}

// falsy is what JavaScript takes for false, undefined aside.
func falsy(v value) bool {
	switch v.kind() {
	case kNumber:
		return v.num() == 0 || math.IsNaN(v.num())
	case kString:
		return v.str() == ""
	}
	return v == null || v == vFalse
}

// matchState lets a match object continue: its next function.
type matchState struct {
	re   *regex
	in   *regexInput
	at   int
	open bool

	length int // how far JavaScript would look, the length property of its argument
}

// regexCall is a regular expression called like a function. As RegExp.exec
// does, it looks at the text of any value.
func (ev *evaluator) regexCall(re *regex, v, from value) (value, error) {
	s, err := ev.jsText(v, 0)
	if err != nil {
		return undefined, err
	}
	at := from
	if from.isString() {
		if f, err := strconv.ParseFloat(strings.TrimSpace(from.str()), 64); err == nil {
			at = numberValue(f)
		}
	}
	st := &matchState{re: re}
	if at.isNumber() && at.num() > 0 {
		st.at = int(math.Min(at.num(), 1<<40))
	}
	if err := ev.alloc(3 * len(s)); err != nil {
		return undefined, err
	}
	st.in = newRegexInput(s)
	switch {
	case v.isString():
		st.length = st.in.length()
	case v.isArray():
		st.length = len(v.arr().items)
	case v.isFunction():
		st.length = 0
	default:
		st.length = math.MaxInt
	}
	return st.advance(ev)
}

// jsText is what String gives in JavaScript, but for the source of functions.
func (ev *evaluator) jsText(v value, depth int) (string, error) {
	if depth > maxDataDepth {
		return "", ev.tooDeep()
	}
	switch v.kind() {
	case kString:
		return v.str(), nil
	case kNumber:
		return formatJSNumber(v.num()), nil
	case kBool:
		return strconv.FormatBool(v.bool()), nil
	case kNull:
		return "null", nil
	case kArray:
		var b strings.Builder
		for i, it := range v.arr().items {
			if i > 0 {
				b.WriteByte(',')
			}
			if it.isUndefined() || it == null {
				continue
			}
			s, err := ev.jsText(it, depth+1)
			if err != nil {
				return "", err
			}
			if err := ev.alloc(3 * (len(s) + 1)); err != nil {
				return "", err
			}
			b.WriteString(s)
		}
		return fuseSurrogates(b.String()), nil
	case kObject:
		return "[object Object]", nil
	case kFunction:
		return "", nil
	}
	return "undefined", nil
}

func (st *matchState) advance(ev *evaluator) (value, error) {
	m := matching{
		ev:     ev,
		re:     st.re,
		in:     st.in,
		at:     st.at,
		open:   st.open,
		length: st.length,
	}
	f, ok, err := m.step()
	if err != nil || !ok {
		return undefined, err
	}
	return ev.matchObject(f, functionValue(&function{
		kind: fnNext,
		next: &matchState{re: st.re, in: st.in, at: f.end, open: true, length: st.length},
	}))
}

// matchObject is a match as functions see it.
func (ev *evaluator) matchObject(f found, next value) (value, error) {
	b := ev.newBuilder(5)
	b.set("match", stringValue(f.text))
	b.set("start", numberValue(float64(f.start)))
	b.set("end", numberValue(float64(f.end)))
	b.set("groups", ev.newArray(f.groups, 0))
	b.set("next", next)
	return ev.build(&b)
}

func fnContains(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	if args[1].isString() {
		i, err := ev.find(args[0].str(), args[1].str(), 0)
		return boolValue(i >= 0), err
	}
	if !args[1].isFunction() {
		return undefined, nil
	}
	m, err := ev.startMatching(args[1], args[0])
	if err != nil {
		return undefined, err
	}
	m.any = true // it only asks whether the answer is undefined
	_, ok, err := m.step()
	return boolValue(ok), err
}

// missingPattern stands for the uncoded failure of jsonata-js 2.2.1 when a
// pattern argument is missing; a code of our own says what happened.
func missingPattern() *Error {
	return newError("L0007", "the pattern is missing")
}

func fnMatch(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	limit := math.Inf(1)
	if len(args) > 2 && args[2].isNumber() {
		limit = args[2].num()
		if limit < 0 {
			return undefined, newError("D3040", "the limit of $match must not be negative")
		}
	}
	if !args[1].isFunction() {
		return undefined, missingPattern()
	}
	mark := len(ev.scratch)
	if limit > 0 {
		m, err := ev.startMatching(args[1], args[0])
		if err != nil {
			return undefined, err
		}
		f, ok, err := m.step()
		for n := 0.0; ; n++ {
			// jsonata-js looks for one more match before it looks at the limit.
			if err != nil {
				return undefined, err
			}
			if !ok || n >= limit {
				break
			}
			b := ev.newBuilder(3)
			b.set("match", stringValue(f.text))
			b.set("index", numberValue(float64(f.start)))
			b.set("groups", ev.newArray(f.groups, 0))
			var o value
			o, err = ev.build(&b)
			if err != nil {
				return undefined, err
			}
			err = ev.push(o)
			if err != nil {
				return undefined, err
			}
			f, ok, err = m.step()
		}
	}
	return ev.takeArray(mark, fSequence)
}

func fnSplit(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	limit := math.Inf(1)
	if len(args) > 2 && args[2].isNumber() {
		limit = args[2].num()
		if limit < 0 {
			return undefined, newError("D3020", "the limit of $split must not be negative")
		}
	}
	s := args[0].str()
	mark := len(ev.scratch)
	if args[1].isString() {
		limit = math.Trunc(limit)
		sep := args[1].str()
		for at, n := 0, 0.0; n < limit; n++ {
			if sep == "" {
				if at >= len(s) {
					break
				}
				_, size := decodeRune(s[at:])
				// An empty separator cuts between UTF-16 units.
				if size == 4 {
					r, _ := decodeRune(s[at:])
					r -= 0x10000
					hi := appendCodePoint(nil, 0xd800+r>>10)
					if err := ev.push(stringValue(string(hi))); err != nil {
						return undefined, err
					}
					if n++; n < limit {
						if err := ev.push(stringValue(string(appendCodePoint(nil, 0xdc00+r&0x3ff)))); err != nil {
							return undefined, err
						}
					}
				} else if err := ev.push(stringValue(s[at : at+size])); err != nil {
					return undefined, err
				}
				at += size
				continue
			}
			i, err := ev.find(s, sep, at)
			if err != nil {
				return undefined, err
			}
			if i < 0 {
				if err := ev.push(stringValue(s[at:])); err != nil {
					return undefined, err
				}
				break
			}
			if err := ev.push(stringValue(s[at:i])); err != nil {
				return undefined, err
			}
			at = i + len(sep)
			if err := ev.tick(); err != nil {
				return undefined, err
			}
		}
		return ev.takeArray(mark, 0)
	}
	if !args[1].isFunction() {
		return undefined, missingPattern()
	}
	m, err := ev.startMatching(args[1], args[0])
	if err != nil {
		return undefined, err
	}
	if limit == 0 {
		return ev.takeArray(mark, 0)
	}
	cut := newCutter(s, m.in)
	f, ok, err := m.step()
	for n := 0.0; ; n++ {
		if err != nil {
			return undefined, err
		}
		if n >= limit {
			break
		}
		if !ok {
			if err := ev.push(stringValue(cut.rest())); err != nil {
				return undefined, err
			}
			break
		}
		if err := ev.push(stringValue(cut.upTo(f.start, f.end))); err != nil {
			return undefined, err
		}
		f, ok, err = m.step()
	}
	return ev.takeArray(mark, 0)
}

// cutter takes a text apart at increasing UTF-16 positions.
type cutter struct {
	in *regexInput
	at int
}

func newCutter(s string, in *regexInput) *cutter {
	if in == nil {
		in = newRegexInput(s)
	}
	return &cutter{in: in}
}

// upTo returns what stands before start and moves behind end.
func (c *cutter) upTo(start, end int) string {
	n := c.in.length()
	start = min(max(start, 0), n)
	s := ""
	if c.at < start {
		s = c.in.slice(c.at, start)
	}
	c.at = min(max(end, 0), n)
	return s
}

func (c *cutter) rest() string { return c.in.slice(c.at, c.in.length()) }

func fnReplace(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	limit := math.Inf(1)
	if len(args) > 3 && args[3].isNumber() {
		limit = args[3].num()
	}
	if args[1].isString() && args[1].str() == "" {
		return undefined, newError("D3010", "the pattern of $replace must not be empty")
	}
	if limit < 0 {
		return undefined, newError("D3011", "the limit of $replace must not be negative")
	}
	s := args[0].str()
	var out strings.Builder
	write := func(t string) error {
		if err := ev.alloc(3 * len(t)); err != nil { // the buffer grows by doubling
			return err
		}
		out.WriteString(t)
		return nil
	}
	if args[1].isString() {
		pattern, with := args[1].str(), ""
		switch {
		case args[2].isString():
			with = args[2].str()
		case args[2].isUndefined():
			with = "undefined"
		}
		at := 0
		for n := 0.0; n < limit; n++ {
			i, err := ev.find(s, pattern, at)
			if err != nil {
				return undefined, err
			}
			if i < 0 {
				break
			}
			if err := write(s[at:i]); err != nil {
				return undefined, err
			}
			if err := write(with); err != nil {
				return undefined, err
			}
			at = i + len(pattern)
		}
		if at == 0 {
			return args[0], nil
		}
		if err := write(s[at:]); err != nil {
			return undefined, err
		}
		return stringValue(fuseSurrogates(out.String())), nil
	}
	if !args[1].isFunction() {
		return undefined, missingPattern()
	}
	if limit == 0 {
		return args[0], nil
	}
	m, err := ev.startMatching(args[1], args[0])
	if err != nil {
		return undefined, err
	}
	cut := newCutter(s, m.in)
	n := 0.0
	f, ok, err := m.step()
	for ; ; n++ {
		if err != nil {
			return undefined, err
		}
		if !ok || n >= limit {
			break
		}
		if err := write(cut.upTo(f.start, f.end)); err != nil {
			return undefined, err
		}
		var with string
		if args[2].isFunction() {
			with, err = ev.replacement(args[2], f, m)
			if err != nil {
				return undefined, err
			}
		} else if !args[2].isString() {
			return undefined, missingPattern()
		} else if with, err = ev.expand(args[2].str(), f); err != nil {
			return undefined, err
		}
		if err := write(with); err != nil {
			return undefined, err
		}
		f, ok, err = m.step()
	}
	if n == 0 {
		return args[0], nil
	}
	if err := write(cut.rest()); err != nil {
		return undefined, err
	}
	return stringValue(fuseSurrogates(out.String())), nil
}

// replacement calls a replacing function with the match object.
func (ev *evaluator) replacement(fv value, f found, m *matching) (string, error) {
	next := m.next
	if m.re != nil {
		next = functionValue(&function{
			kind: fnNext,
			next: &matchState{re: m.re, in: m.in, at: f.end, open: true, length: m.length},
		})
	}
	o, err := ev.matchObject(f, next)
	if err != nil {
		return "", err
	}
	v, err := ev.apply(fv, []value{o}, null)
	if err != nil {
		return "", err
	}
	if !v.isString() {
		return "", newError("D3012", "the function of $replace must return a string")
	}
	return v.str(), nil
}

// expand puts groups into a replacement: $0 is the match, $$ a dollar, and of
// $12 as many digits count as there are groups for.
func (ev *evaluator) expand(t string, f found) (string, error) {
	if strings.IndexByte(t, '$') < 0 {
		return t, nil
	}
	if err := ev.step(len(t) >> 2); err != nil {
		return "", err
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(t, '$')
		if i < 0 {
			b.WriteString(t)
			return b.String(), nil
		}
		b.WriteString(t[:i])
		t = t[i+1:]
		switch {
		case t == "" || t[0] != '$' && !isDigit(t[0]):
			b.WriteByte('$')
			continue
		case t[0] == '$':
			b.WriteByte('$')
			t = t[1:]
			continue
		case t[0] == '0':
			b.WriteString(f.text)
			t = t[1:]
			if err := ev.alloc(len(f.text)); err != nil {
				return "", err
			}
			continue
		}
		digits := 0
		most := len(formatJSNumber(float64(len(f.groups))))
		for digits < len(t) && digits < most && isDigit(t[digits]) {
			digits++
		}
		n := 0
		for _, c := range []byte(t[:digits]) {
			n = n*10 + int(c-'0')
		}
		if digits > 1 && n > len(f.groups) {
			digits--
			n /= 10
		}
		t = t[digits:]
		if n <= len(f.groups) && len(f.groups) > 0 {
			g := textOf(f.groups[n-1])
			if err := ev.alloc(len(g)); err != nil {
				return "", err
			}
			b.WriteString(g)
		}
	}
}
