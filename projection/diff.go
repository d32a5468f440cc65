package projection

import (
	"encoding/json"
	"strconv"
)

// Delta is the difference of two states.
type Delta struct {
	// Patches is a JSON Patch: an array of RFC 6902 operations.
	Patches json.RawMessage
	// Semantic has one entry for each operation that says what it means.
	Semantic json.RawMessage
}

// operation is one step of a JSON Patch, with what the semantic delta needs.
type operation struct {
	op, path, from string
	value          *value // of add and replace; for move and remove what is moved or removed
	entity         *value // the innermost list item that holds the place, nil outside lists
}

// Diff returns what turns before into after: a JSON Patch (RFC 6902) and its
// meaning. Applying the patch to before always gives after; the order of the
// members of an object, which JSON does not count, may differ.
//
// In lists an item that was inserted, removed or moved costs one operation.
// Items are recognised by identity where that names their list, otherwise by
// being equal; what is left between two recognised items is taken for changed
// in place.
//
// A text that is not JSON, or is empty, counts as undefined: the patch then
// adds or removes the whole.
func Diff(before, after json.RawMessage, identity Identity) Delta {
	return diff(before, after, &differ{identity: identity})
}

// DiffByIndex is Diff as the upstream extension does it (quirks.IndexedDiff):
// items of a list are compared with those at the same index.
func DiffByIndex(before, after json.RawMessage) Delta {
	return diff(before, after, &differ{byIndex: true})
}

func diff(before, after json.RawMessage, d *differ) Delta {
	b, _ := parseValue(before)
	a, _ := parseValue(after)
	d.in = newInterner()
	for _, v := range []*value{b, a} {
		if v != nil {
			d.in.value(v)
		}
	}
	switch {
	case a == nil && b == nil:
	case b == nil:
		d.emit("add", a)
	case a == nil:
		d.emit("remove", b)
	default:
		d.value(b, a)
	}
	return d.delta()
}

type differ struct {
	identity Identity
	byIndex  bool
	in       *interner
	ops      []operation
	path     []string
	entity   *value
}

// emit adds an operation at the current path.
func (d *differ) emit(op string, v *value) {
	d.ops = append(d.ops, operation{op: op, path: joinPointer(d.path), value: v, entity: d.entity})
}

// emitMember adds an operation at a member of the current path.
func (d *differ) emitMember(op, name string, v *value) {
	d.ops = append(d.ops, operation{
		op:     op,
		path:   joinPointer(d.path) + "/" + escapeToken(name),
		value:  v,
		entity: d.entity,
	})
}

// value compares two values at the current path.
func (d *differ) value(before, after *value) {
	switch {
	case before.id == after.id:
	case before.kind == kindArray && after.kind == kindArray:
		if d.byIndex {
			d.indexes(before.items, after.items)
		} else {
			d.list(before.items, after.items)
		}
	case before.kind == kindObject && after.kind == kindObject:
		d.object(before, after)
	default:
		d.emit("replace", after)
	}
}

// indexes compares two lists item by item, then adds or removes at the end.
func (d *differ) indexes(before, after []*value) {
	common := min(len(before), len(after))
	for i := range common {
		d.item(i, before[i], after[i])
	}
	for i := common; i < len(after); i++ {
		d.emitMember("add", strconv.Itoa(i), after[i])
	}
	for i := len(before) - 1; i >= common; i-- {
		d.emitMember("remove", strconv.Itoa(i), before[i])
	}
}

// object compares members in the old order, then adds the new ones.
func (d *differ) object(before, after *value) {
	now := memberIndex(after)
	for i, name := range before.names {
		if j, ok := now[name]; ok {
			d.inside(name, before.items[i], after.items[j])
		} else {
			d.emitMember("remove", name, before.items[i])
		}
	}
	then := memberIndex(before)
	for j, name := range after.names {
		if _, ok := then[name]; !ok {
			d.emitMember("add", name, after.items[j])
		}
	}
}

func memberIndex(v *value) map[string]int {
	index := make(map[string]int, len(v.names))
	for i, name := range v.names {
		index[name] = i
	}
	return index
}

// inside compares a member.
func (d *differ) inside(name string, before, after *value) {
	if before.id == after.id {
		return
	}
	d.path = append(d.path, name)
	d.value(before, after)
	d.path = d.path[:len(d.path)-1]
}

// item compares an item of a list, which is the entity of what changes in it.
func (d *differ) item(index int, before, after *value) {
	outer := d.entity
	d.entity = after
	d.inside(strconv.Itoa(index), before, after)
	d.entity = outer
}
