package jsonata

// A path with @, # or % carries tuples instead of plain items: the item and
// the variables bound on the way to it. The variables of one path have a fixed
// layout; every expression behind the first binding runs in a frame that shows
// one tuple.

// tupleLayout gives the tuple variables of a path their slots.
type tupleLayout struct{ names []slotName }

func (l *tupleLayout) slot(name string) int {
	for _, n := range l.names {
		if n.name == name {
			return n.slot
		}
	}
	l.names = append(l.names, slotName{name, len(l.names)})
	return len(l.names) - 1
}

type tuple struct {
	at    value   // the item
	slots []value // may be shorter than the layout: the rest is unbound
}

type tupleStream struct{ list []tuple }

// openTuples enters the scope of one tuple.
func (c *compiler) openTuples(l *tupleLayout) *scope {
	s := &scope{parent: c.scope, tuples: true, names: l.names}
	s.frame = &frameInfo{depth: c.scope.frame.depth + 1, slots: len(l.names), fixed: true}
	c.scope = s
	return s
}

func (c *compiler) tuplePath(n *ast, layout *tupleLayout, give bool) node {
	p := &pathNode{keep: n.keepSingle || n.keepArray, tuplesAt: -1, layout: layout, giveTuples: give}
	for i, s := range n.list {
		if s.tuple && p.tuplesAt < 0 {
			p.tuplesAt = i
		}
		if p.tuplesAt < 0 {
			p.steps = append(p.steps, c.step(s, nil))
			continue
		}
		sc := c.openTuples(layout)
		ps := c.step(s, layout)
		c.close(sc)
		if s.focus != "" {
			ps.focus = layout.slot(s.focus)
		}
		if s.index != "" {
			ps.index = layout.slot(s.index)
		}
		if s.ancestor != nil {
			ps.ancestor = layout.slot(s.ancestor.label)
		}
		for _, st := range s.stages {
			ps.stages = append(ps.stages, c.stage(st, true, layout))
		}
		p.steps = append(p.steps, ps)
	}
	first := n.list[0]
	p.variable = first.kind == aVariable
	p.steps[0].cons = first.cons
	if n.group != nil {
		sc := c.openTuples(layout)
		p.group = c.group(n.group)
		p.group.tuples = true
		c.close(sc)
	}
	return p
}

// tupleFrame shows a tuple's variables to an expression.
func (ev *evaluator) tupleFrame(t *tuple, l *tupleLayout, fr *frame) (*frame, error) {
	f, err := ev.newFrame(len(l.names), fr)
	if err != nil {
		return nil, err
	}
	copy(f.slots, t.slots)
	return f, nil
}

func (ev *evaluator) tupleArray(ts *tupleStream) value {
	v := ev.newArray(nil, fSequence|fTuples)
	v.arr().tuples = ts
	return v
}

// itemsNode takes the items of a tuple stream, if that is what inner gives.
type itemsNode struct {
	inner node
	keep  bool
}

func (n *itemsNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	v, err := n.inner.eval(ev, in, fr)
	if err != nil || !v.isArray() || v.arr().tuples == nil {
		return v, err
	}
	mark := len(ev.scratch)
	for _, t := range v.arr().tuples.list {
		if err := ev.push(t.at); err != nil {
			return undefined, err
		}
	}
	return ev.finish(mark, n.keep)
}

// derive returns a tuple like t at another item, with room to set slots.
func (ev *evaluator) derive(t *tuple, at value, l *tupleLayout) (tuple, error) {
	slots, err := ev.values(len(l.names))
	if err != nil {
		return tuple{}, err
	}
	n := copy(slots, t.slots)
	for i := n; i < len(slots); i++ {
		slots[i] = unbound
	}
	return tuple{at: at, slots: slots}, nil
}

func (n *pathNode) evalTuples(ev *evaluator, in value, fr *frame) (value, error) {
	base := len(ev.scratch)
	var items []value
	if n.tuplesAt == 0 {
		if in.isArray() && !n.variable {
			items = in.arr().items
		} else {
			items = []value{in}
		}
	} else {
		v, done, err := n.run(ev, in, fr, n.tuplesAt)
		if err != nil {
			return undefined, err
		}
		items = ev.scratch[base:]
		if done {
			items = v.arr().items
		}
		if len(items) == 0 {
			ev.scratch = ev.scratch[:base]
			if done && n.group == nil {
				if n.keep {
					return ev.keepArray(v)
				}
				return v, nil // an empty array written in brackets ends the path as it is
			}
			if n.group != nil {
				return n.group.evalTuples(ev, &tupleStream{}, n.layout, fr)
			}
			return undefined, nil
		}
	}
	var ts *tupleStream
	for i := n.tuplesAt; i < len(n.steps); i++ {
		s := &n.steps[i]
		if s.cons && i == 0 {
			v, err := s.node.eval(ev, ev.newArray(items, fSequence), fr)
			if err != nil {
				return undefined, err
			}
			items = []value{v}
			if v.isArray() {
				items = v.arr().items
			}
			continue
		}
		if ts == nil && s.sort == nil {
			ts = &tupleStream{}
			for _, it := range items {
				ts.list = append(ts.list, tuple{at: it})
			}
			if err := ev.alloc(len(items) * 40); err != nil {
				return undefined, err
			}
		}
		var err error
		if s.sort != nil {
			ts, err = n.sortTuples(ev, s, ts, items, fr)
		} else {
			ts, err = n.tupleStep(ev, s, ts, fr)
		}
		if err != nil {
			return undefined, err
		}
		for k := range s.stages {
			ts, err = s.stages[k].applyTuples(ev, ts, n.layout, fr)
			if err != nil {
				return undefined, err
			}
		}
	}
	ev.scratch = ev.scratch[:base]
	if n.giveTuples && n.group == nil {
		return ev.tupleArray(ts), nil
	}
	if n.group != nil {
		return n.group.evalTuples(ev, ts, n.layout, fr)
	}
	for i := range ts.list {
		if err := ev.push(ts.list[i].at); err != nil {
			return undefined, err
		}
	}
	return ev.finish(base, n.keep)
}

func (n *pathNode) tupleStep(ev *evaluator, s *pathStep, in *tupleStream, fr *frame) (*tupleStream, error) {
	out := &tupleStream{}
	for i := range in.list {
		t := &in.list[i]
		if err := ev.tick(); err != nil {
			return nil, err
		}
		f, err := ev.tupleFrame(t, n.layout, fr)
		if err != nil {
			return nil, err
		}
		var v value
		if s.node == nil {
			v, err = ev.member(t.at, s.name, s.cache, s.keep)
		} else {
			v, err = s.node.eval(ev, t.at, f)
		}
		if err != nil {
			return nil, err
		}
		if v.isUndefined() {
			continue
		}
		if v.isArray() && v.arr().tuples != nil {
			for j := range v.arr().tuples.list {
				inner := &v.arr().tuples.list[j]
				d, err := ev.derive(t, inner.at, n.layout)
				if err != nil {
					return nil, err
				}
				for k, x := range inner.slots {
					if !x.isUnbound() {
						d.slots[k] = x
					}
				}
				if err := ev.addTuple(out, d); err != nil {
					return nil, err
				}
			}
			continue
		}
		var one [1]value
		items := one[:]
		if v.isArray() {
			items = v.arr().items
		} else {
			one[0] = v
		}
		for j, it := range items {
			at := it
			if s.focus >= 0 {
				at = t.at
			}
			d, err := ev.derive(t, at, n.layout)
			if err != nil {
				return nil, err
			}
			if s.focus >= 0 {
				d.slots[s.focus] = it
			}
			if s.index >= 0 {
				d.slots[s.index] = numberValue(float64(j))
			}
			if s.ancestor >= 0 {
				d.slots[s.ancestor] = t.at
			}
			if err := ev.addTuple(out, d); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (ev *evaluator) addTuple(ts *tupleStream, t tuple) error {
	if len(ts.list) >= ev.lim.SequenceLength {
		return ev.tooLong()
	}
	if len(ts.list) == cap(ts.list) {
		if err := ev.alloc((len(ts.list) + 8) * 40); err != nil {
			return err
		}
	}
	ts.list = append(ts.list, t)
	return ev.tick()
}

func (n *pathNode) sortTuples(
	ev *evaluator, s *pathStep, ts *tupleStream, items []value, fr *frame,
) (*tupleStream, error) {
	if ts != nil {
		order, err := s.sort.order(ev, len(ts.list), func(i int) (value, *frame, error) {
			f, err := ev.tupleFrame(&ts.list[i], n.layout, fr)
			return ts.list[i].at, f, err
		})
		if err != nil {
			return nil, err
		}
		out := &tupleStream{list: make([]tuple, len(order))}
		for i, j := range order {
			out.list[i] = ts.list[j]
		}
		return out, ev.alloc(len(order) * 40)
	}
	empty := &tuple{}
	order, err := s.sort.order(ev, len(items), func(i int) (value, *frame, error) {
		f, err := ev.tupleFrame(empty, n.layout, fr)
		return items[i], f, err
	})
	if err != nil {
		return nil, err
	}
	out := &tupleStream{}
	for i, j := range order {
		d, err := ev.derive(empty, items[j], n.layout)
		if err != nil {
			return nil, err
		}
		if s.index >= 0 {
			d.slots[s.index] = numberValue(float64(i))
		}
		if err := ev.addTuple(out, d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// applyTuples filters or numbers a tuple stream.
func (st *stageSpec) applyTuples(ev *evaluator, in *tupleStream, l *tupleLayout, fr *frame) (*tupleStream, error) {
	out := &tupleStream{}
	if st.index >= 0 {
		for i := range in.list {
			d, err := ev.derive(&in.list[i], in.list[i].at, l)
			if err != nil {
				return nil, err
			}
			d.slots[st.index] = numberValue(float64(i))
			if err := ev.addTuple(out, d); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	if st.constant {
		for i := range in.list {
			if position(st.at, i, len(in.list)) > 0 {
				out.list = append(out.list, in.list[i])
			}
		}
		return out, ev.step(len(in.list))
	}
	for i := range in.list {
		f, err := ev.tupleFrame(&in.list[i], l, fr)
		if err != nil {
			return nil, err
		}
		hits, err := st.keeps(ev, in.list[i].at, i, len(in.list), f)
		if err != nil {
			return nil, err
		}
		for ; hits > 0; hits-- {
			if err := ev.addTuple(out, in.list[i]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
