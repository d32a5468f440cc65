package jsonata

// sortSpec is ^( ... ).
type sortSpec struct {
	terms []sortKey
	pos   int
}

type sortKey struct {
	node       node
	descending bool
}

func (c *compiler) sortSpec(s *ast, _ bool) *sortSpec {
	spec := &sortSpec{pos: s.pos}
	for _, t := range s.terms {
		spec.terms = append(spec.terms, sortKey{c.compile(t.expr), t.descending})
	}
	return spec
}

// eval orders plain items and applies the predicates behind the order-by,
// which see the whole sequence. The result is a sequence unless a predicate
// picked an item that is an array.
func (s *sortSpec) eval(ev *evaluator, items []value, fr *frame, step *pathStep) (value, error) {
	order, err := s.order(ev, len(items), func(i int) (value, *frame, error) { return items[i], fr, nil })
	if err != nil {
		return undefined, err
	}
	out, err := ev.values(len(order))
	if err != nil {
		return undefined, err
	}
	for i, j := range order {
		out[i] = items[j]
	}
	v := ev.newArray(out, fSequence)
	for k := range step.stages {
		v, err = step.stages[k].apply(ev, v, fr)
		if err != nil {
			return undefined, err
		}
	}
	return v, nil
}

// order returns the permutation that sorts n items. Terms are evaluated once
// per item, and not before a comparison asks for them.
func (s *sortSpec) order(ev *evaluator, n int, item func(int) (value, *frame, error)) ([]int32, error) {
	if err := ev.alloc(n * (8 + len(s.terms)*valueSize)); err != nil {
		return nil, err
	}
	idx := make([]int32, n)
	for i := range idx {
		idx[i] = int32(i)
	}
	if n < 2 {
		return idx, nil
	}
	t := len(s.terms)
	keys := make([]value, n*t)
	for i := range keys {
		keys[i] = unbound
	}
	key := func(i int32, term int) (value, error) {
		k := &keys[int(i)*t+term]
		if k.isUnbound() {
			it, fr, err := item(int(i))
			if err != nil {
				return undefined, err
			}
			v, err := s.terms[term].node.eval(ev, it, fr)
			if err != nil {
				return undefined, err
			}
			*k = v
		}
		return *k, nil
	}
	after := func(a, b int32) (bool, error) {
		if err := ev.tick(); err != nil {
			return false, err
		}
		for term := range s.terms {
			x, err := key(a, term)
			if err != nil {
				return false, err
			}
			y, err := key(b, term)
			if err != nil {
				return false, err
			}
			// A missing key sorts last in either direction.
			if x.isUndefined() {
				if y.isUndefined() {
					continue
				}
				return true, nil
			}
			if y.isUndefined() {
				return false, nil
			}
			var cmp int
			switch {
			case x.isNumber() && y.isNumber():
				f, g := x.num(), y.num()
				if f < g {
					cmp = -1
				} else if f != g {
					cmp = 1
				}
			case x.isString() && y.isString():
				cmp = compareText(x.str(), y.str())
			case !(x.isNumber() || x.isString()) || !(y.isNumber() || y.isString()):
				return false, ev.fail("T2008", s.pos, "", "an order-by term must be a string or a number")
			default:
				return false, ev.fail("T2007", s.pos, "", "the values of an order-by term must be of one kind")
			}
			if cmp == 0 {
				continue
			}
			return cmp > 0 != s.terms[term].descending, nil
		}
		return false, nil
	}
	return idx, mergeSort(idx, after)
}

// mergeSort sorts in place, stably. after(a, b) says that a belongs behind b;
// it is asked with a from the left half, so that a comparator which is not an
// order gives the same result as in jsonata-js.
func mergeSort[T any](list []T, after func(a, b T) (bool, error)) error {
	buf := make([]T, len(list))
	return mergeSortInto(list, buf, after)
}

func mergeSortInto[T any](list, buf []T, after func(a, b T) (bool, error)) error {
	if len(list) < 2 {
		return nil
	}
	mid := len(list) / 2
	if err := mergeSortInto(list[:mid], buf[:mid], after); err != nil {
		return err
	}
	if err := mergeSortInto(list[mid:], buf[mid:], after); err != nil {
		return err
	}
	copy(buf, list)
	l, r := buf[:mid], buf[mid:]
	for i := range list {
		switch {
		case len(l) == 0:
			list[i], r = r[0], r[1:]
		case len(r) == 0:
			list[i], l = l[0], l[1:]
		default:
			swap, err := after(l[0], r[0])
			if err != nil {
				return err
			}
			if swap {
				list[i], r = r[0], r[1:]
			} else {
				list[i], l = l[0], l[1:]
			}
		}
	}
	return nil
}
