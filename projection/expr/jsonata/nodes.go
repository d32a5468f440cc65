package jsonata

import "math"

// constNode is a literal.
type constNode struct{ v value }

func (n *constNode) eval(*evaluator, value, *frame) (value, error) { return n.v, nil }

// contextNode is $.
type contextNode struct{}

func (contextNode) eval(_ *evaluator, in value, _ *frame) (value, error) {
	if in.isArray() {
		if a := in.arr(); a.is(fOuter) && len(a.items) > 0 {
			in = a.items[0]
		}
		return collapse(in), nil
	}
	return in, nil
}

// rootNode is $$.
type rootNode struct{}

func (rootNode) eval(ev *evaluator, _ value, _ *frame) (value, error) { return ev.root, nil }

// varNode reads a variable. A name can be assigned in several scopes; the
// innermost that has been assigned by now counts, then what the caller bound,
// then the builtin of that name.
type varNode struct {
	refs    []slotRef
	name    string
	builtin *builtin
	keep    bool
}

func (n *varNode) eval(ev *evaluator, _ value, fr *frame) (value, error) {
	for _, r := range n.refs {
		f := fr
		for i := r.up; i > 0; i-- {
			f = f.parent
		}
		if v := f.slots[r.slot]; !v.isUnbound() {
			return collapse(v), nil
		}
	}
	if ev.bindings != nil {
		if v, ok := ev.bindings[n.name]; ok {
			return collapse(v), nil
		}
	}
	if n.builtin != nil {
		return n.builtin.value, nil
	}
	return undefined, nil
}

type bindNode struct {
	value    node
	up, slot int
}

func (n *bindNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	v, err := n.value.eval(ev, in, fr)
	if err != nil {
		return v, err
	}
	f := fr
	for i := n.up; i > 0; i-- {
		f = f.parent
	}
	f.slots[n.slot] = v
	return collapse(v), nil
}

// blockNode is ( ...; ... ). Its variables live in the frame around it unless
// a closure may keep them.
type blockNode struct {
	list         []node
	first, count int
	frame        *frameInfo
	tail         bool // its value is that of a lambda, whose caller finishes it
}

func (n *blockNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if n.frame != nil {
		var err error
		fr, err = ev.newFrame(n.frame.slots, fr)
		if err != nil {
			return undefined, err
		}
	} else {
		for i := n.first; i < n.first+n.count; i++ {
			fr.slots[i] = unbound
		}
	}
	var v value
	for _, e := range n.list {
		var err error
		v, err = e.eval(ev, in, fr)
		if err != nil {
			return undefined, err
		}
	}
	if n.frame != nil && !n.frame.captured {
		ev.release(fr)
	}
	if n.tail {
		return v, nil
	}
	return collapse(v), nil
}

type conditionNode struct {
	cond, yes, no node
	tail          bool
}

func (n *conditionNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	c, err := n.cond.eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	ok, err := ev.truth(c)
	if err != nil {
		return undefined, err
	}
	var v value
	if ok {
		v, err = n.yes.eval(ev, in, fr)
	} else if n.no != nil {
		v, err = n.no.eval(ev, in, fr)
	}
	if n.tail {
		return v, err
	}
	return collapse(v), err
}

// defaultNode is a ?: b.
type defaultNode struct {
	lhs, rhs node
	tail     bool
}

func (n *defaultNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	v, err := n.lhs.eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	if ok, err := ev.truth(v); ok || err != nil {
		return collapse(v), err
	}
	return otherwise(ev, n.rhs, n.tail, in, fr)
}

// otherwise evaluates the right side of ?: or ??.
func otherwise(ev *evaluator, rhs node, tail bool, in value, fr *frame) (value, error) {
	v, err := rhs.eval(ev, in, fr)
	if tail {
		return v, err
	}
	return collapse(v), err
}

// coalesceNode is a ?? b.
type coalesceNode struct {
	lhs, rhs node
	tail     bool
}

func (n *coalesceNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	v, err := n.lhs.eval(ev, in, fr)
	if err != nil || !v.isUndefined() {
		return collapse(v), err
	}
	return otherwise(ev, n.rhs, n.tail, in, fr)
}

type negateNode struct {
	arg node
	pos int
}

func (n *negateNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	v, err := n.arg.eval(ev, in, fr)
	if err != nil || v.isUndefined() {
		return undefined, err
	}
	ok, err := ev.isNumeric(v, n.pos)
	if err != nil {
		return undefined, err
	}
	if !ok {
		return undefined, ev.fail("D1002", n.pos, "-", "cannot negate a value that is not a number")
	}
	return numberValue(-v.num()), nil
}

// isNumeric tells a usable number; an infinite one is an error the moment it
// is used.
func (ev *evaluator) isNumeric(v value, pos int) (bool, error) {
	if !v.isNumber() {
		return false, nil
	}
	f := v.num()
	if math.IsNaN(f) {
		return false, nil
	}
	if math.IsInf(f, 0) {
		return false, ev.fail("D1001", pos, "", "the number is out of range")
	}
	return true, nil
}

// arrayNode is [ ... ]. Items that are arrays are spliced in unless they were
// written as brackets themselves.
type arrayNode struct {
	items []arrayItem
	cons  bool
}

type arrayItem struct {
	node   node
	nested bool
}

func (n *arrayNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	mark := len(ev.scratch)
	flags := uint8(0)
	// A single array item is taken over as it is, flags and all.
	only := undefined
	for i := range n.items {
		it := &n.items[i]
		v, err := it.node.eval(ev, in, fr)
		if err != nil {
			return undefined, err
		}
		if v.isUndefined() {
			continue
		}
		if !it.nested && v.isArray() {
			if len(n.items) == 1 {
				only = v
				break
			}
			if err := ev.pushAll(v.arr().items); err != nil {
				return undefined, err
			}
			continue
		}
		if err := ev.push(v); err != nil {
			return undefined, err
		}
	}
	if n.cons {
		flags |= fCons
	}
	if !only.isUndefined() {
		// The items are shared; only the header is new.
		if err := ev.tick(); err != nil {
			return undefined, err
		}
		return ev.newArray(only.arr().items, flags), nil
	}
	return ev.takeArray(mark, flags)
}

// sequencer is a node whose value is a sequence that it collapses itself:
// leaveRaw tells it not to, because predicates or a grouping that hang on it come
// first. They see no item in an empty sequence, and one in a sequence of a list.
type sequencer interface{ leaveRaw() }

func (n *nameNode) leaveRaw()        { n.raw = true }
func (n *wildcardNode) leaveRaw()    { n.raw = true }
func (n *descendantsNode) leaveRaw() { n.raw = true }
func (n *builtinCall) leaveRaw()     { n.raw = true }
func (n *callNode) leaveRaw()        { n.raw = true }
func (n *applyNode) leaveRaw()       { n.raw = true }
func (n *filterNode) leaveRaw()      { n.raw = true }

// nameNode is one name evaluated on its own.
type nameNode struct {
	name  string
	cache int
	keep  bool
	raw   bool
}

func (n *nameNode) eval(ev *evaluator, in value, _ *frame) (value, error) {
	if n.raw && in.isArray() {
		mark := len(ev.scratch)
		if err := ev.membersOf(in.arr().items, n.name, n.cache, 0); err != nil {
			return undefined, err
		}
		return ev.takeArray(mark, fSequence)
	}
	return ev.member(in, n.name, n.cache, n.keep)
}

// member looks a name up in a value: in every element when it is an array.
func (ev *evaluator) member(in value, name string, cache int, keep bool) (value, error) {
	switch in.kind() {
	case kObject:
		return ev.get(in.obj(), name, cache), nil
	case kArray:
		mark := len(ev.scratch)
		if err := ev.membersOf(in.arr().items, name, cache, 0); err != nil {
			return undefined, err
		}
		return ev.finish(mark, keep)
	}
	return undefined, nil
}

// get looks a name up in an object, remembering the place for the next one of
// the same shape.
func (ev *evaluator) get(o *object, name string, cache int) value {
	c := &ev.caches[cache]
	if c.sh != o.sh {
		c.sh, c.i = o.sh, o.sh.find(name)
	}
	if c.i < 0 {
		return undefined
	}
	return o.vals[c.i]
}

// membersOf pushes what the elements have under a name, flattening one level.
func (ev *evaluator) membersOf(items []value, name string, cache, depth int) error {
	if depth > maxDataDepth {
		return ev.tooDeep()
	}
	for _, it := range items {
		if err := ev.tick(); err != nil {
			return err
		}
		switch it.kind() {
		case kObject:
			v := ev.get(it.obj(), name, cache)
			if v.isUndefined() {
				continue
			}
			if v.isArray() {
				if err := ev.pushAll(v.arr().items); err != nil {
					return err
				}
			} else if err := ev.push(v); err != nil {
				return err
			}
		case kArray:
			if err := ev.membersOf(it.arr().items, name, cache, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxDataDepth bounds recursion into nested data.
const maxDataDepth = 10000

type wildcardNode struct{ keep, raw bool }

func (n *wildcardNode) eval(ev *evaluator, in value, _ *frame) (value, error) {
	if in.isArray() {
		if a := in.arr(); a.is(fOuter) && len(a.items) > 0 {
			in = a.items[0]
		}
	}
	mark := len(ev.scratch)
	list := false
	var vals []value
	switch in.kind() {
	case kArray:
		vals = in.arr().items
	case kObject:
		vals = in.obj().vals
	}
	for _, v := range vals {
		if err := ev.tick(); err != nil {
			return undefined, err
		}
		if v.isArray() {
			list = true
			if err := ev.pushFlat(v, 0); err != nil {
				return undefined, err
			}
		} else if err := ev.push(v); err != nil {
			return undefined, err
		}
	}
	if list {
		return ev.takeArray(mark, 0) // one member was a list, so the whole is one
	}
	if n.raw {
		return ev.takeArray(mark, fSequence)
	}
	return ev.finish(mark, n.keep)
}

// pushFlat pushes the leaves of nested arrays.
func (ev *evaluator) pushFlat(v value, depth int) error {
	if depth > maxDataDepth {
		return ev.tooDeep()
	}
	if err := ev.tick(); err != nil {
		return err
	}
	if !v.isArray() {
		return ev.push(v)
	}
	for _, it := range v.arr().items {
		if err := ev.pushFlat(it, depth+1); err != nil {
			return err
		}
	}
	return nil
}

type descendantsNode struct{ keep, raw bool }

func (n *descendantsNode) eval(ev *evaluator, in value, _ *frame) (value, error) {
	if in.isUndefined() {
		return undefined, nil
	}
	mark := len(ev.scratch)
	if err := ev.pushDescendants(in, 0); err != nil {
		return undefined, err
	}
	if n.raw && len(ev.scratch) == mark {
		return emptySequence, nil
	}
	return ev.finish(mark, n.keep)
}

func (ev *evaluator) pushDescendants(v value, depth int) error {
	if depth > maxDataDepth {
		return ev.tooDeep()
	}
	if err := ev.tick(); err != nil {
		return err
	}
	switch v.kind() {
	case kArray:
		for _, it := range v.arr().items {
			if err := ev.pushDescendants(it, depth+1); err != nil {
				return err
			}
		}
		return nil
	case kObject:
		if err := ev.push(v); err != nil {
			return err
		}
		for _, it := range v.obj().vals {
			if err := ev.pushDescendants(it, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	return ev.push(v)
}

// truth is the effective boolean value that conditions and predicates use.
func (ev *evaluator) truth(v value) (bool, error) {
	switch v.kind() {
	case kBool:
		return v.bool(), nil
	case kNumber:
		f := v.num()
		if math.IsInf(f, 0) {
			return false, newError("D1001", "the number is out of range")
		}
		return f != 0 && !math.IsNaN(f), nil
	case kString:
		return v.n&lowMask != 0, nil
	case kObject:
		return len(v.obj().vals) > 0, nil
	case kArray:
		return ev.arrayTruth(v.arr(), 0)
	}
	return false, nil
}

// arrayTruth looks at every item, also behind a true one: one of them may be a
// number out of range.
func (ev *evaluator) arrayTruth(a *array, depth int) (bool, error) {
	if depth > maxDataDepth {
		return false, ev.tooDeep()
	}
	some := false
	for _, it := range a.items {
		if err := ev.tick(); err != nil {
			return false, err
		}
		var ok bool
		var err error
		if it.isArray() {
			ok, err = ev.arrayTruth(it.arr(), depth+1)
		} else {
			ok, err = ev.truth(it)
		}
		if err != nil {
			return false, err
		}
		some = some || ok
	}
	return some, nil
}
