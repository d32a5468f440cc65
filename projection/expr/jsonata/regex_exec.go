package jsonata

import "strings"

// reFrame is one entry of the backtracking stack.
//
//   - pc >= 0, more < 0: go on at pc with pos.
//   - pc >= 0, more >= 0: pc is an opRun that can take or give up another unit
//     until the position is more, or an opLoop that can iterate once more.
//   - pc < 0: not a choice; register -pc-1 had the value pos.
//
// Every change of a register that a choice might have to see undone is on the
// stack, so after a failed attempt all registers have their initial values.
type reFrame struct{ pc, pos, more int32 }

const (
	regexBatch    = 1024    // steps between two charges
	regexFrames   = 2 << 20 // entries of the stack, 24 MB
	regexKeep     = 1 << 14 // entries a pooled matcher may keep
	regexKeepRegs = 1 << 10
)

// matcher is the state of one match call.
type matcher struct {
	meter regexMeter
	regs  []int32
	stack []reFrame
	steps int // not charged yet
}

func (mt *matcher) prepare(re *regex, m regexMeter) {
	mt.meter = m
	if cap(mt.regs) < re.regs {
		mt.regs = make([]int32, re.regs)
	}
	mt.regs = mt.regs[:re.regs]
	for i := range mt.regs {
		mt.regs[i] = -1
	}
	mt.stack = mt.stack[:0]
	mt.steps = 8 + re.regs/16
}

func (mt *matcher) release() {
	if cap(mt.stack) > regexKeep {
		mt.stack = nil
	}
	if cap(mt.regs) > regexKeepRegs {
		mt.regs = nil
	}
	mt.meter = nil
	matchers.Put(mt)
}

// charge hands the collected steps to the meter.
func (mt *matcher) charge() error {
	n := mt.steps
	mt.steps = 0
	return mt.meter.regexStep(n)
}

// search tries a match at every offset from start on. text is the subject
// again when it is ASCII.
func search[T byte | uint16](mt *matcher, re *regex, in []T, text string, start int) (bool, error) {
	for at := start; at <= len(in); at++ {
		if re.anchored && at > 0 {
			break
		}
		from := at
		switch {
		case re.prefix != "" && len(text) == len(in):
			i := strings.Index(text[at:], re.prefix)
			if i < 0 {
				at = len(in) + 1
			} else {
				at += i
			}
		case re.first != nil:
			for at < len(in) && !re.first.has(uint16(in[at])) {
				at++
			}
			if at == len(in) {
				at++
			}
		}
		mt.steps += (at - from) / 8
		if at > len(in) {
			break
		}
		found, err := runRegex(mt, re, in, at)
		if found || err != nil {
			if err == nil {
				err = mt.charge()
			}
			return found && err == nil, err
		}
		if mt.steps >= regexBatch {
			if err := mt.charge(); err != nil {
				return false, err
			}
		}
	}
	return false, mt.charge()
}

// runRegex tries a match at one offset and leaves the spans in the registers.
func runRegex[T byte | uint16](mt *matcher, re *regex, in []T, start int) (bool, error) {
	prog := re.prog
	regs := mt.regs
	stack := mt.stack[:0]
	pc := int32(0)
	pos := int32(start)
	end := int32(len(in))

	for {
		mt.steps++
		if mt.steps >= regexBatch {
			if err := mt.charge(); err != nil {
				mt.stack = stack
				return false, err
			}
			if len(stack) > regexFrames {
				mt.stack = nil
				return false, newError("D1011", "the regular expression needs too much memory")
			}
		}
		inst := &prog[pc]

		// An instruction that succeeds continues the loop; one that fails
		// leaves the switch.
		switch inst.op {
		case opUnit:
			if pos < end && uint16(in[pos]) == inst.unit {
				pos++
				pc++
				continue
			}
		case opSet:
			if pos < end && re.sets[inst.set].has(uint16(in[pos])) {
				pos++
				pc++
				continue
			}
		case opSetBack:
			if pos > 0 && re.sets[inst.set].has(uint16(in[pos-1])) {
				pos--
				pc++
				continue
			}
		case opRun:
			set := &re.sets[inst.set]
			want := inst.max
			if inst.lazy {
				want = inst.min
			}
			stop := end
			if want < end-pos {
				stop = pos + want
			}
			p := pos
			for p < stop && set.has(uint16(in[p])) {
				p++
			}
			taken := p - pos
			mt.steps += int(taken >> 3)
			if taken < inst.min {
				break
			}
			switch {
			case inst.solo:
			case inst.lazy:
				last := end
				if inst.max < end-pos {
					last = pos + inst.max
				}
				if p < last {
					stack = append(stack, reFrame{pc, p, last})
				}
			case taken > inst.min:
				stack = append(stack, reFrame{pc, p, pos + inst.min})
			}
			pos = p
			pc++
			continue
		case opRunBack:
			set := &re.sets[inst.set]
			want := inst.max
			if inst.lazy {
				want = inst.min
			}
			p := pos
			for p > 0 && pos-p < want && set.has(uint16(in[p-1])) {
				p--
			}
			taken := pos - p
			mt.steps += int(taken >> 3)
			if taken < inst.min {
				break
			}
			if inst.lazy {
				last := int32(0)
				if inst.max < pos {
					last = pos - inst.max
				}
				if p > last {
					stack = append(stack, reFrame{pc, p, last})
				}
			} else if taken > inst.min {
				stack = append(stack, reFrame{pc, p, pos - inst.min})
			}
			pos = p
			pc++
			continue
		case opSplit:
			first, second := inst.set < 0, inst.next < 0
			if pos < end {
				first = first || re.sets[inst.set].has(uint16(in[pos]))
				second = second || re.sets[inst.next].has(uint16(in[pos]))
			}
			if first {
				if second {
					stack = append(stack, reFrame{inst.b, pos, -1})
				}
				pc = inst.a
				continue
			}
			if second {
				pc = inst.b
				continue
			}
		case opJump:
			pc = inst.a
			continue
		case opSave:
			stack = append(stack, reFrame{-1 - inst.a, regs[inst.a], 0})
			regs[inst.a] = pos
			pc++
			continue
		case opClear:
			stack = clearGroups(stack, regs, inst.a, inst.b)
			mt.steps += int(inst.b - inst.a)
			pc++
			continue
		case opMoved:
			if regs[inst.a] != pos {
				pc++
				continue
			}
		case opZero:
			stack = append(stack, reFrame{-1 - inst.a, regs[inst.a], 0})
			regs[inst.a] = 0
			pc++
			continue
		case opLoop:
			if n := regs[inst.count]; n >= inst.min {
				if n >= inst.max {
					pc = inst.b
					continue
				}
				if inst.lazy {
					stack = append(stack, reFrame{pc, pos, 0})
					pc = inst.b
					continue
				}
				stack = append(stack, reFrame{inst.b, pos, -1})
			}
			stack = iterate(stack, regs, inst, pos)
			mt.steps += int(max(0, inst.set-inst.a))
			pc++
			continue
		case opLoopEnd:
			head := &prog[inst.a]
			if head.begin < 0 || regs[head.count] <= head.min || regs[head.begin] != pos {
				pc = inst.a
				continue
			}
		case opBackref:
			from, to := regs[2*inst.a], regs[2*inst.a+1]
			if from < 0 || to < 0 {
				pc++
				continue
			}
			length := to - from
			at := pos
			if inst.back {
				at -= length
			}
			if at < 0 || at+length > end {
				break
			}
			mt.steps += int(length >> 2)
			if !sameUnits(in[from:to], in[at:at+length], inst.fold) {
				break
			}
			if inst.back {
				pos = at
			} else {
				pos = at + length
			}
			pc++
			continue
		case opLook:
			regs[inst.a], regs[inst.a+1] = int32(len(stack)), pos
			pc++
			continue
		case opLookEnd:
			// The choices made inside are final; what they changed is not.
			height := int(regs[inst.a])
			mt.steps += (len(stack) - height) / 4
			kept := stack[:height]
			for _, f := range stack[height:] {
				if f.pc < 0 {
					kept = append(kept, f)
				}
			}
			stack = kept
			pos = regs[inst.a+1]
			pc++
			continue
		case opNotLook:
			regs[inst.a] = int32(len(stack))
			stack = append(stack, reFrame{inst.b, pos, -1})
			pc++
			continue
		case opNotLookEnd:
			height := int(regs[inst.a])
			mt.steps += (len(stack) - height) / 4
			for len(stack) > height {
				f := stack[len(stack)-1]
				stack = stack[:len(stack)-1]
				if f.pc < 0 {
					regs[-1-f.pc] = f.pos
				}
			}
		case opLineStart:
			if pos == 0 || inst.multi && isLineEnd(uint16(in[pos-1])) {
				pc++
				continue
			}
		case opLineStop:
			if pos == end || inst.multi && isLineEnd(uint16(in[pos])) {
				pc++
				continue
			}
		case opWordEdge, opNotWordEdge:
			before := pos > 0 && isWordUnit(uint16(in[pos-1]))
			after := pos < end && isWordUnit(uint16(in[pos]))
			if (before != after) == (inst.op == opWordEdge) {
				pc++
				continue
			}
		case opMatch:
			mt.stack = stack
			return true, nil
		}

		// Failed: undo until the last choice that has something left.
		for {
			if len(stack) == 0 {
				mt.stack = stack
				return false, nil
			}
			f := &stack[len(stack)-1]
			if f.pc < 0 {
				regs[-1-f.pc] = f.pos
				stack = stack[:len(stack)-1]
				continue
			}
			if f.more < 0 {
				pc, pos = f.pc, f.pos
				stack = stack[:len(stack)-1]
				break
			}
			inst := &prog[f.pc]
			if inst.op == opLoop {
				pc, pos = f.pc+1, f.pos
				stack = stack[:len(stack)-1]
				stack = iterate(stack, regs, inst, pos)
				mt.steps += int(max(0, inst.set-inst.a))
				break
			}
			p, ok := resumeRun(re, inst, in, f.pos, f.more)
			mt.steps += int(max(p-f.pos, f.pos-p) >> 3)
			pc = f.pc + 1
			if !ok || p == f.more {
				stack = stack[:len(stack)-1]
			} else {
				f.pos = p
			}
			if ok {
				pos = p
				break
			}
		}
	}
}

// resumeRun moves a run that ended at pos to its next possible end, at most as
// far as last. It skips ends where what must follow does not.
func resumeRun[T byte | uint16](re *regex, inst *reInst, in []T, pos, last int32) (int32, bool) {
	set := &re.sets[inst.set]
	switch {
	case inst.op == opRun && !inst.lazy:
		if inst.next < 0 {
			return pos - 1, true
		}
		next := &re.sets[inst.next]
		for pos > last {
			pos--
			if next.has(uint16(in[pos])) {
				return pos, true
			}
		}
	case inst.op == opRun:
		if inst.next < 0 {
			return pos + 1, set.has(uint16(in[pos]))
		}
		next := &re.sets[inst.next]
		for pos < last && set.has(uint16(in[pos])) {
			pos++
			if int(pos) < len(in) && next.has(uint16(in[pos])) {
				return pos, true
			}
		}
	case !inst.lazy:
		return pos + 1, true
	case set.has(uint16(in[pos-1])):
		return pos - 1, true
	}
	return pos, false
}

// iterate begins another iteration of a counted loop.
func iterate(stack []reFrame, regs []int32, inst *reInst, pos int32) []reFrame {
	stack = append(stack, reFrame{-1 - inst.count, regs[inst.count], 0})
	regs[inst.count]++
	if inst.begin >= 0 {
		stack = append(stack, reFrame{-1 - inst.begin, regs[inst.begin], 0})
		regs[inst.begin] = pos
	}
	return clearGroups(stack, regs, inst.a, inst.set)
}

// clearGroups makes the groups first to last unmatched.
func clearGroups(stack []reFrame, regs []int32, first, last int32) []reFrame {
	for r := 2 * first; r <= 2*last+1; r++ {
		if regs[r] != -1 {
			stack = append(stack, reFrame{-1 - r, regs[r], 0})
			regs[r] = -1
		}
	}
	return stack
}

func sameUnits[T byte | uint16](a, b []T, fold bool) bool {
	for i, u := range a {
		if u != b[i] && !(fold && canonicalUnit(uint16(u)) == canonicalUnit(uint16(b[i]))) {
			return false
		}
	}
	return true
}
