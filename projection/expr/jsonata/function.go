package jsonata

import "slices"

type functionKind uint8

const (
	fnLambda functionKind = iota
	fnBuiltin
	fnPartial
	fnRegex
	fnNext // the next function of a match object
	fnCompose
	fnTransform
)

// function is any callable value.
type function struct {
	kind functionKind

	lambda *lambdaNode
	env    *frame
	input  value // $ inside a lambda is the context of its definition

	builtin *builtin
	re      *regex
	next    *matchState

	target value   // fnPartial; the first of fnCompose
	second value   // fnCompose
	args   []value // fnPartial: unbound marks the places to fill

	transform *transformNode
}

// builtin is a function of the library.
type builtin struct {
	name  string
	sig   *signature
	arity int // how many arguments a higher-order function passes
	call  func(ev *evaluator, args []value, context value) (value, error)
	value value
}

// arity is the number of parameters a higher-order function may fill.
func (f *function) arity() int {
	switch f.kind {
	case fnLambda:
		return len(f.lambda.params)
	case fnBuiltin:
		return f.builtin.arity
	case fnPartial:
		n := 0
		for _, a := range f.args {
			if a.isUnbound() {
				n++
			}
		}
		return n
	case fnRegex:
		return 2
	case fnNext:
		return 0
	}
	return 1
}

// lambdaNode is function($a, $b){ ... }.
type lambdaNode struct {
	params []int
	body   node
	frame  *frameInfo
	sig    *signature
	height int // levels of the tree that a call adds to the Go stack
}

func (n *lambdaNode) eval(ev *evaluator, in value, fr *frame) (value, error) {
	if err := ev.alloc(128); err != nil {
		return undefined, err
	}
	return functionValue(&function{kind: fnLambda, lambda: n, env: fr, input: in}), nil
}

// maxStack bounds the tree levels of all open calls together, whatever
// Limits.Depth says: it is what keeps the Go stack small.
const maxStack = 120_000

// run evaluates a lambda in a prepared frame, following tail calls in place.
// The context is that of the caller: a call at the end of the lambda sees it
// instead of the lambda's own, because jsonata-js puts such a call off until
// the lambda has returned.
func (ev *evaluator) run(f *function, fr *frame, context value) (value, error) {
	applied := ev.applied
	ev.applied = context
	ev.depth++
	if ev.depth > ev.maxDepth {
		ev.maxDepth = ev.depth
		if ev.depth > ev.lim.Depth {
			return undefined, ev.tooDeep()
		}
	}
	height := f.lambda.height
	ev.stack += height
	if ev.stack > maxStack {
		return undefined, ev.tooDeep()
	}
	for {
		if err := ev.tick(); err != nil {
			return undefined, err
		}
		v, err := f.lambda.body.eval(ev, f.input, fr)
		if err != nil {
			return undefined, err
		}
		if !f.lambda.frame.captured {
			ev.release(fr)
		}
		if !v.isTail() {
			ev.depth--
			ev.stack -= height
			ev.applied = applied
			return v, nil
		}
		f, fr = ev.tailFn, ev.tailFrame
		ev.tailFn, ev.tailFrame = nil, nil
		if h := f.lambda.height; h > height {
			ev.stack += h - height
			height = h
			if ev.stack > maxStack {
				return undefined, ev.tooDeep()
			}
		}
	}
}

// enter prepares the frame of a lambda call.
func (ev *evaluator) enter(f *function, args []value, context value) (*frame, error) {
	l := f.lambda
	if l.sig != nil {
		var err error
		args, err = l.sig.validate(ev, args, context)
		if err != nil {
			return nil, err
		}
	}
	fr, err := ev.newFrame(l.frame.slots, f.env)
	if err != nil {
		return nil, err
	}
	for i, slot := range l.params {
		if i < len(args) {
			fr.slots[slot] = args[i]
		} else {
			fr.slots[slot] = undefined
		}
	}
	return fr, nil
}

// apply calls a function value. Results of builtins are not collapsed.
func (ev *evaluator) apply(fv value, args []value, context value) (value, error) {
	if fv.isWrapped() {
		context = null
	}
	f := fv.fn()
	switch f.kind {
	case fnLambda:
		fr, err := ev.enter(f, args, context)
		if err != nil {
			return undefined, err
		}
		return ev.run(f, fr, context)
	case fnBuiltin:
		return ev.callBuiltin(f.builtin, args, context)
	}
	// These call further functions without a lambda in between.
	ev.depth++
	ev.stack += 8
	if ev.depth > ev.lim.Depth || ev.stack > maxStack {
		return undefined, ev.tooDeep()
	}
	v, err := ev.applyOther(f, args, context)
	ev.depth--
	ev.stack -= 8
	return v, err
}

func (ev *evaluator) applyOther(f *function, args []value, context value) (value, error) {
	arg := func(i int) value {
		if i < len(args) {
			return args[i]
		}
		return undefined
	}
	switch f.kind {
	case fnPartial:
		full, err := ev.values(len(f.args))
		if err != nil {
			return undefined, err
		}
		k := 0
		for i, a := range f.args {
			if a.isUnbound() {
				a = arg(k)
				k++
			}
			full[i] = a
		}
		t := f.target.fn()
		if t.kind == fnLambda && t.lambda.sig != nil {
			// A partial application is called without its signature.
			fr, err := ev.newFrame(t.lambda.frame.slots, t.env)
			if err != nil {
				return undefined, err
			}
			for i, slot := range t.lambda.params {
				fr.slots[slot] = undefined
				if i < len(full) {
					fr.slots[slot] = full[i]
				}
			}
			return ev.run(t, fr, context)
		}
		if t.kind == fnBuiltin {
			return ev.callPositional(t.builtin, full)
		}
		return ev.apply(f.target, full, context)
	case fnRegex:
		return ev.regexCall(f.re, arg(0), arg(1))
	case fnNext:
		return f.next.advance(ev)
	case fnCompose:
		v, err := ev.apply(f.target, args[:min(1, len(args))], null)
		if err != nil {
			return undefined, err
		}
		// The second call is the tail call of the composed function.
		return ev.apply(f.second, []value{collapse(v)}, context)
	case fnTransform:
		return f.transform.run(ev, arg(0), f)
	}
	return undefined, nil
}

func (ev *evaluator) callBuiltin(b *builtin, args []value, context value) (value, error) {
	if b.forbidden(ev) {
		return undefined, newError("L0006", "$%s is not allowed here", b.name)
	}
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	args, err := b.sig.validate(ev, args, context)
	if err != nil {
		return undefined, err
	}
	return b.call(ev, args, context)
}

// callPositional calls a builtin as a partial application does: each argument
// is for the parameter of its place, any may be missing, and no context stands
// in. The types are those of the signature all the same.
func (ev *evaluator) callPositional(b *builtin, args []value) (value, error) {
	if b.forbidden(ev) {
		return undefined, newError("L0006", "$%s is not allowed here", b.name)
	}
	if err := ev.tick(); err != nil {
		return undefined, err
	}
	for len(args) < len(b.sig.params) {
		args = append(args, undefined)
	}
	for i := range b.sig.params {
		p, bit := &b.sig.params[i], sigBit(args[i])
		if bit != sigMissing && p.mask&bit == 0 {
			return undefined, newError("T0410", "argument %d does not match the signature %s", i+1, b.sig.text)
		}
		if p.array {
			if err := p.asArray(ev, &args[i], bit, true); err != nil {
				return undefined, err
			}
		}
	}
	return b.call(ev, args, null)
}

func (b *builtin) forbidden(ev *evaluator) bool {
	return slices.Contains(ev.lim.Forbid, b.name)
}

// callback is a function as a higher-order builtin uses it.
type callback struct {
	fv    value
	f     *function
	arity int
	plain bool // a lambda without signature: its frame is filled directly
}

// callbackFor is the function argument of a builtin that calls it for each of
// so many items; that it is missing matters only if there are any.
func callbackFor(fv value, calls int) (callback, error) {
	if fv.isFunction() {
		return newCallback(fv), nil
	}
	if calls > 0 {
		return callback{}, newError("L0007", "the function is missing")
	}
	return callback{}, nil
}

func newCallback(fv value) callback {
	f := fv.fn()
	return callback{fv: fv, f: f, arity: f.arity(), plain: f.kind == fnLambda && f.lambda.sig == nil}
}

// call passes as many of the arguments as the function has parameters, but
// always the first. A sequence comes back as the function left it: collapsing
// belongs to the evaluation of a call expression, which this is not.
func (cb *callback) call(ev *evaluator, a, b, c value) (value, error) {
	if cb.plain {
		l := cb.f.lambda
		fr, err := ev.newFrame(l.frame.slots, cb.f.env)
		if err != nil {
			return undefined, err
		}
		for i, slot := range l.params {
			switch i {
			case 0:
				fr.slots[slot] = a
			case 1:
				fr.slots[slot] = b
			case 2:
				fr.slots[slot] = c
			default:
				fr.slots[slot] = undefined
			}
		}
		context := null
		if !cb.fv.isWrapped() {
			context = cb.f.input
		}
		return ev.run(cb.f, fr, context)
	}
	args := [3]value{a, b, c}
	mark := len(ev.scratch)
	for i := 0; i < max(1, min(3, cb.arity)); i++ {
		if err := ev.push(args[i]); err != nil {
			return undefined, err
		}
	}
	v, err := ev.apply(cb.fv, ev.scratch[mark:], null)
	if err != nil {
		return undefined, err
	}
	ev.scratch = ev.scratch[:mark]
	return v, nil
}
