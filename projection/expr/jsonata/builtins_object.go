package jsonata

func fnKeys(ev *evaluator, args []value, _ value) (value, error) {
	mark := len(ev.scratch)
	switch v := args[0]; v.kind() {
	case kObject:
		for _, k := range v.obj().sh.keys {
			if err := ev.push(stringValue(k)); err != nil {
				return undefined, err
			}
		}
	case kArray:
		b := builder{sh: &shape{}}
		if err := ev.collectKeys(v.arr().items, &b, 0); err != nil {
			return undefined, err
		}
		keys := b.object().sh.keys
		for _, k := range keys {
			if err := ev.push(stringValue(k)); err != nil {
				return undefined, err
			}
		}
	}
	return ev.takeArray(mark, fSequence)
}

func (ev *evaluator) collectKeys(items []value, b *builder, depth int) error {
	if depth > maxDataDepth {
		return ev.tooDeep()
	}
	for _, it := range items {
		if err := ev.tick(); err != nil {
			return err
		}
		switch it.kind() {
		case kObject:
			for _, k := range it.obj().sh.keys {
				n := len(b.vals)
				b.set(k, null)
				if len(b.vals) > n {
					if err := ev.alloc(48); err != nil {
						return err
					}
				}
			}
		case kArray:
			if err := ev.collectKeys(it.arr().items, b, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func fnLookup(ev *evaluator, args []value, _ value) (value, error) {
	v, err := ev.lookup(args[0], textOf(args[1]), 0)
	return v, err
}

// lookup is a member access whose name is only known now.
func (ev *evaluator) lookup(in value, key string, depth int) (value, error) {
	switch in.kind() {
	case kObject:
		return in.obj().get(key), nil
	case kArray:
		if depth > maxDataDepth {
			return undefined, ev.tooDeep()
		}
		mark := len(ev.scratch)
		for _, it := range in.arr().items {
			if err := ev.tick(); err != nil {
				return undefined, err
			}
			v, err := ev.lookup(it, key, depth+1)
			if err != nil {
				return undefined, err
			}
			if v.isUndefined() {
				continue
			}
			if v.isArray() {
				err = ev.pushAll(v.arr().items)
			} else {
				err = ev.push(v)
			}
			if err != nil {
				return undefined, err
			}
		}
		return ev.takeArray(mark, fSequence)
	}
	return undefined, nil
}

func fnSpread(ev *evaluator, args []value, _ value) (value, error) {
	v := args[0]
	if !v.isArray() && !v.isObject() {
		return v, nil
	}
	mark := len(ev.scratch)
	if err := ev.spread(v, 0); err != nil {
		return undefined, err
	}
	if v.isArray() && len(v.arr().items) > 0 {
		return ev.takeArray(mark, 0) // a list, even of one
	}
	return ev.takeArray(mark, fSequence)
}

func (ev *evaluator) spread(v value, depth int) error {
	if depth > maxDataDepth {
		return ev.tooDeep()
	}
	if err := ev.tick(); err != nil {
		return err
	}
	switch v.kind() {
	case kArray:
		for _, it := range v.arr().items {
			if err := ev.spread(it, depth+1); err != nil {
				return err
			}
		}
		return nil
	case kObject:
		o := v.obj()
		for i, k := range o.sh.keys {
			b := ev.newBuilder(1)
			b.set(k, o.vals[i])
			one, err := ev.build(&b)
			if err != nil {
				return err
			}
			if err := ev.push(one); err != nil {
				return err
			}
		}
		return nil
	case kFunction, kUndefined:
		return nil
	}
	return ev.push(v)
}

func fnMerge(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	b := builder{sh: ev.rootShape()}
	for _, it := range elements(args[0]) {
		if !it.isObject() {
			continue
		}
		o := it.obj()
		for i, k := range o.sh.keys {
			if err := ev.tick(); err != nil {
				return undefined, err
			}
			b.set(k, o.vals[i])
		}
	}
	return ev.build(&b)
}

func fnEach(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isObject() {
		return undefined, nil
	}
	o := args[0].obj()
	cb, err := callbackFor(args[1], o.len())
	if err != nil {
		return undefined, err
	}
	mark := len(ev.scratch)
	for i, k := range o.sh.keys {
		v, err := cb.call(ev, o.vals[i], stringValue(k), args[0])
		if err != nil {
			return undefined, err
		}
		if v.isUndefined() {
			continue
		}
		if err := ev.push(v); err != nil {
			return undefined, err
		}
	}
	return ev.takeArray(mark, fSequence)
}

func fnSift(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isObject() {
		return undefined, nil
	}
	o := args[0].obj()
	cb, err := callbackFor(args[1], o.len())
	if err != nil {
		return undefined, err
	}
	b := builder{sh: ev.rootShape()}
	for i, k := range o.sh.keys {
		v, err := cb.call(ev, o.vals[i], stringValue(k), args[0])
		if err != nil {
			return undefined, err
		}
		ok, err := ev.truth(v)
		if err != nil {
			return undefined, err
		}
		if ok {
			b.set(k, o.vals[i])
		}
	}
	if len(b.vals) == 0 {
		return undefined, nil
	}
	return ev.build(&b)
}

// fnClone copies what may be changed; our values never change, so the value
// itself is the copy. What JSON cannot carry is dropped all the same.
func fnClone(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	v, err := contextNode{}.eval(ev, args[0], nil) // not the list around an input that is a list
	if err != nil {
		return undefined, err
	}
	return ev.rebuild(v, asJSON, 0)
}
