package jsonata

// groupSpec is what stands in { }: an object constructor, or behind a path the
// grouping of its items by key.
type groupSpec struct {
	members []groupMember
	shape   *shape // when all keys are literal and distinct
	pos     int
	tuples  bool
}

type groupMember struct {
	key     node
	literal bool
	name    string
	value   node
}

// groupNode applies a groupSpec to a value, or to the context when inner is nil.
type groupNode struct {
	inner node
	group *groupSpec
}

func (n *groupNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if n.inner != nil {
		v, err := n.inner.eval(ev, in, fr)
		if err != nil {
			return undefined, err
		}
		in = v
	}
	return n.group.eval(ev, in, fr)
}

func (g *groupSpec) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	if !in.isArray() {
		return g.single(ev, in, fr)
	}
	items := in.arr().items
	switch len(items) {
	case 0:
		return g.single(ev, undefined, fr)
	case 1:
		return g.single(ev, items[0], fr)
	}
	return g.many(ev, items, fr)
}

// single builds the object for one context, the usual case.
func (g *groupSpec) single(ev *evaluator, in value, fr *frame) (value, error) {
	if g.shape == nil {
		return g.many(ev, []value{in}, fr)
	}
	vals, err := ev.values(len(g.members))
	if err != nil {
		return undefined, err
	}
	whole := true
	for i := range g.members {
		v, err := g.members[i].value.eval(ev, in, fr)
		if err != nil {
			return undefined, err
		}
		if v.isUndefined() {
			whole = false
		}
		vals[i] = v
	}
	if err := ev.alloc(32); err != nil {
		return undefined, err
	}
	if whole {
		return ev.newObject(g.shape, vals), nil
	}
	b := builder{sh: ev.rootShape(), vals: vals[:0]}
	for i, v := range vals {
		if !v.isUndefined() {
			b.set(g.shape.keys[i], v)
		}
	}
	return ev.newObject(b.sh, b.vals), nil
}

func (ev *evaluator) rootShape() *shape {
	if ev.shapes == nil {
		ev.shapes = &shape{}
	}
	return ev.shapes
}

// bucket is what one key has gathered.
type bucket struct {
	key    string
	member int
	data   value
	list   []value // from the second item on: all items, spliced
	tuples []tuple
}

// grouper finds the bucket of a key; few keys are searched, many are indexed.
type grouper struct {
	buckets []bucket
	index   map[string]int
}

func (g *grouper) find(key string) int {
	if g.index != nil {
		if i, ok := g.index[key]; ok {
			return i
		}
		return -1
	}
	for i := range g.buckets {
		if g.buckets[i].key == key {
			return i
		}
	}
	return -1
}

func (g *grouper) add(b bucket) {
	g.buckets = append(g.buckets, b)
	switch {
	case g.index != nil:
		g.index[b.key] = len(g.buckets) - 1
	case len(g.buckets) == 16:
		g.index = make(map[string]int, 32)
		for i := range g.buckets {
			g.index[g.buckets[i].key] = i
		}
	}
}

// place finds the bucket that member m of the spec fills for one item, -1 for
// none; fresh says that the bucket was made for it.
func (g *groupSpec) place(ev *evaluator, gr *grouper, m int, in value, fr *frame) (at int, fresh bool, err error) {
	mem := &g.members[m]
	key := mem.name
	if !mem.literal {
		k, err := mem.key.eval(ev, in, fr)
		if err != nil {
			return 0, false, err
		}
		if k.isUndefined() {
			return -1, false, nil
		}
		if !k.isString() {
			return 0, false, ev.fail("T1003", g.pos, "", "the key of an object must be a string")
		}
		key = k.str()
	}
	at = gr.find(key)
	if at >= 0 {
		if gr.buckets[at].member != m {
			return 0, false, ev.fail("D1009", g.pos, "", "two members of the object have the same key")
		}
		return at, false, nil
	}
	if err := ev.alloc(400); err != nil { // with its part of the index
		return 0, false, err
	}
	gr.add(bucket{key: key, member: m})
	return len(gr.buckets) - 1, true, nil
}

func (g *groupSpec) many(ev *evaluator, items []value, fr *frame) (value, error) {
	var gr grouper
	for _, it := range items {
		for m := range g.members {
			if err := ev.tick(); err != nil {
				return undefined, err
			}
			at, fresh, err := g.place(ev, &gr, m, it, fr)
			if err != nil {
				return undefined, err
			}
			if at < 0 {
				continue
			}
			b := &gr.buckets[at]
			if fresh {
				b.data = it
				continue
			}
			if err := ev.gather(&b.list, &b.data, it); err != nil {
				return undefined, err
			}
		}
	}
	return g.finish(ev, &gr, func(b *bucket) (value, error) {
		data := b.data
		if b.list != nil {
			data = ev.newArray(b.list, 0)
		}
		return g.members[b.member].value.eval(ev, data, fr)
	})
}

// gather appends an item to what a bucket holds, the way $append does.
func (ev *evaluator) gather(list *[]value, first *value, it value) error {
	if it.isUndefined() {
		return nil
	}
	if *list == nil {
		if first.isUndefined() {
			*first = it
			return nil
		}
		if first.isArray() {
			*list = append(make([]value, 0, len(first.arr().items)+4), first.arr().items...)
		} else {
			*list = append(make([]value, 0, 4), *first)
		}
	}
	n := cap(*list)
	if it.isArray() {
		*list = append(*list, it.arr().items...)
	} else {
		*list = append(*list, it)
	}
	if cap(*list) != n {
		if len(*list) > ev.lim.SequenceLength {
			return ev.tooLong()
		}
		return ev.alloc(cap(*list) * valueSize)
	}
	return nil
}

// finish evaluates the buckets in the order of their keys and builds the object.
func (g *groupSpec) finish(ev *evaluator, gr *grouper, eval func(*bucket) (value, error)) (value, error) {
	order := gr.buckets
	for i := range order {
		if isArrayIndex(order[i].key) {
			order = bucketsInKeyOrder(order)
			break
		}
	}
	b := ev.newBuilder(len(order))
	for i := range order {
		v, err := eval(&order[i])
		if err != nil {
			return undefined, err
		}
		if v.isUndefined() {
			continue
		}
		if err := ev.tick(); err != nil {
			return undefined, err
		}
		b.set(order[i].key, v)
	}
	return ev.build(&b)
}

func bucketsInKeyOrder(bs []bucket) []bucket {
	keys := make([]string, len(bs))
	at := make([]value, len(bs))
	for i := range bs {
		keys[i], at[i] = bs[i].key, numberValue(float64(i))
	}
	_, at = indexesFirst(&shape{keys: keys, ints: true}, at)
	out := make([]bucket, len(bs))
	for i := range at {
		out[i] = bs[int(at[i].num())]
	}
	return out
}

// evalTuples groups a tuple stream: the variables are gathered along with the
// items, so that inside a group $x is all the values $x had.
func (g *groupSpec) evalTuples(ev *evaluator, ts *tupleStream, l *tupleLayout, fr *frame) (value, error) {
	var gr grouper
	list := ts.list
	if len(list) == 0 {
		list = []tuple{{}}
	}
	for i := range list {
		for m := range g.members {
			if err := ev.tick(); err != nil {
				return undefined, err
			}
			f, err := ev.tupleFrame(&list[i], l, fr)
			if err != nil {
				return undefined, err
			}
			at, _, err := g.place(ev, &gr, m, list[i].at, f)
			if err != nil {
				return undefined, err
			}
			if at >= 0 {
				if err := ev.alloc(40); err != nil {
					return undefined, err
				}
				gr.buckets[at].tuples = append(gr.buckets[at].tuples, list[i])
			}
		}
	}
	return g.finish(ev, &gr, func(b *bucket) (value, error) {
		t, err := ev.mergeTuples(b.tuples, l)
		if err != nil {
			return undefined, err
		}
		f, err := ev.tupleFrame(&t, l, fr)
		if err != nil {
			return undefined, err
		}
		return g.members[b.member].value.eval(ev, t.at, f)
	})
}

func (ev *evaluator) mergeTuples(ts []tuple, l *tupleLayout) (tuple, error) {
	out, err := ev.derive(&ts[0], ts[0].at, l)
	if err != nil || len(ts) == 1 {
		return out, err
	}
	merge := func(get func(*tuple) value) (value, error) {
		var list []value
		var first value
		for i := range ts {
			v := get(&ts[i])
			if v.isUnbound() {
				continue
			}
			if err := ev.gather(&list, &first, v); err != nil {
				return undefined, err
			}
		}
		if list != nil {
			return ev.newArray(list, 0), nil
		}
		return first, nil
	}
	out.at, err = merge(func(t *tuple) value { return t.at })
	if err != nil {
		return out, err
	}
	for k := range out.slots {
		if out.slots[k].isUnbound() {
			continue
		}
		out.slots[k], err = merge(func(t *tuple) value {
			if k < len(t.slots) {
				return t.slots[k]
			}
			return unbound
		})
		if err != nil {
			return out, err
		}
	}
	return out, nil
}
