package jsonata

import "slices"

// Warning is a construct that is legal and usually means something else than
// its author thought. Code is stable, Position counts UTF-16 units.
type Warning struct {
	Code     string
	Position int
	Message  string
}

const (
	// WarnNull: a path compared with null. Neither = nor != holds when the path
	// finds nothing.
	WarnNull = "W0001"
	// WarnCount: a count compared with 0 where $exists says it.
	WarnCount = "W0002"
	// WarnSingleton: the result is a single value instead of a list when just
	// one item is found; [] at the end keeps the list. Matters for for_each.
	WarnSingleton = "W0003"
)

// analysis finds out what a program may read and what it is worth warning of.
type analysis struct {
	p       *Program
	dynamic bool // a function value may take its context as an argument
	loose   bool // such a call happens where the context is the input
}

func (p *Program) analyse(tree *ast) {
	a := analysis{p: p}
	a.walk(tree, true)
	if a.dynamic && a.loose || p.uses["eval"] {
		p.readsAll = true
	}
	a.p.writes = a.p.writes || p.uses["eval"]
	for _, n := range []string{"now", "millis", "random", "eval", "shuffle"} {
		p.impure = p.impure || p.uses[n]
	}
	if mayCollapse(tree) {
		a.warn(WarnSingleton, tree, "one hit gives a single value, not a list of one; append [] to keep a list")
	}
	p.named = p.reads
	if p.readsAll {
		p.reads = nil
	}
}

func (a *analysis) warn(code string, n *ast, message string) {
	a.p.warnings = append(a.p.warnings, Warning{code, utf16Offset(a.p.src, n.pos), message})
}

func (a *analysis) read(name string) {
	if slices.Contains(a.p.reads, name) {
		return
	}
	a.p.reads = append(a.p.reads, name)
}

func (a *analysis) all() { a.p.readsAll = true }

// walk visits n; top says that its context may be the whole input.
func (a *analysis) walk(n *ast, top bool) {
	if n == nil {
		return
	}
	switch n.kind {
	case aPath:
		a.path(n, top)
		return
	case aName:
		if top {
			a.read(n.str)
		}
	case aVariable:
		switch {
		case n.str == "$", n.str == "" && top:
			a.all()
		case n.str == "toMillis":
			a.p.impure = true
		}
		if b := builtinByName(n.str); b != nil && contextual(b.sig) {
			a.dynamic = true
		}
	case aWildcard, aDescendants:
		if top {
			a.all()
		}
	case aParent:
		a.all()
	case aCall, aPartial:
		a.call(n, top)
		a.rest(n)
		return
	case aLambda:
		if n.sig != nil && contextual(n.sig) {
			a.dynamic = true
		}
		a.walk(n.rhs, top)
		return
	case aApply:
		a.walk(n.lhs, top)
		if n.rhs.kind == aCall && n.rhs.lhs.kind == aVariable && builtinByName(n.rhs.lhs.str) != nil {
			for _, arg := range n.rhs.list {
				a.walk(arg, top)
			}
			a.clock(n.rhs, len(n.rhs.list)+1)
			a.missingContext(n.rhs, len(n.rhs.list)+1, top)
			a.rest(n)
			return
		}
		a.walk(n.rhs, top)
		a.rest(n)
		return
	case aTransform:
		if n.lhs.any(func(m *ast) bool { return m.kind == aVariable && m.str != "" }) {
			a.p.writes = true // the pattern may find objects that are not in the copy
		}
		a.walk(n.lhs, false)
		a.walk(n.rhs, false)
		a.walk(n.alt, false)
		return
	case aBinary:
		a.compare(n)
	}
	a.walk(n.lhs, top)
	a.walk(n.rhs, top)
	a.walk(n.alt, top)
	for _, c := range n.list {
		a.walk(c, top)
	}
	for _, p := range n.pairs {
		a.walk(p[0], top)
		a.walk(p[1], top)
	}
	a.rest(n)
}

// rest visits predicates and grouping, whose context is the value of n. Should
// that be the input itself, then n was $ or $$ and all is read anyway.
func (a *analysis) rest(n *ast) {
	for _, st := range n.preds {
		a.walk(st.filter, false)
	}
	if n.group != nil {
		for _, p := range n.group.pairs {
			a.walk(p[0], false)
			a.walk(p[1], false)
		}
	}
}

func (a *analysis) path(n *ast, top bool) {
	steps := n.list
	first := steps[0]
	context := first.kind == aVariable && (first.str == "$" || first.str == "" && top)
	bare := len(first.preds)+len(first.stages) == 0 && first.focus == "" && first.group == nil
	if context && bare && len(steps) > 1 && steps[1].kind == aName {
		// $.name and $$.name read one member.
		steps = steps[1:]
		a.read(steps[0].str)
	}
	f := steps[0]
	plain := f.kind == aName && f.group == nil && f.focus == ""
	if plain && (top || len(steps) < len(n.list)) && len(steps) > 1 && steps[1].kind == aName {
		a.p.members = append(a.p.members, [2]string{f.str, steps[1].str})
	}
	for i, s := range steps {
		if s.ancestor != nil {
			a.all()
		}
		switch s.kind {
		case aName:
			if top {
				a.read(s.str)
			}
			a.rest(s)
			if s.group != nil {
				for _, p := range s.group.pairs {
					a.walk(p[0], top)
					a.walk(p[1], top)
				}
			}
		case aSort:
			for _, t := range s.terms {
				a.walk(t.expr, top && i > 0)
			}
		default:
			a.walk(s, top)
		}
		// A focus leaves the context where it was, and a sort only orders what
		// may be the input still.
		top = top && (s.focus != "" || s.kind == aSort)
		for _, st := range s.stages {
			if st.filter != nil {
				a.walk(st.filter, top)
			}
		}
	}
	if n.group != nil {
		for _, p := range n.group.pairs {
			a.walk(p[0], top)
			a.walk(p[1], top)
		}
	} else if top {
		a.all() // the last step binds a focus: the result is the input itself
	}
}

// contextual says that a function may take the input, when that is an object
// or list, for an argument. Inputs of other kinds are read whole anyway.
func contextual(s *signature) bool {
	for _, p := range s.params {
		if p.context && p.mask&(sigObject|sigArray) != 0 {
			return true
		}
	}
	return false
}

func (a *analysis) call(n *ast, top bool) {
	if n.lhs.kind == aVariable && builtinByName(n.lhs.str) != nil {
		a.clock(n, len(n.list))
		a.missingContext(n, len(n.list), top)
	} else {
		a.loose = a.loose || top
		a.walk(n.lhs, top)
	}
	for _, arg := range n.list {
		if arg.kind != aPlaceholder {
			a.walk(arg, top)
		}
	}
}

// clock notes the one use of the clock that is not a function of its own: a
// time without a date is a time of today.
func (a *analysis) clock(n *ast, args int) {
	if n.lhs.str == "toMillis" && args != 1 {
		a.p.impure = true
	}
}

// missingContext notes that a builtin falls back on its context.
func (a *analysis) missingContext(n *ast, args int, top bool) {
	b := builtinByName(n.lhs.str)
	if top && contextual(b.sig) && args < len(b.sig.params) {
		if args == 0 || !b.sig.params[1].opt || b.sig.params[1].mask&^b.sig.params[0].mask != 0 {
			a.all()
		}
	}
	// The variable may also be the author's own function of that name.
	a.loose = a.loose || top
}

func isNullLiteral(n *ast) bool { return n.kind == aLiteral && n.lit == null }

func (a *analysis) compare(n *ast) {
	switch n.str {
	case "=", "!=":
		x, y := n.lhs, n.rhs
		if isNullLiteral(x) {
			x, y = y, x
		}
		if isNullLiteral(y) && x.kind == aPath {
			a.warn(
				WarnNull, n,
				"a path that finds nothing is neither = nor != null; use $exists to ask whether it is there",
			)
		}
	case ">", "<", ">=", "<=":
		x, y := n.lhs, n.rhs
		if x.kind == aNumber {
			x, y = y, x
		}
		if y.kind == aNumber && y.num <= 1 && x.kind == aCall && x.lhs.kind == aVariable && x.lhs.str == "count" {
			a.warn(
				WarnCount, n,
				"to ask whether anything was found, $exists is the plainer question; a single value counts as 1",
			)
		}
	}
}

// mayCollapse says that an expression can give one value where several were
// possible.
func mayCollapse(n *ast) bool {
	if n.keepArray || n.keepSingle || n.group != nil {
		return false
	}
	switch n.kind {
	case aPath:
		last := n.list[len(n.list)-1]
		if len(last.stages) > 0 && last.stages[0].filter != nil && last.stages[0].filter.kind == aNumber {
			return false
		}
		for _, s := range n.list {
			// Names alone may well mean one value; these mean several.
			if hasFilter(s.stages) || hasFilter(s.preds) || s.kind == aSort || s.kind == aObject || s.tuple {
				return true
			}
		}
		return false
	case aCall:
		return n.lhs.kind == aVariable && (n.lhs.str == "filter" || n.lhs.str == "map" || n.lhs.str == "match")
	case aApply:
		return mayCollapse(n.rhs)
	case aCondition, aDefault, aCoalesce:
		return mayCollapse(n.rhs) || n.alt != nil && mayCollapse(n.alt)
	case aBlock:
		return len(n.list) > 0 && mayCollapse(n.list[len(n.list)-1])
	case aVariable:
		return hasFilter(n.preds)
	}
	return false
}

func hasFilter(stages []stage) bool {
	for _, s := range stages {
		if s.filter != nil && s.filter.kind != aNumber {
			return true
		}
	}
	return false
}
