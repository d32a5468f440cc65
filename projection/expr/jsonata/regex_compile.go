package jsonata

type reOp uint8

const (
	opMatch      reOp = iota
	opUnit            // one unit equal to unit
	opSet             // one unit in set
	opSetBack         // the same before the position, as everything inside look-behind
	opRun             // min to max units in set, with one entry on the stack for all of them
	opRunBack         //
	opSplit           // try a, then b
	opJump            // to a
	opSave            // the position into register a
	opClear           // groups a to b forget what they matched
	opMoved           // fail unless the position differs from register a
	opZero            // 0 into register a
	opLoop            // head of a counted loop: iterate at the next instruction or leave to b
	opLoopEnd         // foot of it: back to a
	opBackref         //
	opLook            // start of a positive look-around, registers a and a+1
	opLookEnd         //
	opNotLook         // start of a negative one, register a, to b if the body fails
	opNotLookEnd      //
	opLineStart
	opLineStop
	opWordEdge
	opNotWordEdge
)

type reInst struct {
	op   reOp
	lazy bool // opRun, opLoop
	back bool // opBackref, opSplit: inside look-behind
	fold bool // opBackref
	// multi belongs to the line assertions; solo to opRun: nothing that
	// follows can match where a unit of the run stands, so giving units back is
	// useless.
	multi, solo bool
	unit        uint16

	a, b     int32
	set      int32 // opSet, opRun; for opSplit what way a must begin with, -1 unknown
	next     int32 // opRun: what must follow, -1 unknown; for opSplit what way b must begin with
	min, max int32 // opRun, opLoop
	count    int32 // opLoop: the counter's register
	begin    int32 // opLoop: register for the position where the iteration began, -1 when it cannot be empty
}

type reAssembler struct {
	re   *regex
	seen map[string]int32
}

func assembleRegex(tree *reNode, groups int) *regex {
	a := &reAssembler{re: &regex{groups: groups, regs: 2 * (groups + 1)}, seen: map[string]int32{}}
	a.emit(reInst{op: opSave, a: 0})
	a.node(tree, false)
	a.emit(reInst{op: opSave, a: 1})
	a.emit(reInst{op: opMatch})
	a.tune()

	re := a.re
	re.anchored = anchoredNode(tree)
	re.prefix = literalPrefix(tree)
	if f := (&firstUnits{}); !f.add(tree) && !f.unknown {
		set := newUnitSet(normalRanges(f.set))
		re.first = &set
	}
	return re
}

func (a *reAssembler) emit(in reInst) int32 {
	a.re.prog = append(a.re.prog, in)
	return int32(len(a.re.prog) - 1)
}

func (a *reAssembler) here() int32 { return int32(len(a.re.prog)) }

func (a *reAssembler) register() int32 {
	a.re.regs++
	return int32(a.re.regs - 1)
}

// set returns the index of a set, sharing equal ones.
func (a *reAssembler) set(rs []unitRange) int32 {
	key := rangesKey(rs)
	i, ok := a.seen[key]
	if !ok {
		i = int32(len(a.re.sets))
		a.re.sets = append(a.re.sets, newUnitSet(rs))
		a.seen[key] = i
	}
	return i
}

// node emits the program of a tree. With back it matches towards the start of
// the subject: sequences run from their last part to their first.
func (a *reAssembler) node(n *reNode, back bool) {
	switch n.kind {
	case reEmpty:
	case reSet:
		switch {
		case back:
			a.emit(reInst{op: opSetBack, set: a.set(n.set)})
		case len(n.set) == 1 && n.set[0].lo == n.set[0].hi:
			a.emit(reInst{op: opUnit, unit: n.set[0].lo, set: a.set(n.set)})
		default:
			a.emit(reInst{op: opSet, set: a.set(n.set)})
		}
	case reSeq:
		for i := range n.subs {
			if back {
				i = len(n.subs) - 1 - i
			}
			a.node(n.subs[i], back)
		}
	case reAlt:
		var ends []int32
		for i, sub := range n.subs {
			if i == len(n.subs)-1 {
				a.node(sub, back)
				break
			}
			split := a.emit(reInst{op: opSplit, back: back})
			a.re.prog[split].a = a.here()
			a.node(sub, back)
			ends = append(ends, a.emit(reInst{op: opJump}))
			a.re.prog[split].b = a.here()
		}
		for _, j := range ends {
			a.re.prog[j].a = a.here()
		}
	case reGroup:
		start, end := int32(2*n.group), int32(2*n.group+1)
		if back {
			start, end = end, start
		}
		a.emit(reInst{op: opSave, a: start})
		a.node(n.subs[0], back)
		a.emit(reInst{op: opSave, a: end})
	case reLoop:
		a.loop(n, back)
	case reLook:
		a.look(n)
	case reBackref:
		a.emit(reInst{op: opBackref, a: int32(n.group), back: back, fold: n.fold})
	case reLineStart:
		a.emit(reInst{op: opLineStart, multi: n.multi})
	case reLineStop:
		a.emit(reInst{op: opLineStop, multi: n.multi})
	case reWordEdge:
		a.emit(reInst{op: opWordEdge})
	case reNotWordEdge:
		a.emit(reInst{op: opNotWordEdge})
	}
}

func (a *reAssembler) look(n *reNode) {
	if n.negative {
		start := a.emit(reInst{op: opNotLook, a: a.register()})
		a.node(n.subs[0], n.behind)
		a.emit(reInst{op: opNotLookEnd, a: a.re.prog[start].a})
		a.re.prog[start].b = a.here()
		return
	}
	r := a.register()
	a.register()
	a.emit(reInst{op: opLook, a: r})
	a.node(n.subs[0], n.behind)
	a.emit(reInst{op: opLookEnd, a: r})
}

// loop emits a quantifier. Every iteration first forgets the groups inside it,
// and an iteration beyond the required ones fails if it is empty.
func (a *reAssembler) loop(n *reNode, back bool) {
	body := n.subs[0]
	if body.kind == reSet {
		op := opRun
		if back {
			op = opRunBack
		}
		a.emit(reInst{
			op:   op,
			set:  a.set(body.set),
			min:  int32(n.min),
			max:  int32(n.max),
			lazy: n.lazy,
			next: -1,
		})
		return
	}
	nullable := body.nullable()
	split := func(in, out int32) reInst {
		if n.lazy {
			in, out = out, in
		}
		return reInst{op: opSplit, a: in, b: out, back: back}
	}
	patch := func(at int32) {
		if n.lazy {
			a.re.prog[at].a = a.here()
		} else {
			a.re.prog[at].b = a.here()
		}
	}
	clearGroups := func() {
		if n.firstGroup <= n.lastGroup {
			a.emit(reInst{op: opClear, a: int32(n.firstGroup), b: int32(n.lastGroup)})
		}
	}
	switch {
	case n.min == 1 && n.max == 1:
		a.node(body, back)
	case n.min == 0 && (n.max == 1 || n.max == reUnbounded):
		head := a.here()
		a.emit(split(head+1, 0))
		var begin int32
		if nullable {
			begin = a.register()
			a.emit(reInst{op: opSave, a: begin})
		}
		if n.max > 1 {
			clearGroups() // a lone iteration finds them clear
		}
		a.node(body, back)
		if nullable {
			a.emit(reInst{op: opMoved, a: begin})
		}
		if n.max > 1 {
			a.emit(reInst{op: opJump, a: head})
		}
		patch(head)
	case n.min == 1 && n.max == reUnbounded && !nullable:
		head := a.here()
		clearGroups()
		a.node(body, back)
		a.emit(split(head, a.here()+1))
	default:
		in := reInst{
			op:    opLoop,
			min:   int32(n.min),
			max:   int32(n.max),
			lazy:  n.lazy,
			begin: -1,
			count: a.register(),
			a:     int32(n.firstGroup),
			set:   int32(n.lastGroup),
		}
		if nullable {
			in.begin = a.register()
		}
		a.emit(reInst{op: opZero, a: in.count})
		head := a.emit(in)
		a.node(body, back)
		a.emit(reInst{op: opLoopEnd, a: head})
		a.re.prog[head].b = a.here()
	}
}

// tune adds to splits and runs what is known about the unit that must follow.
func (a *reAssembler) tune() {
	prog := a.re.prog
	for i := range prog {
		in := &prog[i]
		switch in.op {
		case opSplit:
			in.set, in.next = -1, -1
			if !in.back {
				in.set, in.next = a.mustBegin(in.a), a.mustBegin(in.b)
			}
		case opRun:
			in.next = a.mustBegin(int32(i + 1))
			if in.next >= 0 && disjoint(a.re.sets[in.set].ranges, a.re.sets[in.next].ranges) {
				in.solo, in.lazy = true, false
			}
		}
	}
}

// mustBegin returns a set that the next unit is in if the program goes on to
// match from pc, or -1 if that is not known.
func (a *reAssembler) mustBegin(pc int32) int32 {
	for range 16 {
		in := &a.re.prog[pc]
		switch in.op {
		case opUnit, opSet:
			return in.set
		case opRun:
			if in.min > 0 {
				return in.set
			}
			return -1
		case opJump:
			pc = in.a
		case opSave, opClear, opMoved, opZero, opLineStart, opWordEdge, opNotWordEdge:
			pc++
		default:
			return -1
		}
	}
	return -1
}

// nullable reports whether a node can match without consuming anything. It is
// true for a backreference, whatever the group matches.
func (n *reNode) nullable() bool {
	if n.empty == 0 {
		n.empty = 2
		if n.findNullable() {
			n.empty = 1
		}
	}
	return n.empty == 1
}

func (n *reNode) findNullable() bool {
	switch n.kind {
	case reSet:
		return false
	case reSeq:
		for _, sub := range n.subs {
			if !sub.nullable() {
				return false
			}
		}
	case reAlt:
		for _, sub := range n.subs {
			if sub.nullable() {
				return true
			}
		}
		return false
	case reGroup:
		return n.subs[0].nullable()
	case reLoop:
		return n.min == 0 || n.subs[0].nullable()
	}
	return true
}

// firstUnits collects what a match can begin with.
type firstUnits struct {
	set     []unitRange
	unknown bool
}

// add adds a node and reports whether what follows it counts too.
func (f *firstUnits) add(n *reNode) bool {
	if f.unknown {
		return true
	}
	switch n.kind {
	case reSet:
		f.set = append(f.set, n.set...)
		f.unknown = len(f.set) > 1000
		return false
	case reSeq:
		for _, sub := range n.subs {
			if !f.add(sub) {
				return false
			}
		}
	case reAlt:
		more := false
		for _, sub := range n.subs {
			more = f.add(sub) || more
		}
		return more
	case reGroup:
		return f.add(n.subs[0])
	case reLoop:
		return f.add(n.subs[0]) || n.min == 0
	case reBackref:
		f.unknown = true
	}
	return true
}

// anchoredNode reports whether a node can match at offset 0 only.
func anchoredNode(n *reNode) bool {
	switch n.kind {
	case reLineStart:
		return !n.multi
	case reSeq:
		return anchoredNode(n.subs[0])
	case reGroup:
		return anchoredNode(n.subs[0])
	case reAlt:
		for _, sub := range n.subs {
			if !anchoredNode(sub) {
				return false
			}
		}
		return true
	}
	return false
}

// literalPrefix returns ASCII text that a match of the node begins with.
func literalPrefix(n *reNode) string {
	parts := []*reNode{n}
	if n.kind == reSeq {
		parts = n.subs
	}
	var text []byte
	for _, part := range parts {
		if part.kind != reSet || len(part.set) != 1 || part.set[0].lo != part.set[0].hi || part.set[0].lo >= 128 {
			break
		}
		text = append(text, byte(part.set[0].lo))
	}
	return string(text)
}
