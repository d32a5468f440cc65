package jsonata

func fnAppend(ev *evaluator, args []value, _ value) (value, error) {
	a, b := args[0], args[1]
	if a.isUndefined() {
		return b, nil
	}
	if b.isUndefined() {
		return a, nil
	}
	x, y := elements(a), elements(b)
	if len(x)+len(y) > ev.lim.SequenceLength {
		return undefined, ev.tooLong()
	}
	// A list that is built up one $append at a time must not be copied each time.
	n := len(x) + len(y)
	if a.isArray() {
		if r := a.arr().room; r != nil && r.used == len(x) && n <= len(r.all) {
			copy(r.all[len(x):], y)
			r.used = n
			v := ev.newArray(r.all[:n:n], 0)
			v.arr().room = r
			return v, ev.step(len(y)>>3 + 1)
		}
	}
	if n < 16 {
		out, err := ev.values(n)
		if err != nil {
			return undefined, err
		}
		copy(out, x)
		copy(out[len(x):], y)
		return ev.newArray(out, 0), nil
	}
	out, err := ev.values(n + n/2)
	if err != nil {
		return undefined, err
	}
	copy(out, x)
	copy(out[len(x):], y)
	v := ev.newArray(out[:n:n], 0)
	v.arr().room = &room{all: out, used: n}
	return v, nil
}

func fnExists(_ *evaluator, args []value, _ value) (value, error) {
	return boolValue(!args[0].isUndefined()), nil
}

func fnReverse(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	in := elements(args[0])
	if len(in) <= 1 {
		return args[0], nil
	}
	out, err := ev.values(len(in))
	if err != nil {
		return undefined, err
	}
	for i, v := range in {
		out[len(in)-1-i] = v
	}
	return ev.newArray(out, 0), nil
}

func fnShuffle(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	in := elements(args[0])
	if len(in) <= 1 {
		return args[0], nil
	}
	out, err := ev.values(len(in))
	if err != nil {
		return undefined, err
	}
	for i, v := range in {
		j := min(int(ev.random()*float64(i+1)), i)
		if i != j {
			out[i] = out[j]
		}
		out[j] = v
	}
	return ev.newArray(out, 0), nil
}

func fnZip(ev *evaluator, args []value, _ value) (value, error) {
	shortest := -1
	for _, a := range args {
		n := 0
		if a.isArray() { // else it is missing
			n = len(a.arr().items)
		}
		if shortest < 0 || n < shortest {
			shortest = n
		}
	}
	mark := len(ev.scratch)
	for i := 0; i < shortest; i++ {
		row, err := ev.values(len(args))
		if err != nil {
			return undefined, err
		}
		for k, a := range args {
			row[k] = elements(a)[i]
		}
		if err := ev.push(ev.newArray(row, 0)); err != nil {
			return undefined, err
		}
	}
	return ev.takeArray(mark, 0)
}

// fnDistinct keeps the first of deeply equal values.
func fnDistinct(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isArray() || len(args[0].arr().items) <= 1 {
		return args[0], nil
	}
	in := args[0].arr()
	mark := len(ev.scratch)
	var texts map[string]struct{}
	var numbers map[float64]struct{}
	if len(in.items) > 8 {
		texts, numbers = make(map[string]struct{}), make(map[float64]struct{})
		if err := ev.alloc(len(in.items) * 32); err != nil {
			return undefined, err
		}
	}
next:
	for _, v := range in.items {
		if err := ev.tick(); err != nil {
			return undefined, err
		}
		if texts != nil && v.isString() {
			if _, seen := texts[v.str()]; seen {
				continue
			}
			texts[v.str()] = struct{}{}
		} else if numbers != nil && v.isNumber() {
			if _, seen := numbers[v.num()]; seen {
				continue
			}
			numbers[v.num()] = struct{}{}
		} else {
			for i := mark; i < len(ev.scratch); i++ {
				if err := ev.tick(); err != nil {
					return undefined, err
				}
				eq, err := ev.equal(v, ev.scratch[i], 0)
				if err != nil {
					return undefined, err
				}
				if eq {
					continue next
				}
			}
		}
		if err := ev.push(v); err != nil {
			return undefined, err
		}
	}
	return ev.takeArray(mark, in.flags&fSequence)
}

func fnSort(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	in := elements(args[0])
	if len(in) <= 1 {
		return args[0], nil
	}
	after := func(a, b value) (bool, error) {
		if err := ev.tick(); err != nil {
			return false, err
		}
		if a.isNumber() {
			return a.num() > b.num(), nil
		}
		return compareText(a.str(), b.str()) > 0, nil
	}
	if args[1].isFunction() {
		cb := newCallback(args[1])
		cb.arity = 2
		after = func(a, b value) (bool, error) {
			v, err := cb.call(ev, a, b, undefined)
			if err != nil {
				return false, err
			}
			return scriptTruth(v), nil
		}
	} else {
		for _, v := range in {
			if v.kind() != in[0].kind() || !v.isNumber() && !v.isString() {
				return undefined, newError("D3070", "without a function only numbers or only strings can be sorted")
			}
		}
	}
	out, err := ev.values(2 * len(in))
	if err != nil {
		return undefined, err
	}
	copy(out, in)
	if err := mergeSortInto(out[:len(in):len(in)], out[len(in):], after); err != nil {
		return undefined, err
	}
	return ev.newArray(out[:len(in):len(in)], 0), nil
}

// scriptTruth is JavaScript's own idea of truth, which the result of a
// comparator is put to.
func scriptTruth(v value) bool {
	switch v.kind() {
	case kUndefined, kNull:
		return false
	case kBool:
		return v.bool()
	case kNumber:
		return v.num() != 0 && v.num() == v.num()
	case kString:
		return v.n&lowMask != 0
	}
	return true
}

func fnMap(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	items := elements(args[0])
	cb, err := callbackFor(args[1], len(items))
	if err != nil {
		return undefined, err
	}
	mark := len(ev.scratch)
	for i, v := range items {
		r, err := cb.call(ev, v, numberValue(float64(i)), args[0])
		if err != nil {
			return undefined, err
		}
		if r.isUndefined() {
			continue
		}
		if err := ev.push(r); err != nil {
			return undefined, err
		}
	}
	return ev.takeArray(mark, fSequence)
}

func fnFilter(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	items := elements(args[0])
	cb, err := callbackFor(args[1], len(items))
	if err != nil {
		return undefined, err
	}
	mark := len(ev.scratch)
	for i, v := range items {
		r, err := cb.call(ev, v, numberValue(float64(i)), args[0])
		if err != nil {
			return undefined, err
		}
		ok, err := ev.truth(r)
		if err != nil {
			return undefined, err
		}
		if ok {
			if err := ev.push(v); err != nil {
				return undefined, err
			}
		}
	}
	return ev.takeArray(mark, fSequence)
}

func fnSingle(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	var cb callback
	if args[1].isFunction() {
		cb = newCallback(args[1])
	}
	found, hit := false, undefined
	for i, v := range elements(args[0]) {
		ok := true
		if cb.f != nil {
			r, err := cb.call(ev, v, numberValue(float64(i)), args[0])
			if err != nil {
				return undefined, err
			}
			ok, err = ev.truth(r)
			if err != nil {
				return undefined, err
			}
		}
		if !ok {
			continue
		}
		if found {
			return undefined, newError("D3138", "$single matched more than one value")
		}
		found, hit = true, v
	}
	if !found {
		return undefined, newError("D3139", "$single matched no value")
	}
	return hit, nil
}

func fnReduce(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	cb, err := callbackFor(args[1], 1)
	if err != nil {
		return undefined, err
	}
	if cb.arity < 2 {
		return undefined, newError("D3050", "the function of $reduce must take two arguments")
	}
	items := elements(args[0])
	result, i := args[2], 0
	if result.isUndefined() && len(items) > 0 {
		result, i = items[0], 1
	}
	for ; i < len(items); i++ {
		var err error
		if cb.arity > 3 {
			result, err = cb.callAll(ev, result, items[i], numberValue(float64(i)), args[0])
		} else {
			result, err = cb.call(ev, result, items[i], numberValue(float64(i)))
		}
		if err != nil {
			return undefined, err
		}
	}
	return result, nil
}

// callAll passes every argument given.
func (cb *callback) callAll(ev *evaluator, args ...value) (value, error) {
	return ev.apply(cb.fv, args, null)
}
