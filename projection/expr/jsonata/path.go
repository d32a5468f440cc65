package jsonata

// pathStep is one step between dots.
type pathStep struct {
	node   node // nil for a name
	name   string
	cache  int
	keep   bool
	cons   bool // evaluated once on the whole input: [...] as the first step
	sort   *sortSpec
	stages []stageSpec

	// Slots of the tuple variables this step binds, -1 for none.
	focus, index, ancestor int
}

// pathNode is a path: each step maps every item of the sequence before it.
type pathNode struct {
	steps    []pathStep
	variable bool // the first step is a variable: an input array is one item
	keep     bool
	group    *groupSpec

	// From step tuplesAt on the items are tuples; -1 when they never are.
	tuplesAt   int
	layout     *tupleLayout
	giveTuples bool // the path around this one takes the tuples over
}

// chainNode is a path of names only, by far the most common one.
type chainNode struct {
	steps []pathStep
	keep  bool
}

func (c *compiler) path(n *ast) node {
	for _, s := range n.list {
		if s.tuple {
			return c.tuplePath(n, &tupleLayout{}, false)
		}
	}
	if n.group == nil && len(n.list) == 1 {
		s := n.list[0]
		if s.kind == aName && len(s.stages) == 0 && len(s.preds) == 0 && s.group == nil {
			return &chainNode{steps: []pathStep{c.step(s, nil)}, keep: n.keepSingle || n.keepArray}
		}
	}
	p := &pathNode{tuplesAt: -1, keep: n.keepSingle || n.keepArray}
	p.steps = make([]pathStep, len(n.list))
	names := n.group == nil
	for i, s := range n.list {
		p.steps[i] = c.step(s, nil)
		names = names && s.kind == aName && len(s.stages) == 0 && p.steps[i].node == nil
	}
	if names {
		return &chainNode{steps: p.steps, keep: p.keep}
	}
	first := n.list[0]
	p.variable = first.kind == aVariable
	p.steps[0].cons = first.cons
	if n.group != nil {
		p.group = c.group(n.group)
	}
	return p
}

func (c *compiler) step(s *ast, layout *tupleLayout) pathStep {
	ps := pathStep{keep: s.keepArray, focus: -1, index: -1, ancestor: -1}
	switch s.kind {
	case aName:
		ps.name, ps.cache = s.str, c.newCache()
		if len(s.preds) > 0 || s.group != nil {
			ps.node = c.compile(s)
		}
	case aSort:
		ps.sort = c.sortSpec(s, layout != nil)
	default:
		if layout != nil {
			ps.node = c.tuplesOf(s, layout)
		} else {
			ps.node = c.compile(s)
		}
	}
	if layout == nil {
		for _, st := range s.stages {
			ps.stages = append(ps.stages, c.stage(st, false, nil))
		}
	}
	return ps
}

func (n *chainNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	cur := in
	for i := range n.steps {
		s := &n.steps[i]
		if !cur.isObject() {
			if cur.isArray() {
				return n.many(ev, cur, i)
			}
			if err := ev.tick(); err != nil {
				return undefined, err
			}
			return undefined, nil
		}
		cur = ev.get(cur.obj(), s.name, s.cache)
		ev.fuel--
	}
	if ev.fuel < 0 {
		if err := ev.refuel(); err != nil {
			return undefined, err
		}
	}
	if n.keep {
		return ev.keepArray(cur)
	}
	return cur, nil
}

// keepArray applies [] to what a path without sequences found: a value becomes
// an array of one, an array of the data stays itself, and an array written in
// brackets is one item.
func (ev *evaluator) keepArray(v value) (value, error) {
	if v.isUndefined() {
		return v, nil
	}
	if v.isArray() {
		switch a := v.arr(); {
		case a.is(fSequence):
			return collapse(ev.newArray(a.items, a.flags|fKeep)), nil
		case !a.is(fCons):
			return v, nil
		}
	}
	mark := len(ev.scratch)
	if err := ev.push(v); err != nil {
		return undefined, err
	}
	return ev.takeArray(mark, fSequence|fKeep)
}

// many continues a chain from step i over an array.
func (n *chainNode) many(ev *evaluator, in value, i int) (value, error) {
	base := len(ev.scratch)
	items := in.arr().items
	for ; i < len(n.steps); i++ {
		mark := len(ev.scratch)
		v, done, err := ev.nameStep(&n.steps[i], items, mark, i == len(n.steps)-1)
		if err != nil {
			return undefined, err
		}
		if done {
			ev.scratch = ev.scratch[:base]
			if n.keep {
				return ev.keepArray(v)
			}
			return v, nil
		}
		items = ev.slide(base, mark)
		if len(items) == 0 {
			break
		}
	}
	return ev.finish(base, n.keep)
}

// slide moves what was pushed since mark down to base, over the items that
// are no longer needed, and returns it.
func (ev *evaluator) slide(base, mark int) []value {
	if base != mark {
		n := copy(ev.scratch[base:], ev.scratch[mark:])
		ev.scratch = ev.scratch[:base+n]
	}
	return ev.scratch[base:]
}

// nameStep maps items through a name onto the scratch. On the last step a
// single array is the result as it stands; then done is true.
func (ev *evaluator) nameStep(s *pathStep, items []value, mark int, last bool) (only value, done bool, err error) {
	found := 0
	var first value
	for _, it := range items {
		ev.fuel--
		if ev.fuel < 0 {
			if err := ev.refuel(); err != nil {
				return undefined, false, err
			}
		}
		var v value
		switch it.kind() {
		case kObject:
			v = ev.get(it.obj(), s.name, s.cache)
		case kArray:
			v, err = ev.member(it, s.name, s.cache, s.keep)
			if err != nil {
				return undefined, false, err
			}
		default:
			continue
		}
		if v.isUndefined() {
			continue
		}
		found++
		if !v.isArray() {
			if found == 2 && first.isArray() {
				if err := ev.splice(first); err != nil {
					return undefined, false, err
				}
			}
			if err := ev.push(v); err != nil {
				return undefined, false, err
			}
			continue
		}
		if found == 1 && last {
			first = v
			continue
		}
		if found == 2 && first.isArray() {
			if err := ev.splice(first); err != nil {
				return undefined, false, err
			}
		}
		if err := ev.splice(v); err != nil {
			return undefined, false, err
		}
	}
	if found == 1 && first.isArray() {
		if !first.arr().is(fSequence) {
			return first, true, nil
		}
		return undefined, false, ev.splice(first)
	}
	return undefined, false, nil
}

// splice pushes a value the way a path flattens it: the items of an array,
// unless that was written in brackets on purpose.
func (ev *evaluator) splice(v value) error {
	if v.isArray() && !v.arr().is(fCons) {
		return ev.pushAll(v.arr().items)
	}
	return ev.push(v)
}

func (n *pathNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if n.tuplesAt >= 0 {
		return n.evalTuples(ev, in, fr)
	}
	base := len(ev.scratch)
	v, done, err := n.run(ev, in, fr, len(n.steps))
	if err != nil {
		return undefined, err
	}
	if done {
		ev.scratch = ev.scratch[:base]
		if n.keep {
			v, err = ev.keepArray(v)
			if err != nil {
				return undefined, err
			}
		}
	} else {
		v, err = ev.finishRaw(base, n.keep, n.group != nil)
		if err != nil {
			return undefined, err
		}
	}
	if n.group != nil {
		return n.group.eval(ev, v, fr)
	}
	return v, nil
}

// finishRaw is finish, except that for a grouping even an empty sequence and a
// sequence of one stay what they are.
func (ev *evaluator) finishRaw(mark int, keep, group bool) (value, error) {
	if !group {
		return ev.finish(mark, keep)
	}
	return ev.takeArray(mark, fSequence)
}

// run maps the input through the first count steps, leaving the items on the
// scratch. done means that the result is the array v itself.
func (n *pathNode) run(ev *evaluator, in value, fr *frame, count int) (v value, done bool, err error) {
	base := len(ev.scratch)
	var one [1]value
	var items []value
	if in.isArray() && !n.variable {
		items = in.arr().items
	} else {
		one[0] = in
		items = one[:]
	}
	for i := range count {
		s := &n.steps[i]
		mark := len(ev.scratch)
		last := i == len(n.steps)-1
		switch {
		case i == 0 && s.cons:
			whole := in
			if !in.isArray() || n.variable {
				whole = ev.newArray([]value{in}, fSequence)
			}
			v, err := s.node.eval(ev, whole, fr)
			if err != nil {
				return undefined, false, err
			}
			if last {
				return v, true, nil
			}
			if v.isUndefined() {
				return undefined, false, nil
			}
			if v.isArray() {
				items = v.arr().items
			} else {
				if err := ev.push(v); err != nil {
					return undefined, false, err
				}
				items = ev.scratch[mark:]
			}
			if len(items) == 0 {
				// An empty array ends the path as the empty array it is.
				return v, true, nil
			}
			continue
		case s.sort != nil:
			v, err := s.sort.eval(ev, items, fr, s)
			if err != nil {
				return undefined, false, err
			}
			switch {
			case !v.isArray():
				if err := ev.push(v); err != nil {
					return undefined, false, err
				}
			case !v.arr().is(fSequence) && (last || len(v.arr().items) == 0):
				return v, true, nil
			default:
				if err := ev.pushAll(v.arr().items); err != nil {
					return undefined, false, err
				}
			}
		case s.node == nil && len(s.stages) == 0:
			v, done, err := ev.nameStep(s, items, mark, last)
			if err != nil || done {
				return v, done, err
			}
		default:
			v, done, err := n.mapStep(ev, s, items, fr, last)
			if err != nil || done {
				return v, done, err
			}
		}
		items = ev.slide(base, mark)
		if len(items) == 0 {
			break
		}
	}
	return undefined, false, nil
}

// mapStep maps items through any expression and its predicates.
func (n *pathNode) mapStep(ev *evaluator, s *pathStep, items []value, fr *frame, last bool) (value, bool, error) {
	found := 0
	var first value
	for _, it := range items {
		if err := ev.tick(); err != nil {
			return undefined, false, err
		}
		var v value
		var err error
		if s.node == nil {
			v, err = ev.member(it, s.name, s.cache, s.keep)
		} else {
			v, err = s.node.eval(ev, it, fr)
		}
		if err != nil {
			return undefined, false, err
		}
		for k := range s.stages {
			v, err = s.stages[k].apply(ev, v, fr)
			if err != nil {
				return undefined, false, err
			}
		}
		if v.isUndefined() {
			continue
		}
		found++
		if found == 1 && last {
			first = v
			continue
		}
		if found == 2 && last {
			if err := ev.splice(first); err != nil {
				return undefined, false, err
			}
		}
		if err := ev.splice(v); err != nil {
			return undefined, false, err
		}
	}
	if last && found == 1 {
		if first.isArray() && !first.arr().is(fSequence) {
			return first, true, nil
		}
		return undefined, false, ev.splice(first)
	}
	return undefined, false, nil
}
