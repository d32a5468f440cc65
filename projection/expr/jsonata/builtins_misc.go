package jsonata

import "math/rand/v2"

func (ev *evaluator) random() float64 {
	if ev.lim.Random != nil {
		return ev.lim.Random()
	}
	return rand.Float64()
}

func fnBoolean(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	ok, err := ev.truth(args[0])
	return boolValue(ok), err
}

func fnNot(ev *evaluator, args []value, _ value) (value, error) {
	if args[0].isUndefined() {
		return undefined, nil
	}
	ok, err := ev.truth(args[0])
	return boolValue(!ok), err
}

func fnType(ev *evaluator, args []value, _ value) (value, error) {
	switch args[0].kind() {
	case kNull:
		return stringValue("null"), nil
	case kBool:
		return stringValue("boolean"), nil
	case kNumber:
		if ok, err := ev.isNumeric(args[0], 0); !ok {
			return stringValue("object"), err // what is left for a number that is none
		}
		return stringValue("number"), nil
	case kString:
		return stringValue("string"), nil
	case kArray:
		return stringValue("array"), nil
	case kObject:
		return stringValue("object"), nil
	case kFunction:
		return stringValue("function"), nil
	}
	return undefined, nil
}

func fnError(_ *evaluator, args []value, _ value) (value, error) {
	e := newError("D3137", "the expression raised an error")
	e.Said = clip(textOf(args[0]))
	return undefined, e
}

func fnAssert(_ *evaluator, args []value, _ value) (value, error) {
	if args[0].kind() == kBool && args[0].bool() {
		return undefined, nil
	}
	e := newError("D3141", "an assertion of the expression failed")
	e.Said = clip(textOf(args[1]))
	return undefined, e
}

// clip bounds a message that an expression chose.
func clip(s string) string {
	const most = 2048
	if len(s) <= most {
		return s
	}
	for i := most; i > 0; i-- {
		if s[i]&0xC0 != 0x80 {
			return s[:i] + "..."
		}
	}
	return "..."
}

func fnNow(ev *evaluator, args []value, _ value) (value, error) {
	s, err := formatMillis(ev, float64(ev.now()), textOf(args[0]), args[0].isString(), optionalText(args[1]))
	if err != nil {
		return undefined, err
	}
	return ev.text(s)
}

// optionalText is the text of an argument that may be missing.
func optionalText(v value) *string {
	if !v.isString() {
		return nil
	}
	s := v.str()
	return &s
}

func fnMillis(ev *evaluator, _ []value, _ value) (value, error) {
	return numberValue(float64(ev.now())), nil
}

func fnFromMillis(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isNumber() {
		return undefined, nil
	}
	s, err := formatMillis(ev, args[0].num(), textOf(args[1]), args[1].isString(), optionalText(args[2]))
	if err != nil {
		return undefined, err
	}
	return ev.text(s)
}

func fnToMillis(ev *evaluator, args []value, _ value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	f, ok, err := parseMillis(ev, args[0].str(), textOf(args[1]), args[1].isString(), ev.now())
	if err != nil || !ok {
		return undefined, err
	}
	return numberValue(f), nil
}

// maxEvalDepth bounds $eval within $eval.
const maxEvalDepth = 20

// fnEval compiles and runs an expression at run time. It shares the budget of
// the evaluation it is part of.
func fnEval(ev *evaluator, args []value, context value) (value, error) {
	if !args[0].isString() {
		return undefined, nil
	}
	src := args[0].str()
	if err := ev.alloc(len(src) * 400); err != nil {
		return undefined, err
	}
	scope, outer := ev.evalScope, ev.evalFrame
	ev.evalScope, ev.evalFrame = nil, nil
	p, err := compileProgram(src, scope)
	if err != nil {
		if e, ok := err.(*Error); ok && e.Budget != "" {
			return undefined, err
		}
		e := newError("D3120", "the argument of $eval is not a valid expression")
		return undefined, e
	}
	in := context
	if !args[1].isUndefined() {
		in = args[1]
		if in.isArray() && !in.arr().is(fSequence) {
			in = ev.newArray([]value{in}, fSequence|fOuter)
		}
	}
	ev.depth += 10
	ev.stack += maxStack / maxEvalDepth
	if ev.depth > ev.lim.Depth || ev.stack > maxStack {
		return undefined, ev.tooDeep()
	}
	prog, caches := ev.prog, ev.caches
	ev.prog, ev.caches = p, make([]lookupCache, p.caches)
	fr, err2 := ev.newFrame(p.slots, outer)
	var v value
	if err2 == nil {
		v, err2 = p.root.eval(ev, in, fr)
	}
	ev.prog, ev.caches = prog, caches
	ev.depth -= 10
	ev.stack -= maxStack / maxEvalDepth
	if err2 != nil {
		if e, ok := err2.(*Error); ok && (e.Budget != "" || e.cause != nil) {
			return undefined, err2
		}
		e := newError("D3121", "the expression given to $eval failed: %v", err2)
		return undefined, e
	}
	return v, nil
}
