package jsonata

import (
	"context"
	"time"
)

// node is one expression of a compiled program. Nodes hold no state: what an
// evaluation needs lives in the evaluator and in frames, so that any number of
// goroutines may run one program.
type node interface {
	eval(ev *evaluator, in value, fr *frame) (value, error)
}

// frame holds the variables of one call, or of one block or tuple that a
// closure may outlive.
type frame struct {
	slots  []value
	parent *frame
}

// fuelGrant is how many steps run between two looks at budget and context.
const fuelGrant = 2048

// evaluator is the state of one evaluation.
type evaluator struct {
	ctx  context.Context
	prog *Program
	lim  Limits

	fuel       int64 // steps left until refuel
	granted    int64
	regexGiven int64
	bytes      int64
	depth      int // open lambda calls
	maxDepth   int
	stack      int // tree levels of the open calls, bounds the Go stack
	failed     error

	root     value
	bindings map[string]value
	millis   int64 // the time of this evaluation, 0 until asked

	scratch []value // sequences under construction, last in first out
	caches  []lookupCache
	frames  []*frame // free for reuse

	vslab  []value
	oslab  []object
	aslab  []array
	shapes *shape // root of the shapes made by this evaluation

	evalScope *scope // where $eval is being called, taken by it at once
	evalFrame *frame

	tailFn    *function
	tailFrame *frame
	applied   value // the context of whoever called the innermost open lambda
}

// lookupCache remembers where a name was found in the last object.
type lookupCache struct {
	sh *shape
	i  int
}

func (ev *evaluator) step(n int) error {
	ev.fuel -= int64(n)
	if ev.fuel < 0 {
		return ev.refuel()
	}
	return nil
}

// tick is step(1).
func (ev *evaluator) tick() error {
	ev.fuel--
	if ev.fuel < 0 {
		return ev.refuel()
	}
	return nil
}

func (ev *evaluator) used() int64 { return ev.granted - ev.fuel }

func (ev *evaluator) refuel() error {
	if ev.failed != nil {
		return ev.failed
	}
	if err := ev.ctx.Err(); err != nil {
		ev.failed = cancelled(ev.ctx)
		return ev.failed
	}
	used := ev.used()
	if used > ev.lim.Steps {
		ev.failed = budgetError("L0001", "steps", "the evaluation took more than %d steps", ev.lim.Steps)
		return ev.failed
	}
	grant := min(fuelGrant, ev.lim.Steps-used+1)
	ev.fuel, ev.granted = grant, used+grant
	return nil
}

// alloc charges bytes, and a little time for filling them.
func (ev *evaluator) alloc(n int) error {
	ev.bytes += int64(n)
	if ev.bytes > ev.lim.Bytes {
		if ev.failed == nil {
			ev.failed = budgetError("L0002", "bytes", "the evaluation allocated more than %d bytes", ev.lim.Bytes)
		}
		ev.fuel = min(ev.fuel, 0)
		return ev.failed
	}
	ev.fuel -= int64(n >> 6)
	if ev.fuel < 0 {
		return ev.refuel()
	}
	return nil
}

// regexStep charges the work of the regular expression engine.
func (ev *evaluator) regexStep(n int) error {
	ev.regexGiven += int64(n)
	if ev.regexGiven > ev.lim.RegexSteps {
		ev.failed = budgetError("L0003", "regex_steps", "matching took more than %d steps", ev.lim.RegexSteps)
		return ev.failed
	}
	return ev.step(n/32 + 1)
}

func (ev *evaluator) tooDeep() error {
	if ev.failed == nil {
		ev.failed = budgetError("U1001", "depth", "the evaluation nests deeper than %d calls", ev.lim.Depth)
	}
	return ev.failed
}

func (ev *evaluator) tooLong() error {
	if ev.failed == nil {
		ev.failed = budgetError("D2015", "sequence", "a sequence is longer than %d", ev.lim.SequenceLength)
	}
	return ev.failed
}

func (ev *evaluator) now() int64 {
	if ev.millis == 0 {
		now := time.Now
		if ev.lim.Now != nil {
			now = ev.lim.Now
		}
		ev.millis = now().UnixMilli()
	}
	return ev.millis
}

func (ev *evaluator) newFrame(n int, parent *frame) (*frame, error) {
	if k := len(ev.frames) - 1; k >= 0 {
		fr := ev.frames[k]
		if cap(fr.slots) >= n {
			ev.frames = ev.frames[:k]
			fr.slots = fr.slots[:n]
			fr.parent = parent
			for i := range fr.slots {
				fr.slots[i] = unbound
			}
			return fr, nil
		}
	}
	if err := ev.alloc(48 + max(n, 4)*valueSize); err != nil {
		return nil, err
	}
	fr := &frame{slots: make([]value, n, max(n, 4)), parent: parent}
	for i := range fr.slots {
		fr.slots[i] = unbound
	}
	return fr, nil
}

// release gives back a frame that nothing captured.
func (ev *evaluator) release(fr *frame) {
	if len(ev.frames) < 64 {
		fr.parent = nil
		ev.frames = append(ev.frames, fr)
	}
}

func (ev *evaluator) push(v value) error {
	if len(ev.scratch) < cap(ev.scratch) {
		ev.scratch = append(ev.scratch, v)
		return nil
	}
	return ev.pushSlow(v)
}

func (ev *evaluator) pushSlow(v value) error {
	c := cap(ev.scratch)
	if c > 64 {
		if err := ev.alloc(c * valueSize); err != nil {
			return err
		}
	}
	grown := make([]value, len(ev.scratch), max(64, c+c/2))
	copy(grown, ev.scratch)
	ev.scratch = append(grown, v)
	return nil
}

func (ev *evaluator) pushAll(vs []value) error {
	if len(ev.scratch)+len(vs) <= cap(ev.scratch) {
		ev.scratch = append(ev.scratch, vs...)
		ev.fuel -= int64(len(vs) >> 3)
		return nil
	}
	for _, v := range vs {
		if err := ev.push(v); err != nil {
			return err
		}
	}
	return ev.step(len(vs) >> 3)
}

// values returns room for n values that belong to a result.
func (ev *evaluator) values(n int) ([]value, error) {
	if err := ev.alloc(n * valueSize); err != nil {
		return nil, err
	}
	if n > len(ev.vslab) {
		if n >= 256 {
			return make([]value, n), nil
		}
		ev.vslab = make([]value, max(n, ev.slabSize()))
	}
	s := ev.vslab[:n:n]
	ev.vslab = ev.vslab[n:]
	return s, nil
}

// slabSize grows with what the evaluation has used, so that small ones stay small.
func (ev *evaluator) slabSize() int {
	switch {
	case ev.bytes < 2<<10:
		return 16
	case ev.bytes < 16<<10:
		return 128
	}
	return 1024
}

func (ev *evaluator) newArray(items []value, flags uint8) value {
	if len(ev.aslab) == 0 {
		ev.aslab = make([]array, max(4, ev.slabSize()/16))
	}
	ev.bytes += 64
	a := &ev.aslab[0]
	ev.aslab = ev.aslab[1:]
	a.items, a.flags = items, flags
	return arrayValue(a)
}

func (ev *evaluator) newObject(sh *shape, vals []value) value {
	if len(ev.oslab) == 0 {
		ev.oslab = make([]object, max(4, ev.slabSize()/8))
	}
	o := &ev.oslab[0]
	ev.oslab = ev.oslab[1:]
	o.sh, o.vals = sh, vals
	return objectValue(o)
}

// finish takes what was pushed since mark as a sequence.
func (ev *evaluator) finish(mark int, keep bool) (value, error) {
	items := ev.scratch[mark:]
	switch {
	case len(items) == 0:
		return undefined, nil
	case len(items) == 1 && !keep:
		v := items[0]
		ev.scratch = ev.scratch[:mark]
		return v, nil
	}
	flags := fSequence
	if keep {
		flags |= fKeep
	}
	return ev.takeArray(mark, flags)
}

// takeArray makes an array of what was pushed since mark.
func (ev *evaluator) takeArray(mark int, flags uint8) (value, error) {
	items := ev.scratch[mark:]
	if len(items) > ev.lim.SequenceLength {
		return undefined, ev.tooLong()
	}
	out, err := ev.values(len(items))
	if err != nil {
		return undefined, err
	}
	copy(out, items)
	ev.scratch = ev.scratch[:mark]
	return ev.newArray(out, flags), nil
}

func (ev *evaluator) text(s string) (value, error) {
	if err := ev.alloc(len(s)); err != nil {
		return undefined, err
	}
	return stringValue(s), nil
}

func (ev *evaluator) newBuilder(n int) builder {
	if ev.shapes == nil {
		ev.shapes = &shape{}
	}
	vals, err := ev.values(n)
	if err != nil {
		vals = make([]value, 0, n)
	}
	return builder{sh: ev.shapes, vals: vals[:0]}
}

// build finishes an object, charging for it.
func (ev *evaluator) build(b *builder) (value, error) {
	if err := ev.alloc(32 + len(b.vals)*valueSize); err != nil {
		return undefined, err
	}
	if b.sh.ints {
		b.sh, b.vals = indexesFirst(b.sh, b.vals)
	}
	return ev.newObject(b.sh, b.vals), nil
}

// at gives an error the place of the node that raised it.
func (ev *evaluator) at(err error, pos int, token string) error {
	if e, ok := err.(*Error); ok && e.Position < 0 && e != ev.failed {
		e.Position = utf16Offset(ev.prog.src, pos)
		if e.Token == "" {
			e.Token = token
		}
	}
	return err
}

func (ev *evaluator) fail(code string, pos int, token, format string, args ...any) error {
	e := newError(code, format, args...)
	e.Position, e.Token = utf16Offset(ev.prog.src, pos), token
	return e
}
