package jsonata

// leaksInternals says that jsonata-js shows the inner objects of its tuple
// streams, {"@": item, "!0": parent}, to the expression or to its caller. Its
// answer then says nothing about the language; doc.go has the two constructs.
// So with a regular expression left of ?? or ?:, which jsonata-js evaluates
// twice with one stateful object, and may never end. It looks at the shaped
// tree, so that nothing else is left out.
func leaksInternals(expr string) bool {
	ps := parser{lexer: lexer{src: expr}, tree: newArena()}
	tree, err := ps.parse()
	if err != nil {
		return false
	}
	sh := shaping{src: expr, tree: ps.tree}
	if tree, err = sh.root(tree); err != nil {
		return false
	}
	leaks := false
	visit(tree, false, func(n *ast, step bool) {
		switch {
		case n.kind == aPath:
			leaks = leaks || sortsTuplesAndGoesOn(n)
		case n.kind == aDefault || n.kind == aCoalesce:
			visit(n.lhs, false, func(m *ast, _ bool) { leaks = leaks || m.kind == aRegex })
		case n.kind == aBlock && !step:
			// (x)[%...] that no path takes the tuples of.
			for _, p := range n.preds {
				visit(p.filter, false, func(m *ast, _ bool) { leaks = leaks || m.kind == aParent })
			}
		}
	})
	return leaks
}

// sortsTuplesAndGoesOn finds a sort of tuples that has a predicate,
// grouping or another sort behind it: the sorted array has lost the mark of a tuple
// stream, and so what follows sees the tuples themselves.
func sortsTuplesAndGoesOn(n *ast) bool {
	tuples := false
	for i, s := range n.list {
		if tuples && s.kind == aSort &&
			(len(s.stages) > 0 || i+1 == len(n.list) && n.group != nil ||
				i+1 < len(n.list) && n.list[i+1].kind == aSort) {
			return true
		}
		tuples = tuples || s.tuple
	}
	return false
}

// visit calls f for every node; step says that it is a step of a path.
func visit(n *ast, step bool, f func(n *ast, step bool)) {
	if n == nil {
		return
	}
	f(n, step)
	visit(n.lhs, false, f)
	visit(n.rhs, false, f)
	visit(n.alt, false, f)
	for _, c := range n.list {
		visit(c, n.kind == aPath, f)
	}
	for _, p := range n.pairs {
		visit(p[0], false, f)
		visit(p[1], false, f)
	}
	for _, t := range n.terms {
		visit(t.expr, false, f)
	}
	for _, st := range append(append([]stage(nil), n.preds...), n.stages...) {
		visit(st.filter, false, f)
	}
	if n.group != nil {
		for _, p := range n.group.pairs {
			visit(p[0], false, f)
			visit(p[1], false, f)
		}
	}
}
