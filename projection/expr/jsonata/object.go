package jsonata

import (
	"slices"
	"sort"
)

// shape is the list of keys of an object, in order. Objects built in the same
// way share one shape, so that a lookup remembered for one record works for
// the next (see lookupCache) and a record costs only its values.
type shape struct {
	keys  []string
	index map[string]int32 // only for large shapes
	next  []*shape         // shapes with one more key, within one shapeTree
	ints  bool             // some key is an array index: JavaScript moves those to the front
}

const (
	smallShape    = 10 // up to here a linear search wins over the map
	sharedShape   = 48 // objects with more keys get a shape of their own
	maxTransition = 64 // likewise when a shape has too many continuations
)

func (s *shape) find(key string) int {
	if s.index != nil {
		if i, ok := s.index[key]; ok {
			return int(i)
		}
		return -1
	}
	for i, k := range s.keys {
		if k == key {
			return i
		}
	}
	return -1
}

// with returns the shape with one more key. s must be part of a tree that only
// the caller uses.
func (s *shape) with(key string) *shape {
	for _, n := range s.next {
		if n.keys[len(n.keys)-1] == key {
			return n
		}
	}
	n := &shape{keys: append(s.keys[:len(s.keys):len(s.keys)], key), ints: s.ints || isArrayIndex(key)}
	if len(n.keys) > smallShape {
		n.buildIndex()
	}
	if len(s.next) < maxTransition {
		s.next = append(s.next, n)
	}
	return n
}

func (s *shape) buildIndex() {
	s.index = make(map[string]int32, len(s.keys)+8)
	for i, k := range s.keys {
		s.index[k] = int32(i)
	}
}

// newShape makes a shape of its own for distinct keys.
func newShape(keys []string) *shape {
	s := &shape{keys: keys, ints: slices.ContainsFunc(keys, isArrayIndex)}
	if len(keys) > smallShape {
		s.buildIndex()
	}
	return s
}

// object is an ordered map; immutable once another value can see it.
type object struct {
	sh   *shape
	vals []value
}

func (o *object) get(key string) value {
	if i := o.sh.find(key); i >= 0 {
		return o.vals[i]
	}
	return undefined
}

func (o *object) len() int { return len(o.vals) }

// builder assembles an object key by key. Keys that look like array indexes
// end up in front in ascending order, as in every JavaScript object.
type builder struct {
	sh   *shape
	vals []value
	own  bool // sh is ours alone and may grow in place
}

func (b *builder) set(key string, v value) {
	if i := b.sh.find(key); i >= 0 {
		b.vals[i] = v
		return
	}
	if !b.own {
		if len(b.sh.keys) < sharedShape {
			b.sh = b.sh.with(key)
			b.vals = append(b.vals, v)
			return
		}
		b.sh = newShape(append([]string(nil), b.sh.keys...))
		b.own = true
	}
	s := b.sh
	s.keys = append(s.keys, key)
	s.index[key] = int32(len(s.keys) - 1)
	s.ints = s.ints || isArrayIndex(key)
	b.vals = append(b.vals, v)
}

func (b *builder) remove(key string) {
	i := b.sh.find(key)
	if i < 0 {
		return
	}
	keys := append([]string(nil), b.sh.keys...)
	b.sh = newShape(append(keys[:i], keys[i+1:]...))
	if b.sh.index == nil {
		b.sh.buildIndex()
	}
	b.own = true
	b.vals = append(b.vals[:i:i], b.vals[i+1:]...)
}

func (b *builder) object() *object {
	if b.sh.ints {
		b.sh, b.vals = indexesFirst(b.sh, b.vals)
	}
	return &object{sh: b.sh, vals: b.vals}
}

// indexesFirst reorders keys the way JavaScript lists them.
func indexesFirst(sh *shape, vals []value) (*shape, []value) {
	order := make([]int, len(sh.keys))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(x, y int) bool {
		a, aok := arrayIndex(sh.keys[order[x]])
		b, bok := arrayIndex(sh.keys[order[y]])
		if aok && bok {
			return a < b
		}
		return aok && !bok
	})
	keys, out := make([]string, len(order)), make([]value, len(order))
	sorted := true
	for i, j := range order {
		keys[i], out[i] = sh.keys[j], vals[j]
		sorted = sorted && i == j
	}
	if sorted {
		return sh, vals
	}
	n := &shape{keys: keys, ints: true}
	n.buildIndex()
	return n, out
}

func isArrayIndex(key string) bool {
	_, ok := arrayIndex(key)
	return ok
}

// arrayIndex parses a canonical array index: "0", "7", "42", not "07".
func arrayIndex(key string) (uint64, bool) {
	if key == "" || len(key) > 10 || key[0] > '9' || (key[0] == '0' && len(key) > 1) {
		return 0, false
	}
	var n uint64
	for i := 0; i < len(key); i++ {
		c := key[i]
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	return n, n < 1<<32-1
}
