package jsonata

// transformNode is |pattern|update, delete|: a function that returns a copy of
// its argument with the matching objects changed.
type transformNode struct {
	pattern, update, remove node
	pos                     int
}

func (n *transformNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	return functionValue(&function{kind: fnTransform, transform: n, env: fr, input: in}), ev.alloc(128)
}

// run works on a private copy, because the pattern finds objects by identity:
// the copy of every object is its own, its values are replaced in place.
func (n *transformNode) run(ev *evaluator, in value, f *function) (value, error) {
	if in.isUndefined() {
		return undefined, nil
	}
	if !in.isObject() && !in.isArray() {
		return undefined, newError("T0410", "only an object or an array can be transformed")
	}
	copied, err := ev.rebuild(in, asJSON, 0)
	if err != nil {
		return undefined, err
	}
	hits, err := n.pattern.eval(ev, copied, f.env)
	if err != nil {
		return undefined, err
	}
	if hits.isUndefined() {
		return copied, nil
	}
	for _, hit := range elements(hits) {
		if err := ev.tick(); err != nil {
			return undefined, err
		}
		up, err := n.update.eval(ev, hit, f.env)
		if err != nil {
			return undefined, err
		}
		if !up.isUndefined() {
			if !up.isObject() {
				return undefined, ev.fail("T2011", n.pos, "", "the update of a transform must be an object")
			}
			if err := ev.assignInto(hit, up.obj()); err != nil {
				return undefined, err
			}
		}
		if n.remove == nil {
			continue
		}
		del, err := n.remove.eval(ev, hit, f.env)
		if err != nil {
			return undefined, err
		}
		if del.isUndefined() {
			continue
		}
		names := elements(del)
		for _, k := range names {
			if !k.isString() {
				return undefined, ev.fail(
					"T2012", n.pos, "", "what a transform deletes must be a string or an array of strings",
				)
			}
		}
		if err := ev.removeFrom(hit, names); err != nil {
			return undefined, err
		}
	}
	return copied, nil
}

// assignInto changes an object or array of the private copy.
func (ev *evaluator) assignInto(hit value, up *object) error {
	if up.len() == 0 {
		return nil
	}
	if hit.isArray() {
		return ev.assignItems(hit.arr(), up)
	}
	if !hit.isObject() {
		return newError("L0008", "a transform matched a value that is not an object")
	}
	o := hit.obj()
	if err := ev.alloc((len(o.vals) + len(up.vals)) * 2 * valueSize); err != nil {
		return err
	}
	b := builder{sh: ev.rootShape(), vals: make([]value, 0, len(o.vals)+len(up.vals))}
	for i, k := range o.sh.keys {
		b.set(k, o.vals[i])
	}
	for i, k := range up.sh.keys {
		b.set(k, up.vals[i])
	}
	fresh := b.object()
	o.sh, o.vals = fresh.sh, fresh.vals
	return nil
}

// assignItems changes an array as JavaScript does: a member whose name is an
// index is an item, any other leaves no trace in a list.
func (ev *evaluator) assignItems(a *array, up *object) error {
	for i, k := range up.sh.keys {
		if k == "length" {
			return newError("L0008", "a transform cannot change the length of an array")
		}
		at, ok := arrayIndex(k)
		if !ok {
			continue
		}
		if at >= uint64(ev.lim.SequenceLength) {
			return ev.tooLong()
		}
		items, err := ev.values(max(len(a.items), int(at)+1))
		if err != nil {
			return err
		}
		copy(items, a.items)
		items[at] = up.vals[i]
		a.items, a.room = items, nil
	}
	return nil
}

// removeFrom deletes members of an object or array; any other value has none.
func (ev *evaluator) removeFrom(hit value, names []value) error {
	if hit.isArray() {
		return ev.removeItems(hit.arr(), names)
	}
	if !hit.isObject() {
		return nil
	}
	o := hit.obj()
	for _, k := range names {
		b := builder{sh: o.sh, vals: o.vals}
		if b.sh.find(k.str()) < 0 {
			continue
		}
		if err := ev.alloc(len(o.vals) * 64); err != nil {
			return err
		}
		b.remove(k.str())
		o.sh, o.vals = b.sh, b.vals
	}
	return nil
}

// removeItems leaves holes where the named items were.
func (ev *evaluator) removeItems(a *array, names []value) error {
	for _, k := range names {
		if k.str() == "length" {
			return newError("L0008", "a transform cannot delete the length of an array")
		}
		at, ok := arrayIndex(k.str())
		if !ok || at >= uint64(len(a.items)) {
			continue
		}
		items, err := ev.values(len(a.items))
		if err != nil {
			return err
		}
		copy(items, a.items)
		items[at] = undefined
		a.items, a.room = items, nil
	}
	return nil
}

// copying is how faithful a copy is.
type copying uint8

const (
	exactly copying = iota
	asJSON          // like a round trip through $string: numbers with 15 digits, functions as empty strings
)

// rebuild copies a value with all that is in it.
func (ev *evaluator) rebuild(v value, how copying, depth int) (value, error) {
	if depth > maxDataDepth {
		return undefined, ev.tooDeep()
	}
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	if how == asJSON {
		switch v.kind() {
		case kNumber:
			return numberValue(precision15(v.num())), nil
		case kFunction:
			return vEmpty, nil
		case kUndefined:
			return null, nil
		}
	}
	switch v.kind() {
	case kArray:
		items := v.arr().items
		out, err := ev.values(len(items))
		if err != nil {
			return undefined, err
		}
		for i, it := range items {
			out[i], err = ev.rebuild(it, how, depth+1)
			if err != nil {
				return undefined, err
			}
		}
		return ev.newArray(out, 0), nil
	case kObject:
		o := v.obj()
		out, err := ev.values(len(o.vals))
		if err != nil {
			return undefined, err
		}
		for i, it := range o.vals {
			out[i], err = ev.rebuild(it, how, depth+1)
			if err != nil {
				return undefined, err
			}
		}
		if err := ev.alloc(32); err != nil {
			return undefined, err
		}
		return ev.newObject(o.sh, out), nil
	}
	return v, nil
}
