package jsonata

import "math"

// stageSpec is a predicate behind a step, or #$i behind a predicate.
type stageSpec struct {
	filter   node
	constant bool // filter is the number at
	at       float64
	index    int // slot of the index variable, -1 for a predicate
	pos      int
}

// stage compiles a predicate. tuples says that it filters a tuple stream,
// whose variables it can see.
func (c *compiler) stage(st stage, tuples bool, layout *tupleLayout) stageSpec {
	if st.filter == nil {
		return stageSpec{index: layout.slot(st.index), pos: st.pos}
	}
	if f := st.filter; f.kind == aNumber && len(f.preds) == 0 && f.group == nil {
		return stageSpec{constant: true, at: f.num, index: -1, pos: st.pos}
	}
	if tuples {
		if layout == nil {
			layout = &tupleLayout{}
		}
		s := c.openTuples(layout)
		defer c.close(s)
	}
	return stageSpec{filter: c.compile(st.filter), index: -1, pos: st.pos}
}

// filterNode is a predicate on a finished value.
type filterNode struct {
	inner  node
	stages []stageSpec
	tuples bool
	layout *tupleLayout
	keep   bool
	raw    bool // see sequencer
}

func (n *filterNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	v, err := n.inner.eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	if n.tuples {
		if v.isArray() && v.arr().tuples != nil {
			ts := v.arr().tuples
			for i := range n.stages {
				ts, err = n.stages[i].applyTuples(ev, ts, n.layout, fr)
				if err != nil {
					return undefined, err
				}
			}
			return ev.tupleArray(ts), nil
		}
		// No tuples came: the predicates still expect a frame of theirs.
		fr, err = ev.tupleFrame(&tuple{}, n.layout, fr)
		if err != nil {
			return undefined, err
		}
	}
	for i := range n.stages {
		v, err = n.stages[i].apply(ev, v, fr)
		if err != nil {
			return undefined, err
		}
	}
	if n.raw {
		return v, nil
	}
	if n.keep && !v.isUndefined() && !v.isArray() {
		return ev.keepArray(v)
	}
	return ev.collapseKeep(v, n.keep), nil
}

// collapseKeep is collapse for a node that may carry [].
func (ev *evaluator) collapseKeep(v value, keep bool) value {
	if keep && v.isArray() {
		if a := v.arr(); a.is(fSequence) && !a.is(fKeep) {
			return collapse(ev.newArray(a.items, a.flags|fKeep))
		}
	}
	return collapse(v)
}

// apply filters a value. The result is a sequence that is not collapsed yet.
func (st *stageSpec) apply(ev *evaluator, in value, fr *frame) (value, error) {
	var one [1]value
	var items []value
	if in.isArray() {
		items = in.arr().items
	} else {
		one[0] = in
		items = one[:]
	}
	if st.constant {
		if err := ev.tick(); err != nil {
			return undefined, err
		}
		at := math.Floor(st.at)
		if at < 0 {
			at += float64(len(items))
		}
		if at < 0 || at >= float64(len(items)) || items[int(at)].isUndefined() {
			return emptySequence, nil
		}
		return items[int(at)], nil
	}
	mark := len(ev.scratch)
	for i := 0; i < len(items); i++ {
		ok, err := st.keeps(ev, items[i], i, len(items), fr)
		if err != nil {
			return undefined, err
		}
		if ok > 0 {
			for ; ok > 0; ok-- {
				if err := ev.push(items[i]); err != nil {
					return undefined, err
				}
			}
		}
	}
	if v := ev.scratch[mark:]; len(v) == 1 && !v[0].isArray() && !v[0].isUndefined() {
		// A sequence of one is what the caller makes of it anyway.
		v := ev.scratch[mark]
		ev.scratch = ev.scratch[:mark]
		return v, nil
	}
	if len(ev.scratch) == mark {
		return emptySequence, nil
	}
	return ev.takeArray(mark, fSequence)
}

// emptySequence is what a predicate leaves that nothing satisfies. It is not
// undefined yet: the next predicate has no item to look at.
var emptySequence = arrayValue(&array{flags: fSequence})

// keeps evaluates a predicate for item i of n and tells how often the item is
// selected: a list of positions may name one more than once.
func (st *stageSpec) keeps(ev *evaluator, item value, i, n int, fr *frame) (int, error) {
	if err := ev.tick(); err != nil {
		return 0, err
	}
	r, err := st.filter.eval(ev, item, fr)
	if err != nil {
		return 0, err
	}
	switch r.kind() {
	case kBool:
		if r.bool() {
			return 1, nil
		}
		return 0, nil
	case kNumber:
		ok, err := ev.isNumeric(r, st.pos)
		if err != nil {
			return 0, err
		}
		if ok {
			return position(r.num(), i, n), nil
		}
	case kArray:
		hits, all := 0, true
		for _, p := range r.arr().items {
			if err := ev.tick(); err != nil {
				return 0, err
			}
			ok, err := ev.isNumeric(p, st.pos)
			if err != nil {
				return 0, err
			}
			if !ok {
				all = false
				break
			}
			hits += position(p.num(), i, n)
		}
		if all {
			return hits, nil
		}
	}
	ok, err := ev.truth(r)
	if ok {
		return 1, err
	}
	return 0, err
}

// position is 1 when at, counted from either end, means item i of n.
func position(at float64, i, n int) int {
	at = math.Floor(at)
	if at < 0 {
		at += float64(n)
	}
	if at == float64(i) {
		return 1
	}
	return 0
}
