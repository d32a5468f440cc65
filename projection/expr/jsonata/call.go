package jsonata

// builtinCall calls a builtin that no variable can hide.
type builtinCall struct {
	b    *builtin
	args []node
	keep bool
	tail bool
	raw  bool // see sequencer
	pos  int

	scope *scope // of $eval: the variables its expression can see
}

// callNode calls whatever its callee evaluates to.
type callNode struct {
	callee node
	args   []node
	keep   bool
	tail   bool
	raw    bool // see sequencer
	pos    int
	token  string
	known  node // for a bare name: the variable it was probably meant to be
}

func (c *compiler) call(n *ast) node {
	if n.lhs.kind == aVariable && len(n.lhs.preds) == 0 && n.lhs.group == nil {
		if b := builtinByName(n.lhs.str); b != nil && len(c.lookup(n.lhs.str)) == 0 {
			bc := &builtinCall{b: b, args: c.list(n.list), keep: n.keepArray, tail: n.tail, pos: n.pos}
			if b.name == "eval" {
				bc.scope = c.scope
			}
			return bc
		}
	}
	cn := &callNode{args: c.list(n.list), keep: n.keepArray, tail: n.tail, pos: n.pos}
	cn.callee, cn.token, cn.known = c.callee(n)
	return cn
}

func (c *compiler) callee(n *ast) (callee node, token string, known node) {
	token = n.lhs.str
	if n.lhs.kind == aPath {
		first := n.lhs.list[0]
		token = first.str
		if first.kind == aName {
			known = &varNode{refs: c.lookup(first.str), name: first.str, builtin: builtinByName(first.str)}
		}
	}
	return c.compile(n.lhs), token, known
}

func (c *compiler) list(ns []*ast) []node {
	out := make([]node, len(ns))
	for i, n := range ns {
		out[i] = c.compile(n)
	}
	return out
}

func (n *builtinCall) eval(ev *evaluator, in value, fr *frame) (value, error) {
	v, err := n.with(ev, unbound, in, fr)
	if err != nil || n.tail || n.raw {
		return v, err
	}
	return ev.collapseKeep(v, n.keep), nil
}

// with calls with an extra first argument unless that is unbound.
func (n *builtinCall) with(ev *evaluator, first, in value, fr *frame) (value, error) {
	if ev.bindings != nil {
		if fv, ok := ev.bindings[n.b.name]; ok {
			c := &callNode{callee: &constNode{fv}, args: n.args, tail: n.tail, pos: n.pos, token: n.b.name}
			return c.with(ev, first, in, fr)
		}
	}
	mark := len(ev.scratch)
	if !first.isUnbound() {
		if err := ev.push(first); err != nil {
			return undefined, err
		}
	}
	if err := ev.pushArgs(n.args, in, fr, n.tail); err != nil {
		return undefined, err
	}
	if err := ev.fillOptional(n.b.sig, mark); err != nil {
		return undefined, err
	}
	if n.scope != nil {
		ev.evalScope, ev.evalFrame = n.scope, fr
	}
	if n.tail {
		in = ev.applied
	}
	v, err := ev.callBuiltin(n.b, ev.scratch[mark:], in)
	if err != nil {
		return undefined, ev.at(err, n.pos, n.b.name)
	}
	ev.scratch = ev.scratch[:mark]
	return v, nil
}

// fillOptional makes the optional parameters at the end undefined when each
// argument given fits its own place: then they need not be assigned to places.
func (ev *evaluator) fillOptional(sig *signature, mark int) error {
	given := len(ev.scratch) - mark
	if given == 0 || given >= len(sig.params) {
		return nil
	}
	for k := range given {
		if sig.params[k].mask&sigBit(ev.scratch[mark+k]) == 0 {
			return nil
		}
	}
	for k := given; k < len(sig.params); k++ {
		if p := &sig.params[k]; !p.opt || p.context || p.mask&sigMissing == 0 {
			return nil
		}
	}
	for range len(sig.params) - given {
		if err := ev.push(undefined); err != nil {
			return err
		}
	}
	return nil
}

// pushArgs evaluates arguments onto the scratch. A function handed over loses
// sight of the context from here on, but not in a tail call.
func (ev *evaluator) pushArgs(args []node, in value, fr *frame, tail bool) error {
	for _, a := range args {
		v, err := a.eval(ev, in, fr)
		if err != nil {
			return err
		}
		if v.isFunction() && !tail {
			v = v.wrapped()
		}
		if err := ev.push(v); err != nil {
			return err
		}
	}
	return nil
}

func (n *callNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	fv, err := n.target(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	if fv.isFunction() && fv.fn().kind == fnLambda {
		f := fv.fn()
		callee, err := n.frameFor(ev, fv, in, fr)
		if err != nil {
			return undefined, err
		}
		if n.tail {
			ev.tailFn, ev.tailFrame = f, callee
			return tailCall, nil
		}
		v, err := ev.run(f, callee, in)
		if err != nil {
			return undefined, ev.at(err, n.pos, n.token)
		}
		if n.raw {
			return v, nil
		}
		return ev.collapseKeep(v, n.keep), nil
	}
	v, err := n.invoke(ev, fv, unbound, in, fr)
	if err != nil || n.tail || n.raw {
		return v, err
	}
	return ev.collapseKeep(v, n.keep), nil
}

func (n *callNode) target(ev *evaluator, in value, fr *frame) (value, error) {
	fv, err := n.callee.eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	if fv.isUndefined() && n.known != nil {
		if v, _ := n.known.eval(ev, in, fr); !v.isUndefined() {
			return undefined, ev.fail(
				"T1005", n.pos, n.token, "%q is not a function; did you mean $%s?", n.token, n.token,
			)
		}
	}
	return fv, nil
}

// frameFor evaluates the arguments straight into the frame of a lambda.
func (n *callNode) frameFor(ev *evaluator, fv, in value, fr *frame) (*frame, error) {
	f := fv.fn()
	l := f.lambda
	if l.sig != nil {
		mark := len(ev.scratch)
		if err := ev.pushArgs(n.args, in, fr, n.tail); err != nil {
			return nil, err
		}
		context := in
		switch {
		case fv.isWrapped():
			context = null
		case n.tail:
			context = ev.applied
		}
		callee, err := ev.enter(f, ev.scratch[mark:], context)
		if err != nil {
			return nil, ev.at(err, n.pos, n.token)
		}
		ev.scratch = ev.scratch[:mark]
		return callee, nil
	}
	callee, err := ev.newFrame(l.frame.slots, f.env)
	if err != nil {
		return nil, err
	}
	for i, a := range n.args {
		v, err := a.eval(ev, in, fr)
		if err != nil {
			return nil, err
		}
		if v.isFunction() && !n.tail {
			v = v.wrapped()
		}
		if i < len(l.params) {
			callee.slots[l.params[i]] = v
		}
	}
	for i := len(n.args); i < len(l.params); i++ {
		callee.slots[l.params[i]] = undefined
	}
	return callee, nil
}

// with calls with an extra first argument unless that is unbound.
func (n *callNode) with(ev *evaluator, first, in value, fr *frame) (value, error) {
	fv, err := n.target(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	return n.invoke(ev, fv, first, in, fr)
}

func (n *callNode) invoke(ev *evaluator, fv, first, in value, fr *frame) (value, error) {
	mark := len(ev.scratch)
	if !first.isUnbound() {
		if err := ev.push(first); err != nil {
			return undefined, err
		}
	}
	if err := ev.pushArgs(n.args, in, fr, n.tail); err != nil {
		return undefined, err
	}
	if n.tail {
		in = ev.applied
	}
	if !fv.isFunction() {
		return undefined, ev.fail("T1006", n.pos, n.token, "attempted to call something that is not a function")
	}
	v, err := ev.apply(fv, ev.scratch[mark:], in)
	if err != nil {
		return undefined, ev.at(err, n.pos, n.token)
	}
	ev.scratch = ev.scratch[:mark]
	return v, nil
}

// partialNode is f(?, x).
type partialNode struct {
	callee node
	args   []node // nil for a placeholder
	pos    int
	token  string
	known  node
}

func (c *compiler) partial(n *ast) node {
	p := &partialNode{pos: n.pos}
	for _, a := range n.list {
		if a.kind == aPlaceholder {
			p.args = append(p.args, nil)
		} else {
			p.args = append(p.args, c.compile(a))
		}
	}
	p.callee, p.token, p.known = c.callee(n)
	return p
}

func (n *partialNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	args, err := ev.values(len(n.args))
	if err != nil {
		return undefined, err
	}
	for i, a := range n.args {
		args[i] = unbound
		if a == nil {
			continue
		}
		args[i], err = a.eval(ev, in, fr)
		if err != nil {
			return undefined, err
		}
	}
	fv, err := n.callee.eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	if fv.isUndefined() && n.known != nil {
		if v, _ := n.known.eval(ev, in, fr); !v.isUndefined() {
			return undefined, ev.fail(
				"T1007", n.pos, n.token, "%q is not a function; did you mean $%s?", n.token, n.token,
			)
		}
	}
	if !fv.isFunction() {
		return undefined, ev.fail(
			"T1008", n.pos, n.token, "attempted to partially apply something that is not a function",
		)
	}
	if f := fv.fn(); f.kind == fnBuiltin {
		switch f.builtin.name {
		case "string":
			// jsonata-js trips over the default value of its second parameter.
			return undefined, ev.fail("S0208", n.pos, n.token, "$string cannot be partially applied")
		case "zip":
			args = args[:min(1, len(args))] // it declares no parameters, so the rest is lost
		}
	}
	return functionValue(&function{kind: fnPartial, target: fv, args: args}), ev.alloc(160)
}

// applyNode is a ~> f, a ~> f(x) or f ~> g.
type applyNode struct {
	lhs  node
	call interface {
		with(ev *evaluator, first, in value, fr *frame) (value, error)
	}
	rhs  node
	keep bool
	raw  bool // see sequencer
	pos  int
}

func (c *compiler) apply(n *ast) node {
	a := &applyNode{lhs: c.compile(n.lhs), keep: n.keepArray, pos: n.pos}
	if n.rhs.kind == aCall {
		switch r := c.call(n.rhs).(type) {
		case *builtinCall:
			a.call = r
		case *callNode:
			a.call = r
		}
		return a
	}
	a.rhs = c.compile(n.rhs)
	return a
}

func (n *applyNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	l, err := n.lhs.eval(ev, in, fr)
	if err != nil {
		return undefined, err
	}
	var v value
	if n.call != nil {
		v, err = n.call.with(ev, l, in, fr)
	} else {
		var f value
		f, err = n.rhs.eval(ev, in, fr)
		if err != nil {
			return undefined, err
		}
		if !f.isFunction() {
			return undefined, ev.fail("T2006", n.pos, "~>", "the right side of ~> must be a function")
		}
		if l.isFunction() {
			return functionValue(&function{kind: fnCompose, target: l, second: f}), ev.alloc(160)
		}
		mark := len(ev.scratch)
		if err := ev.push(l); err != nil {
			return undefined, err
		}
		v, err = ev.apply(f, ev.scratch[mark:], null)
		ev.scratch = ev.scratch[:mark]
	}
	if err != nil {
		return undefined, ev.at(err, n.pos, "~>")
	}
	if n.raw {
		return v, nil
	}
	return ev.collapseKeep(v, n.keep), nil
}
