package jsonata

import (
	"math"
	"unsafe"
)

// kind tells what a value holds. undefined is the zero kind, so a zero value
// is undefined.
type kind uint8

const (
	kUndefined kind = iota
	kNull
	kBool
	kNumber
	kString
	kArray
	kObject
	kFunction
	kUnbound // a variable slot that was never assigned; never seen by builtins
	kTail    // a pending tail call, see call.go
)

// value is one JSONata value in 16 bytes. Numbers, booleans and strings need
// no allocation of their own: an interface would box every number a projection
// touches, which is where evaluators spend most of their time.
//
// For numbers p is numberTag and n holds the bits of the float. Otherwise the
// top byte of n is the kind; p is the string data, *array, *object or
// *function, and the low bits are the string length, the boolean, or the
// function's wrapped mark. This file is the only one that uses unsafe.
type value struct {
	p unsafe.Pointer
	n uint64
}

const (
	kindShift = 56
	lowMask   = 1<<kindShift - 1
)

var numberTagByte byte
var numberTag = unsafe.Pointer(&numberTagByte)

var (
	undefined = value{}
	null      = value{n: uint64(kNull) << kindShift}
	vFalse    = value{n: uint64(kBool) << kindShift}
	vTrue     = value{n: uint64(kBool)<<kindShift | 1}
	unbound   = value{n: uint64(kUnbound) << kindShift}
	tailCall  = value{n: uint64(kTail) << kindShift}
	vEmpty    = stringValue("")
)

func (v value) kind() kind {
	if v.p == numberTag {
		return kNumber
	}
	return kind(v.n >> kindShift)
}

func numberValue(f float64) value { return value{p: numberTag, n: math.Float64bits(f)} }

func boolValue(b bool) value {
	if b {
		return vTrue
	}
	return vFalse
}

func stringValue(s string) value {
	return value{p: unsafe.Pointer(unsafe.StringData(s)), n: uint64(kString)<<kindShift | uint64(len(s))}
}

func arrayValue(a *array) value {
	return value{p: unsafe.Pointer(a), n: uint64(kArray) << kindShift}
}

func objectValue(o *object) value {
	return value{p: unsafe.Pointer(o), n: uint64(kObject) << kindShift}
}

func functionValue(f *function) value {
	return value{p: unsafe.Pointer(f), n: uint64(kFunction) << kindShift}
}

func (v value) isUndefined() bool { return v.p == nil && v.n == 0 }
func (v value) isNumber() bool    { return v.p == numberTag }
func (v value) isString() bool    { return v.p != numberTag && kind(v.n>>kindShift) == kString }
func (v value) isArray() bool     { return v.p != numberTag && kind(v.n>>kindShift) == kArray }
func (v value) isObject() bool    { return v.p != numberTag && kind(v.n>>kindShift) == kObject }
func (v value) isFunction() bool  { return v.p != numberTag && kind(v.n>>kindShift) == kFunction }
func (v value) isTail() bool      { return v.p == nil && v.n == tailCall.n }
func (v value) isUnbound() bool   { return v.p == nil && v.n == unbound.n }

// The accessors below trust that the caller looked at the kind.

func (v value) num() float64 { return math.Float64frombits(v.n) }
func (v value) bool() bool   { return v.n&1 == 1 }
func (v value) str() string  { return unsafe.String((*byte)(v.p), int(v.n&lowMask)) }
func (v value) arr() *array  { return (*array)(v.p) }
func (v value) obj() *object { return (*object)(v.p) }
func (v value) fn() *function {
	return (*function)(v.p)
}

// wrapped marks a function that was handed over as an argument: from then on
// it no longer sees the context of whoever calls it.
func (v value) wrapped() value {
	v.n |= 1
	return v
}

func (v value) isWrapped() bool { return v.n&1 == 1 }

// same says that two values are the very same number, string, constant or
// node of the data, as JavaScript's === does.
func (v value) same(w value) bool {
	switch v.kind() {
	case kNumber:
		return w.isNumber() && v.num() == w.num()
	case kString:
		return w.isString() && v.str() == w.str()
	case kFunction:
		return v.p == w.p && w.isFunction()
	}
	return v == w
}

const valueSize = int(unsafe.Sizeof(value{}))

// Flags of an array. A sequence is what a path or a builtin produced: a
// sequence of one is that one value, and an empty sequence is undefined.
const (
	fSequence uint8 = 1 << iota
	fKeep           // a sequence that stays an array even with one element
	fCons           // written as [...] at the end of a path: not flattened into it
	fOuter          // wraps the whole input when that is an array
	fTuples         // carries tuples, see tuple.go
)

// array is immutable once another value can see it; to change a flag, copy the
// header and share the items.
type array struct {
	items  []value
	tuples *tupleStream
	room   *room
	flags  uint8
}

// room is the spare space behind the items of an array that grew by $append.
// The longest array in it may grow in place; a shorter one must copy.
type room struct {
	all  []value
	used int
}

func (a *array) is(flag uint8) bool { return a.flags&flag != 0 }

// collapse turns a finished sequence into the value it stands for.
func collapse(v value) value {
	if v.isArray() {
		a := v.arr()
		if a.flags&(fSequence|fTuples) == fSequence {
			switch len(a.items) {
			case 0:
				return undefined
			case 1:
				if !a.is(fKeep) {
					return a.items[0]
				}
			}
		}
	}
	return v
}
