package jsonata

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
)

// Program is a compiled expression. It is immutable; any number of goroutines
// may evaluate it at the same time.
type Program struct {
	src    string
	root   node
	slots  int
	caches int

	reads    []string
	named    []string    // of reads, also where the whole input may be needed
	members  [][2]string // of paths; see Members
	readsAll bool
	impure   bool
	writes   bool // a transform may change the input itself, not only its copy
	uses     map[string]bool
	warnings []Warning
}

// Compile parses an expression. Its errors are *Error. Text over 64 KiB and
// nesting over 400 levels are refused.
func Compile(src string) (p *Program, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, newError("L0009", "compiling failed unexpectedly")
		}
	}()
	return compileProgram(src, nil)
}

// compileProgram compiles within the scope of a running program when it is
// for $eval.
func compileProgram(src string, within *scope) (*Program, error) {
	nodes := newArena()
	defer nodes.release()
	ps := parser{lexer: lexer{src: src}, tree: nodes}
	tree, err := ps.parse()
	if err != nil {
		return nil, err
	}
	sh := shaping{src: src, tree: nodes}
	tree, err = sh.root(tree)
	if err != nil {
		return nil, err
	}
	c := compiler{src: src, scope: within}
	s := c.open(true, true)
	for _, n := range ps.scope.names {
		s.declare(n)
	}
	p := &Program{src: src, uses: ps.uses}
	p.root = c.compile(tree)
	p.slots, p.caches = s.frame.slots, c.caches
	p.analyse(tree)
	return p, nil
}

// Source is the text the program was compiled from.
func (p *Program) Source() string { return p.src }

// Reads tells which members of the input object the expression can read. all
// is true when it may need the whole input, as with $, $$, * or $keys($).
func (p *Program) Reads() (names []string, all bool) { return p.reads, p.readsAll }

// Named tells which members of the input object the expression reads by their names,
// whatever else it may read.
func (p *Program) Named() []string { return p.named }

// Members lists paths of two names that the expression reads from the input, such
// as input and title. What it reads in other ways is not in it.
func (p *Program) Members() [][2]string { return p.members }

// Pure says that the result depends on the input alone: nothing in the
// expression can see the clock or chance. An expression with $eval is not pure.
func (p *Program) Pure() bool { return !p.impure }

// Uses reports whether a variable or builtin of that name is mentioned anywhere,
// called or not.
func (p *Program) Uses(name string) bool { return p.uses[name] }

// Warnings are constructs that are legal and usually mean something else than
// their author thought.
func (p *Program) Warnings() []Warning { return p.warnings }

// debugPanics lets the tests see where a panic came from.
var debugPanics = false

// Limits bound one evaluation. A zero field means its default.
type Limits struct {
	Steps          int64 // units of work; default 10,000,000
	RegexSteps     int64 // units of matching; default 10,000,000
	Depth          int   // open calls; default 5,000
	SequenceLength int   // elements of one array; default 1,000,000
	Bytes          int64 // bytes allocated in total; default 32 MiB
	OutputBytes    int64 // bytes of the resulting JSON; default 16 MiB

	Forbid []string // builtins that fail when called, under whatever name

	Now    func() time.Time // default time.Now, asked once per evaluation
	Random func() float64   // default a seeded source of its own
}

func (l Limits) withDefaults() Limits {
	set := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	set(&l.Steps, 10_000_000)
	set(&l.RegexSteps, 10_000_000)
	set(&l.Bytes, 32<<20)
	set(&l.OutputBytes, 16<<20)
	if l.Depth <= 0 {
		l.Depth = 5000
	}
	if l.SequenceLength <= 0 {
		l.SequenceLength = 1_000_000
	}
	return l
}

// Usage is what an evaluation took of its budgets.
type Usage struct {
	Steps, RegexSteps, Bytes int64
	MaxDepth                 int
	OutputBytes              int64
}

// Result of an evaluation. JSON is what JSON.stringify gives for the result of
// jsonata-js, byte for byte, and nil when Undefined.
type Result struct {
	JSON      json.RawMessage
	Undefined bool
	Usage     Usage
}

// Eval evaluates the program. It returns an *Error when the expression fails, a
// budget runs out or ctx ends; in the last case errors.Is finds ctx.Err too.
func (p *Program) Eval(ctx context.Context, in Input, lim Limits) (Result, error) {
	return p.evalWith(ctx, in, lim, nil)
}

func (p *Program) evalWith(
	ctx context.Context, in Input, lim Limits, bindings map[string]value,
) (res Result, err error) {
	ev := idle.Get().(*evaluator)
	ev.lim = lim.withDefaults()
	ev.ctx = ctx
	ev.prog = p
	ev.bindings = bindings
	res, err = p.run(ev, in)
	ev.rest()
	return res, err
}

// idle evaluators keep a little room for the next evaluation.
var idle = sync.Pool{New: func() any { return new(evaluator) }}

// rest forgets everything about an evaluation and goes idle.
func (ev *evaluator) rest() {
	const keep = 1024
	fresh := evaluator{vslab: ev.vslab, aslab: ev.aslab, oslab: ev.oslab}
	if cap(ev.scratch) <= keep {
		fresh.scratch = ev.scratch[:cap(ev.scratch)]
		clear(fresh.scratch)
		fresh.scratch = fresh.scratch[:0]
	}
	if cap(ev.caches) <= keep {
		fresh.caches = ev.caches[:cap(ev.caches)]
		clear(fresh.caches)
		fresh.caches = fresh.caches[:0]
	}
	*ev = fresh
	idle.Put(ev)
}

func (p *Program) run(ev *evaluator, in Input) (res Result, err error) {
	ctx := ev.ctx
	defer func() {
		if r := recover(); r != nil {
			if debugPanics {
				panic(r)
			}
			res, err = Result{}, newError("L0009", "the evaluation failed unexpectedly: %v", fmt.Sprintf("%T", r))
		}
		res.Usage = Usage{
			Steps:       ev.used(),
			RegexSteps:  ev.regexGiven,
			Bytes:       ev.bytes,
			MaxDepth:    ev.maxDepth,
			OutputBytes: int64(len(res.JSON)),
		}
	}()
	if ctx.Err() != nil {
		return res, cancelled(ctx)
	}
	v, err := ev.evaluate(in)
	if err != nil {
		return res, err
	}
	w := writer{ev: ev, limit: ev.lim.OutputBytes}
	if v.isArray() || v.isObject() || v.isString() {
		w.buf = make([]byte, 0, 128)
	} else {
		w.buf = make([]byte, 0, 24)
	}
	if w.vanishes(v) {
		res.Undefined = true
		return res, nil
	}
	if err := w.value(v, 0); err != nil {
		return res, err
	}
	if int64(len(w.buf)) > ev.lim.OutputBytes {
		return res, w.tooMuch()
	}
	res.JSON = w.buf
	return res, nil
}

func (ev *evaluator) evaluate(in Input) (value, error) {
	p := ev.prog
	root, err := in.value(ev)
	if err != nil {
		return undefined, err
	}
	if p.writes && in.form == inputValue {
		root, err = ev.rebuild(root, exactly, 0)
		if err != nil {
			return undefined, err
		}
	}
	ev.root = root
	if root.isArray() {
		root = ev.newArray([]value{root}, fSequence|fOuter)
	}
	if cap(ev.caches) >= p.caches {
		ev.caches = ev.caches[:p.caches]
	} else {
		ev.caches = make([]lookupCache, p.caches)
	}
	fr, err := ev.newFrame(p.slots, nil)
	if err != nil {
		return undefined, err
	}
	return p.root.eval(ev, root, fr)
}
