package jsonata

import "strconv"

// shaping turns the parsed tree into the one that is evaluated: chains of dots
// become paths of steps, predicates attach to the step they filter, and each %
// is traced to the step whose context it denotes. (The word also names the key
// list of an object; the two do not meet.)
type shaping struct {
	src    string
	tree   *arena
	labels int
	height int
}

func (s *shaping) fail(code string, n *ast, format string, args ...any) *Error {
	e := newError(code, format, args...)
	e.Position = utf16Offset(s.src, n.pos)
	return e
}

// root shapes the whole expression; a % that leads out of it is an error.
func (s *shaping) root(n *ast) (*ast, *Error) {
	r, err := s.shape(n)
	if err != nil {
		return nil, err
	}
	if r.kind == aParent || len(r.seeking) > 0 {
		e := s.fail("S0217", n, "the object that %% refers to cannot be derived")
		e.Token = astNames[r.kind]
		return nil, e
	}
	return r, nil
}

func (s *shaping) each(parent *ast, list []*ast) *Error {
	for i, n := range list {
		r, err := s.shape(n)
		if err != nil {
			return err
		}
		list[i] = r
		inheritSeeking(parent, r)
	}
	return nil
}

func (s *shaping) child(parent *ast, n **ast) *Error {
	if *n == nil {
		return nil
	}
	r, err := s.shape(*n)
	if err != nil {
		return err
	}
	*n = r
	inheritSeeking(parent, r)
	return nil
}

// inheritSeeking hands the unresolved % of a part to the whole.
func inheritSeeking(whole, part *ast) {
	if len(part.seeking) > 0 {
		whole.seeking = append(whole.seeking, part.seeking...)
	}
	if part.kind == aParent {
		whole.seeking = append(whole.seeking, part.slot)
	}
}

func (s *shaping) shape(n *ast) (*ast, *Error) {
	s.height++
	if s.height > maxHeight {
		e := s.fail("L1002", n, "the expression has more than %d levels", maxHeight)
		e.Budget = "nesting"
		return nil, e
	}
	r, err := s.shapeNode(n)
	s.height--
	if err != nil {
		return nil, err
	}
	if n.keepArray {
		r.keepArray = true
	}
	return r, nil
}

func (s *shaping) shapeNode(n *ast) (*ast, *Error) {
	switch n.kind {
	case aName:
		p := s.tree.path(n, n.pos)
		p.keepSingle = n.keepArray
		return p, nil
	case aParent:
		n.slot = &ancestorSlot{label: "%" + strconv.Itoa(s.labels), level: 1}
		s.labels++
		return n, nil
	case aEnd:
		e := s.fail("S0207", n, "unexpected end of the expression")
		e.Token = "(end)"
		return nil, e
	case aPlaceholder:
		return nil, s.fail("S0201", n, "unexpected ?")
	case aNegate:
		r, err := s.shape(n.lhs)
		if err != nil {
			return nil, err
		}
		if r.kind == aNumber {
			r.num = -r.num
			return r, nil
		}
		n.lhs = r
		inheritSeeking(n, r)
	case aArray:
		return n, s.each(n, n.list)
	case aObject:
		return n, s.shapePairs(n, n.pairs)
	case aBlock:
		if err := s.each(n, n.list); err != nil {
			return nil, err
		}
		for _, e := range n.list {
			if e.cons || e.kind == aPath && e.list[0].cons {
				n.cons = true
			}
		}
	case aBinary:
		if err := s.child(n, &n.lhs); err != nil {
			return nil, err
		}
		return n, s.child(n, &n.rhs)
	case aCondition, aDefault, aCoalesce:
		if err := s.child(n, &n.lhs); err != nil {
			return nil, err
		}
		if err := s.child(n, &n.rhs); err != nil {
			return nil, err
		}
		return n, s.child(n, &n.alt)
	case aBind:
		return n, s.child(n, &n.rhs)
	case aApply:
		l, err := s.shape(n.lhs)
		if err != nil {
			return nil, err
		}
		r, err := s.shape(n.rhs)
		if err != nil {
			return nil, err
		}
		n.lhs, n.rhs = l, r
		n.keepArray = n.keepArray || l.keepArray || r.keepArray
	case aCall, aPartial:
		for i, a := range n.list {
			if a.kind == aPlaceholder {
				continue
			}
			r, err := s.shape(a)
			if err != nil {
				return nil, err
			}
			n.list[i] = r
			inheritSeeking(n, r)
		}
		r, err := s.shape(n.lhs)
		if err != nil {
			return nil, err
		}
		n.lhs = r
	case aLambda:
		r, err := s.shape(n.rhs)
		if err != nil {
			return nil, err
		}
		n.rhs = r
		markTail(r)
	case aTransform:
		for _, c := range []**ast{&n.lhs, &n.rhs, &n.alt} {
			if *c == nil {
				continue
			}
			r, err := s.shape(*c)
			if err != nil {
				return nil, err
			}
			*c = r
		}
	case aDot:
		return s.shapeDot(n)
	case aFilter:
		return s.shapeFilter(n)
	case aGroup:
		r, err := s.shape(n.lhs)
		if err != nil {
			return nil, err
		}
		if r.group != nil {
			return nil, s.fail("S0210", n, "a step can have only one grouping")
		}
		g := &groupBy{pairs: n.pairs, pos: n.pos}
		// A % inside a grouping is not traced: jsonata-js leaves it undefined.
		if err := s.shapePairs(s.tree.node(aObject, n.pos), g.pairs); err != nil {
			return nil, err
		}
		r.group = g
		return r, nil
	case aOrder:
		return s.shapeOrder(n)
	case aFocus:
		return s.shapeFocus(n)
	case aIndex:
		return s.shapeIndex(n)
	}
	return n, nil
}

func (s *shaping) shapePairs(parent *ast, pairs [][2]*ast) *Error {
	for i := range pairs {
		if err := s.child(parent, &pairs[i][0]); err != nil {
			return err
		}
		if err := s.child(parent, &pairs[i][1]); err != nil {
			return err
		}
	}
	return nil
}

func (s *shaping) shapeDot(n *ast) (*ast, *Error) {
	l, err := s.shape(n.lhs)
	if err != nil {
		return nil, err
	}
	p := l
	if l.kind != aPath {
		p = s.tree.path(l, n.pos)
	}
	if l.kind == aParent {
		p.seeking = []*ancestorSlot{l.slot}
	}
	r, err := s.shape(n.rhs)
	if err != nil {
		return nil, err
	}
	if r.kind == aPath {
		p.list = append(p.list, r.list...)
	} else {
		r.stages, r.preds = append(r.stages, r.preds...), nil
		p.list = append(p.list, r)
	}
	for _, step := range p.list {
		switch step.kind {
		case aNumber, aLiteral:
			return nil, s.fail("S0213", step, "a literal value cannot be a step of a path")
		case aString:
			step.kind = aName
		}
		if step.keepArray {
			p.keepSingle = true
		}
	}
	if first := p.list[0]; first.kind == aArray {
		first.cons = true
	}
	if last := p.list[len(p.list)-1]; last.kind == aArray {
		last.cons = true
	}
	return p, s.resolve(p)
}

func (s *shaping) shapeFilter(n *ast) (*ast, *Error) {
	r, err := s.shape(n.lhs)
	if err != nil {
		return nil, err
	}
	step := r
	if r.kind == aPath {
		step = r.list[len(r.list)-1]
	}
	if step.group != nil {
		return nil, s.fail("S0209", n, "a predicate cannot follow a grouping")
	}
	f, err := s.shape(n.rhs)
	if err != nil {
		return nil, err
	}
	for _, slot := range f.seeking {
		if slot.level == 1 {
			if err := s.seek(step, slot); err != nil {
				return nil, err
			}
		} else {
			slot.level--
		}
	}
	if len(f.seeking) > 0 { // a bare % is not traced: jsonata-js leaves it undefined
		inheritSeeking(step, f)
	}
	if r.kind == aPath {
		step.stages = append(step.stages, stage{filter: f, pos: n.pos})
	} else {
		step.preds = append(step.preds, stage{filter: f, pos: n.pos})
	}
	return r, nil
}

func (s *shaping) shapeOrder(n *ast) (*ast, *Error) {
	r, err := s.shape(n.lhs)
	if err != nil {
		return nil, err
	}
	if r.kind != aPath {
		r = s.tree.path(r, n.pos)
	}
	step := s.tree.node(aSort, n.pos)
	step.terms = n.terms
	for i := range step.terms {
		if err := s.child(step, &step.terms[i].expr); err != nil {
			return nil, err
		}
	}
	r.list = append(r.list, step)
	return r, s.resolve(r)
}

func (s *shaping) shapeFocus(n *ast) (*ast, *Error) {
	r, err := s.shape(n.lhs)
	if err != nil {
		return nil, err
	}
	step := r
	if r.kind == aPath {
		step = r.list[len(r.list)-1]
	}
	if len(step.stages)+len(step.preds) > 0 {
		return nil, s.fail("S0215", n, "@ must come before predicates")
	}
	if step.kind == aSort {
		return nil, s.fail("S0216", n, "@ must come before an order-by")
	}
	if n.keepArray {
		step.keepArray = true
	}
	step.focus, step.tuple = n.str, true
	return r, nil
}

func (s *shaping) shapeIndex(n *ast) (*ast, *Error) {
	r, err := s.shape(n.lhs)
	if err != nil {
		return nil, err
	}
	if r.kind != aPath {
		r.stages, r.preds = append(r.stages, r.preds...), nil
		r = s.tree.path(r, n.pos)
	}
	step := r.list[len(r.list)-1]
	if len(step.stages) == 0 {
		step.index = n.str
	} else {
		step.stages = append(step.stages, stage{index: n.str, pos: n.pos})
	}
	step.tuple = true
	return r, nil
}

// resolve traces the % of the last step back along the path.
func (s *shaping) resolve(p *ast) *Error {
	last := p.list[len(p.list)-1]
	slots := last.seeking
	if last.kind == aParent {
		slots = append(slots[:len(slots):len(slots)], last.slot)
	}
	for _, slot := range slots {
		i := len(p.list) - 2
		for slot.level > 0 {
			if i < 0 {
				p.seeking = append(p.seeking, slot)
				break
			}
			step := p.list[i]
			i--
			// Steps that only bind a focus stand at the same place.
			for i >= 0 && step.focus != "" && p.list[i].focus != "" {
				step = p.list[i]
				i--
			}
			if err := s.seek(step, slot); err != nil {
				return err
			}
		}
	}
	return nil
}

// seek counts one step for a %, marking the step that turns out to be meant:
// the input of that step is what % evaluates to.
func (s *shaping) seek(n *ast, slot *ancestorSlot) *Error {
	switch n.kind {
	case aName, aWildcard:
		slot.level--
		if slot.level == 0 {
			if n.ancestor == nil {
				n.ancestor = slot
			} else {
				slot.label = n.ancestor.label
				n.ancestor = slot
			}
			n.tuple = true
		}
	case aParent:
		slot.level++
	case aBlock:
		if len(n.list) > 0 {
			n.tuple = true
			return s.seek(n.list[len(n.list)-1], slot)
		}
	case aPath:
		n.tuple = true
		i := len(n.list) - 1
		if err := s.seek(n.list[i], slot); err != nil {
			return err
		}
		for i--; slot.level > 0 && i >= 0; i-- {
			if err := s.seek(n.list[i], slot); err != nil {
				return err
			}
		}
	default:
		e := s.fail("S0217", n, "the object that %% refers to cannot be derived")
		e.Token = astNames[n.kind]
		return e
	}
	return nil
}

// markTail marks the calls whose result is the result of the lambda.
func markTail(n *ast) {
	if len(n.preds) > 0 || n.group != nil {
		return
	}
	n.tail = true
	switch n.kind {
	case aCondition:
		markTail(n.rhs)
		if n.alt != nil {
			markTail(n.alt)
		}
	case aDefault, aCoalesce:
		markTail(n.rhs)
	case aBlock:
		if len(n.list) > 0 {
			markTail(n.list[len(n.list)-1])
		}
	}
}
