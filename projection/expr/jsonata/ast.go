package jsonata

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
