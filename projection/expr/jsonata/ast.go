package jsonata

import "sync"

type astKind uint8

const (
	aName astKind = iota
	aString
	aNumber
	aLiteral
	aVariable
	aWildcard
	aDescendants
	aParent
	aRegex
	aBinary // str is the operator
	aNegate
	aArray
	aObject
	aBlock
	aCondition
	aDefault  // ?:
	aCoalesce // ??
	aBind
	aCall
	aPartial
	aPlaceholder
	aEnd // the end of the text where an operand was due
	aLambda
	aTransform
	aApply

	// As parsed, before paths are shaped.
	aDot
	aFilter
	aGroup
	aOrder
	aFocus
	aIndex

	// Made by shaping.
	aPath
	aSort
)

var astNames = [...]string{
	aName: "name", aString: "string", aNumber: "number", aLiteral: "value", aVariable: "variable",
	aWildcard: "wildcard", aDescendants: "descendant", aParent: "parent", aRegex: "regex", aBinary: "binary",
	aNegate: "unary", aArray: "unary", aObject: "unary", aBlock: "block", aCondition: "condition",
	aDefault: "condition", aCoalesce: "condition", aBind: "bind", aCall: "function", aPartial: "partial",
	aPlaceholder: "operator", aEnd: "(end)", aLambda: "lambda", aTransform: "transform", aApply: "apply",
	aPath: "path", aSort: "sort",
}

// ast is one node of the parsed expression. One struct serves all kinds: the
// tree lives only while compiling, and a slab of equal nodes is cheap to make.
type ast struct {
	kind astKind
	pos  int // byte offset in the source
	str  string
	num  float64
	lit  value
	re   *regex

	lhs, rhs, alt *ast
	list          []*ast    // items, expressions, arguments, parameters, steps
	pairs         [][2]*ast // object members
	terms         []sortTerm

	sig      *signature
	names    []string // variables assigned in the scope this block or lambda opens
	closures bool     // a lambda (or $eval) inside may keep this scope alive

	// Filled in by shaping.
	preds      []stage // predicates of the finished value
	stages     []stage // predicates and indexes of a step, applied while the path runs
	group      *groupBy
	focus      string // @$focus
	index      string // #$index
	keepArray  bool   // written with []
	keepSingle bool   // path: some step has []
	cons       bool   // [...] at an end of a path: stays one item
	tuple      bool
	tail       bool
	ancestor   *ancestorSlot
	slot       *ancestorSlot   // of aParent
	seeking    []*ancestorSlot // % inside that is not resolved yet
}

// any reports whether f holds for n or a node below it.
func (n *ast) any(f func(*ast) bool) bool {
	if n == nil {
		return false
	}
	if f(n) || n.lhs.any(f) || n.rhs.any(f) || n.alt.any(f) {
		return true
	}
	for _, c := range n.list {
		if c.any(f) {
			return true
		}
	}
	pairs := n.pairs
	if n.group != nil {
		pairs = append(pairs[:len(pairs):len(pairs)], n.group.pairs...)
	}
	for _, p := range pairs {
		if p[0].any(f) || p[1].any(f) {
			return true
		}
	}
	for _, t := range n.terms {
		if t.expr.any(f) {
			return true
		}
	}
	for _, st := range append(n.preds[:len(n.preds):len(n.preds)], n.stages...) {
		if st.filter.any(f) {
			return true
		}
	}
	return false
}

// arena gives out the nodes of one compilation and takes all of them back at
// its end: nothing that a Program keeps may point into the tree.
type arena struct {
	chunks [][]ast
	chunk  int // the one that nodes are given out of
	used   int // nodes given out of it
	lists  []*ast
	free   []*ast // what is left of lists
}

const (
	arenaChunk = 32 // nodes
	arenaKeep  = 8  // chunks that stay for the next compilation
	listRoom   = 4  // items that a list may grow to in place
)

var arenas = sync.Pool{New: func() any {
	return &arena{chunks: [][]ast{make([]ast, arenaChunk)}, lists: make([]*ast, 32*listRoom)}
}}

func newArena() *arena {
	a := arenas.Get().(*arena)
	a.free = a.lists
	return a
}

func (a *arena) node(k astKind, pos int) *ast {
	if a.used == arenaChunk {
		a.used = 0
		if a.chunk++; a.chunk == len(a.chunks) {
			a.chunks = append(a.chunks, make([]ast, arenaChunk))
		}
	}
	n := &a.chunks[a.chunk][a.used]
	a.used++
	n.kind, n.pos = k, pos
	return n
}

// list is a list of one that will probably grow.
func (a *arena) list(n *ast) []*ast {
	if len(a.free) < listRoom {
		a.free = make([]*ast, 16*listRoom)
	}
	l := a.free[:1:listRoom]
	a.free = a.free[listRoom:]
	l[0] = n
	return l
}

// path is a path of one step.
func (a *arena) path(step *ast, pos int) *ast {
	p := a.node(aPath, pos)
	p.list = a.list(step)
	return p
}

func (a *arena) release() {
	for i := range a.chunk {
		clear(a.chunks[i])
	}
	clear(a.chunks[a.chunk][:a.used])
	clear(a.lists)
	a.chunks = a.chunks[:min(len(a.chunks), arenaKeep)]
	a.chunk = 0
	a.used = 0
	a.free = nil
	arenas.Put(a)
}

type sortTerm struct {
	expr       *ast
	descending bool
}

// stage is what follows a step: a predicate, or #$i after one.
type stage struct {
	filter *ast
	index  string
	pos    int
}

type groupBy struct {
	pairs [][2]*ast
	pos   int
}

// ancestorSlot is one % on its way to the step it denotes: level counts the
// steps still to go, label names the tuple variable that will carry the value.
type ancestorSlot struct {
	label string
	level int
}
