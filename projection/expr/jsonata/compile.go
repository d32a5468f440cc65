package jsonata

// compiler turns the shaped tree into nodes, giving every variable its place.
type compiler struct {
	src    string
	scope  *scope
	caches int
	level  int // open nodes in the current lambda
	height int // highest level in the current lambda
}

// scope is a stretch of the expression with variables of its own. Scopes that
// no closure can outlive share the frame of the scope around them.
type scope struct {
	parent *scope
	frame  *frameInfo
	names  []slotName
	tuples bool // holds the variables of a tuple stream, never assigned ones
}

type slotName struct {
	name string
	slot int
}

type frameInfo struct {
	depth    int
	slots    int
	captured bool
	fixed    bool // a tuple's frame: its slots are the layout's, nothing may be added
}

func (s *scope) declare(name string) int {
	for _, n := range s.names {
		if n.name == name {
			return n.slot
		}
	}
	slot := s.frame.slots
	s.frame.slots++
	s.names = append(s.names, slotName{name, slot})
	return slot
}

// open enters a scope; own asks for a frame of its own.
func (c *compiler) open(own bool, captured bool) *scope {
	s := &scope{parent: c.scope}
	switch {
	case c.scope == nil:
		s.frame = &frameInfo{captured: captured}
	case own:
		s.frame = &frameInfo{depth: c.scope.frame.depth + 1, captured: captured}
	default:
		s.frame = c.scope.frame
	}
	c.scope = s
	return s
}

func (c *compiler) close(s *scope) { c.scope = s.parent }

// slotRef finds a variable: up frames outwards, then the slot.
type slotRef struct{ up, slot int }

func (c *compiler) lookup(name string) []slotRef {
	var refs []slotRef
	for s := c.scope; s != nil; s = s.parent {
		for _, n := range s.names {
			if n.name == name {
				refs = append(refs, slotRef{c.scope.frame.depth - s.frame.depth, n.slot})
			}
		}
	}
	return refs
}

func (c *compiler) newCache() int {
	c.caches++
	return c.caches - 1
}

// compile makes the node of n, with everything that hangs on it.
func (c *compiler) compile(n *ast) node {
	c.level++
	c.height = max(c.height, c.level)
	var r node
	if n.kind == aBlock && n.tuple && len(n.preds) > 0 {
		// (x)[%.y] where no path takes the tuples over.
		layout := &tupleLayout{}
		r = c.filtered(c.block(n, layout), n, true, layout)
		r = &itemsNode{inner: r, keep: n.keepArray}
	} else if r = c.bare(n); n.kind != aPath {
		r = c.filtered(r, n, n.tuple, nil)
	}
	if n.kind != aPath {
		r = c.grouped(r, n)
	}
	c.level--
	return r
}

func (c *compiler) bare(n *ast) node {
	switch n.kind {
	case aPath:
		return c.path(n)
	case aName:
		return &nameNode{name: n.str, cache: c.newCache(), keep: n.keepArray}
	case aString:
		return &constNode{stringValue(n.str)}
	case aNumber:
		return &constNode{numberValue(n.num)}
	case aLiteral:
		return &constNode{n.lit}
	case aRegex:
		return &constNode{functionValue(&function{kind: fnRegex, re: n.re})}
	case aVariable:
		return c.variable(n)
	case aWildcard:
		return &wildcardNode{keep: n.keepArray}
	case aDescendants:
		return &descendantsNode{keep: n.keepArray}
	case aParent:
		return &varNode{refs: c.lookup(n.slot.label), name: n.slot.label}
	case aBinary:
		return c.binary(n)
	case aNegate:
		return &negateNode{c.compile(n.lhs), n.pos}
	case aArray:
		return c.array(n)
	case aObject:
		return &groupNode{inner: nil, group: c.group(&groupBy{pairs: n.pairs, pos: n.pos})}
	case aBlock:
		return c.block(n, nil)
	case aCondition:
		cn := &conditionNode{cond: c.compile(n.lhs), yes: c.compile(n.rhs), tail: n.tail}
		if n.alt != nil {
			cn.no = c.compile(n.alt)
		}
		return cn
	case aDefault:
		return &defaultNode{c.compile(n.lhs), c.compile(n.rhs), n.tail}
	case aCoalesce:
		return &coalesceNode{c.compile(n.lhs), c.compile(n.rhs), n.tail}
	case aBind:
		s := c.scope
		for s.tuples {
			s = s.parent
		}
		slot := s.declare(n.str)
		rhs := c.compile(n.rhs)
		return &bindNode{value: rhs, up: c.scope.frame.depth - s.frame.depth, slot: slot}
	case aCall:
		return c.call(n)
	case aPartial:
		return c.partial(n)
	case aLambda:
		return c.lambda(n)
	case aTransform:
		t := &transformNode{pattern: c.compile(n.lhs), update: c.compile(n.rhs), pos: n.pos}
		if n.alt != nil {
			t.remove = c.compile(n.alt)
		}
		return t
	case aApply:
		return c.apply(n)
	}
	return &constNode{undefined}
}

func (c *compiler) variable(n *ast) node {
	switch n.str {
	case "":
		return contextNode{}
	case "$":
		return rootNode{}
	}
	return &varNode{refs: c.lookup(n.str), name: n.str, builtin: builtinByName(n.str), keep: n.keepArray}
}

func (c *compiler) block(n *ast, layout *tupleLayout) node {
	s := c.open((n.closures || c.scope.frame.fixed) && len(n.names) > 0, n.closures)
	own := c.scope.parent != nil && s.frame != c.scope.parent.frame
	first := s.frame.slots
	for _, name := range n.names {
		s.declare(name)
	}
	b := &blockNode{first: first, count: len(n.names), tail: n.tail}
	for i, e := range n.list {
		if layout != nil && i == len(n.list)-1 {
			b.list = append(b.list, c.tuplesOf(e, layout))
		} else {
			b.list = append(b.list, c.compile(e))
		}
	}
	if own {
		b.frame = s.frame
	}
	c.close(s)
	if b.count == 0 && len(b.list) == 1 && n.list[0].kind != aCall {
		return b.list[0]
	}
	return b
}

// tuplesOf compiles an expression whose tuples the path around it takes over.
func (c *compiler) tuplesOf(n *ast, layout *tupleLayout) node {
	if !n.tuple {
		return c.compile(n)
	}
	var r node
	switch n.kind {
	case aPath:
		return c.tuplePath(n, layout, true)
	case aBlock:
		r = c.block(n, layout)
	default:
		return c.compile(n)
	}
	return c.grouped(c.filtered(r, n, true, layout), n)
}

// grouped puts the grouping of n around its node.
func (c *compiler) grouped(inner node, n *ast) node {
	if n.group == nil {
		return inner
	}
	if s, ok := inner.(sequencer); ok && (n.kind != aBlock || len(n.preds) > 0) {
		s.leaveRaw()
	}
	return &groupNode{inner: inner, group: c.group(n.group)}
}

// filtered puts the predicates of n around its node.
func (c *compiler) filtered(inner node, n *ast, tuples bool, layout *tupleLayout) node {
	if len(n.preds) == 0 {
		return inner
	}
	if layout == nil {
		layout = &tupleLayout{}
	}
	if s, ok := inner.(sequencer); ok && n.kind != aBlock { // a block is finished inside
		s.leaveRaw()
	}
	f := &filterNode{inner: inner, tuples: tuples, layout: layout, keep: n.keepArray}
	for _, p := range n.preds {
		f.stages = append(f.stages, c.stage(p, tuples, layout))
	}
	return f
}

func (c *compiler) array(n *ast) node {
	a := &arrayNode{cons: n.cons}
	for _, e := range n.list {
		a.items = append(a.items, arrayItem{node: c.compile(e), nested: e.kind == aArray})
	}
	return a
}

func (c *compiler) lambda(n *ast) node {
	level, height := c.level, c.height
	c.level, c.height = 0, 0
	s := c.open(true, n.closures)
	l := &lambdaNode{sig: n.sig, frame: s.frame}
	for _, p := range n.list {
		l.params = append(l.params, s.declare(p.str))
	}
	for _, name := range n.names {
		s.declare(name)
	}
	l.body = c.compile(n.rhs)
	c.close(s)
	l.height = c.height + 4
	c.level, c.height = level, max(height, level+1)
	return l
}

func (c *compiler) group(g *groupBy) *groupSpec {
	spec := &groupSpec{pos: g.pos}
	keys := make([]string, 0, len(g.pairs))
	static := true
	for _, p := range g.pairs {
		m := groupMember{value: c.compile(p[1])}
		if p[0].kind == aString && len(p[0].preds) == 0 && p[0].group == nil {
			m.literal, m.name = true, p[0].str
			for _, k := range keys {
				if k == m.name {
					static = false
				}
			}
			keys = append(keys, m.name)
			if isArrayIndex(m.name) {
				static = false
			}
		} else {
			m.key = c.compile(p[0])
			static = false
		}
		spec.members = append(spec.members, m)
	}
	if static {
		spec.shape = newShape(keys)
	}
	return spec
}
