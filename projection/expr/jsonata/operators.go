package jsonata

import (
	"math"
	"strings"
)

func (c *compiler) binary(n *ast) node {
	if n.str == "&" {
		// A chain of & is one node: a row of pieces joined once.
		var parts []*ast
		x := n
		for {
			parts = append(parts, x.rhs)
			if l := x.lhs; l.kind == aBinary && l.str == "&" && len(l.preds) == 0 && l.group == nil {
				x = l
				continue
			}
			parts = append(parts, x.lhs)
			break
		}
		cn := &concatNode{}
		for i := len(parts) - 1; i >= 0; i-- {
			cn.parts = append(cn.parts, c.compile(parts[i]))
		}
		return cn
	}
	l, r := c.compile(n.lhs), c.compile(n.rhs)
	switch n.str {
	case "=", "!=":
		return &equalNode{l, r, n.str == "!="}
	case "<", "<=", ">", ">=":
		return &compareNode{l, r, n.str, n.pos}
	case "and":
		return &andNode{l, r}
	case "or":
		return &orNode{l, r}
	case "in":
		return &inNode{l, r}
	case "..":
		return &rangeNode{l, r, n.pos}
	}
	return &arithmeticNode{l, r, n.str[0], n.pos}
}

// operands evaluates both sides of an operator, the left one first.
func (ev *evaluator) operands(lhs, rhs node, in value, fr *frame) (l, r value, err error) {
	l, err = lhs.eval(ev, in, fr)
	if err != nil {
		return undefined, undefined, err
	}
	r, err = rhs.eval(ev, in, fr)
	return l, r, err
}

type arithmeticNode struct {
	lhs, rhs node
	op       byte
	pos      int
}

func (n *arithmeticNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	l, r, err := ev.operands(n.lhs, n.rhs, in, fr)
	if err != nil {
		return undefined, err
	}
	if !l.isUndefined() {
		ok, err := ev.isNumeric(l, n.pos)
		if err != nil {
			return undefined, err
		}
		if !ok {
			return undefined, ev.fail("T2001", n.pos, string(n.op), "the left side of %c must be a number", n.op)
		}
	}
	if !r.isUndefined() {
		ok, err := ev.isNumeric(r, n.pos)
		if err != nil {
			return undefined, err
		}
		if !ok {
			return undefined, ev.fail("T2002", n.pos, string(n.op), "the right side of %c must be a number", n.op)
		}
	}
	if l.isUndefined() || r.isUndefined() {
		return undefined, nil
	}
	x, y := l.num(), r.num()
	switch n.op {
	case '+':
		x += y
	case '-':
		x -= y
	case '*':
		x *= y
	case '/':
		x /= y
	case '%':
		x = math.Mod(x, y)
	}
	return numberValue(x), nil
}

type equalNode struct {
	lhs, rhs node
	negate   bool
}

func (n *equalNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	l, r, err := ev.operands(n.lhs, n.rhs, in, fr)
	if err != nil {
		return undefined, err
	}
	// Neither = nor != holds when a side is missing.
	if l.isUndefined() || r.isUndefined() {
		return vFalse, nil
	}
	eq, err := ev.equal(l, r, 0)
	return boolValue(eq != n.negate), err
}

// equal compares deeply. The order of an object's keys does not matter.
func (ev *evaluator) equal(l, r value, depth int) (bool, error) {
	if l.same(r) {
		return true, nil
	}
	k := l.kind()
	if k != r.kind() || k != kArray && k != kObject {
		return false, nil
	}
	if depth > maxDataDepth {
		return false, ev.tooDeep()
	}
	if k == kArray {
		a, b := l.arr().items, r.arr().items
		if len(a) != len(b) {
			return false, nil
		}
		for i := range a {
			if err := ev.tick(); err != nil {
				return false, err
			}
			if eq, err := ev.equal(a[i], b[i], depth+1); !eq || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	a, b := l.obj(), r.obj()
	if a.len() != b.len() {
		return false, nil
	}
	for i, key := range a.sh.keys {
		if err := ev.tick(); err != nil {
			return false, err
		}
		j := i
		if a.sh != b.sh {
			j = b.sh.find(key)
			if j < 0 {
				return false, nil
			}
		}
		if eq, err := ev.equal(a.vals[i], b.vals[j], depth+1); !eq || err != nil {
			return false, err
		}
	}
	return true, nil
}

type compareNode struct {
	lhs, rhs node
	op       string
	pos      int
}

func (n *compareNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	l, r, err := ev.operands(n.lhs, n.rhs, in, fr)
	if err != nil {
		return undefined, err
	}
	if l.isNumber() && r.isNumber() {
		x, y := l.num(), r.num()
		switch n.op {
		case "<":
			return boolValue(x < y), nil
		case "<=":
			return boolValue(x <= y), nil
		case ">":
			return boolValue(x > y), nil
		}
		return boolValue(x >= y), nil
	}
	if !comparable(l) || !comparable(r) {
		return undefined, ev.fail("T2010", n.pos, n.op, "both sides of %s must be numbers or strings", n.op)
	}
	if l.isUndefined() || r.isUndefined() {
		return undefined, nil
	}
	if l.isNumber() != r.isNumber() {
		return undefined, ev.fail("T2009", n.pos, n.op, "both sides of %s must be of the same kind", n.op)
	}
	a, b := l.str(), r.str()
	if err := ev.step(min(len(a), len(b)) >> 4); err != nil {
		return undefined, err
	}
	cmp := compareText(a, b)
	switch n.op {
	case "<":
		return boolValue(cmp < 0), nil
	case "<=":
		return boolValue(cmp <= 0), nil
	case ">":
		return boolValue(cmp > 0), nil
	}
	return boolValue(cmp >= 0), nil
}

func comparable(v value) bool {
	switch v.kind() {
	case kUndefined, kNumber, kString:
		return true
	}
	return false
}

type andNode struct{ lhs, rhs node }

func (n *andNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	l, err := n.lhs.eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	if ok, err := ev.truth(l); !ok || err != nil {
		return vFalse, err
	}
	r, err := n.rhs.eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	ok, err := ev.truth(r)
	return boolValue(ok), err
}

type orNode struct{ lhs, rhs node }

func (n *orNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	l, err := n.lhs.eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	if ok, err := ev.truth(l); ok || err != nil {
		return vTrue, err
	}
	r, err := n.rhs.eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	ok, err := ev.truth(r)
	return boolValue(ok), err
}

// inNode is membership by identity, not by deep equality.
type inNode struct{ lhs, rhs node }

func (n *inNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	l, r, err := ev.operands(n.lhs, n.rhs, in, fr)
	if err != nil {
		return undefined, err
	}
	if l.isUndefined() || r.isUndefined() {
		return vFalse, nil
	}
	if !r.isArray() {
		return boolValue(l.same(r)), nil
	}
	for _, it := range r.arr().items {
		if err := ev.tick(); err != nil {
			return undefined, err
		}
		if l.same(it) {
			return vTrue, nil
		}
	}
	return vFalse, nil
}

// maxRange is how many numbers [a..b] may have, as in jsonata-js.
const maxRange = 1e7

type rangeNode struct {
	lhs, rhs node
	pos      int
}

func (n *rangeNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	l, r, err := ev.operands(n.lhs, n.rhs, in, fr)
	if err != nil {
		return undefined, err
	}
	isInt := func(v value) bool {
		return v.isNumber() && v.num() == math.Trunc(v.num()) && !math.IsInf(v.num(), 0)
	}
	if !l.isUndefined() && !isInt(l) {
		return undefined, ev.fail("T2003", n.pos, "..", "the left side of .. must be an integer")
	}
	if !r.isUndefined() && !isInt(r) {
		return undefined, ev.fail("T2004", n.pos, "..", "the right side of .. must be an integer")
	}
	if l.isUndefined() || r.isUndefined() || l.num() > r.num() {
		return undefined, nil
	}
	size := r.num() - l.num() + 1
	if size > maxRange {
		return undefined, ev.fail("D2014", n.pos, "..", "the range has more than 10,000,000 numbers")
	}
	if int(size) > ev.lim.SequenceLength {
		return undefined, ev.tooLong()
	}
	items, err := ev.values(int(size))
	if err != nil {
		return undefined, err
	}
	from := l.num()
	for i := range items {
		items[i] = numberValue(from + float64(i))
		if i&4095 == 4095 {
			if err := ev.step(64); err != nil {
				return undefined, err
			}
		}
	}
	return ev.newArray(items, fSequence), nil
}

// concatNode is a & b & c.
type concatNode struct{ parts []node }

func (n *concatNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	var few [8]string
	j := joiner{ev: ev, pieces: few[:0]}
	// a & b evaluates both sides before it looks at either.
	a, err := n.parts[0].eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	b, err := n.parts[1].eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	if err := j.add(a); err != nil {
		return undefined, err
	}
	if err := j.add(b); err != nil {
		return undefined, err
	}
	for _, p := range n.parts[2:] {
		v, err := p.eval(ev, in, fr)
		if err != nil {
			return undefined, err
		}
		if err := j.add(v); err != nil {
			return undefined, err
		}
	}
	return j.text()
}

// joiner gathers the pieces of a text that is put together once.
type joiner struct {
	ev     *evaluator
	pieces []string
	size   int
}

func (j *joiner) add(v value) error {
	s, err := j.ev.stringify(v, false)
	if err != nil || s == "" {
		return err
	}
	if k := len(j.pieces); k > 0 && startsLow(s) && endsHigh(j.pieces[k-1]) {
		s = joinText(j.pieces[k-1], s)
		j.size -= len(j.pieces[k-1])
		j.pieces = j.pieces[:k-1]
	}
	j.pieces = append(j.pieces, s)
	j.size += len(s)
	return nil
}

func (j *joiner) text() (value, error) {
	switch len(j.pieces) {
	case 0:
		return vEmpty, nil
	case 1:
		return stringValue(j.pieces[0]), nil
	}
	if err := j.ev.alloc(j.size); err != nil {
		return undefined, err
	}
	var b strings.Builder
	b.Grow(j.size)
	for _, s := range j.pieces {
		b.WriteString(s)
	}
	return stringValue(b.String()), nil
}
