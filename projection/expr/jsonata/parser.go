package jsonata

import (
	"slices"
	"strings"
)

const (
	// maxSource bounds an expression's text in bytes.
	maxSource = 64 << 10
	// maxNesting bounds how deep brackets, prefixes and operators nest. Written
	// expressions stay below 50; the limit keeps every recursion over the tree
	// shallow.
	maxNesting = 400
	// maxHeight bounds the tree, which left-associative chains also deepen.
	maxHeight = 4000
)

// Binding powers of the operators between or behind operands.
func bindingPower(op string) int {
	switch op {
	case "[", "(", "@", "#":
		return 80
	case ".":
		return 75
	case "{":
		return 70
	case "*", "/", "%":
		return 60
	case "+", "-", "&":
		return 50
	case "=", "<", ">", "^", "!=", "<=", ">=", "~>", "in", "?:", "??":
		return 40
	case "and":
		return 30
	case "or":
		return 25
	case "?":
		return 20
	case ":=":
		return 10
	}
	return 0
}

// scopeNames gathers what one block or lambda assigns.
type scopeNames struct {
	names []string
	outer *scopeNames
}

// parser is a top-down operator precedence parser. cur is the token under
// inspection; depth counts open recursion.
type parser struct {
	lexer
	cur      token
	depth    int
	tree     *arena
	scope    *scopeNames
	closures int // lambdas and uses of $eval seen so far
	uses     map[string]bool
}

func (p *parser) node(k astKind, pos int) *ast { return p.tree.node(k, pos) }

// advance moves to the next token. The caller says whether an operand may
// follow, because only there a slash begins a regular expression.
func (p *parser) advance(operand bool) *Error {
	t, err := p.next(operand)
	if err != nil {
		return err
	}
	if t.kind == tokOperator && (t.text == "!" || t.text == "~") {
		return p.fail("S0204", t.pos, t.text, "unknown operator %q", t.text)
	}
	p.cur = t
	return nil
}

func (p *parser) isOp(op string) bool { return p.cur.kind == tokOperator && p.cur.text == op }

func (p *parser) expect(op string, operandNext bool) *Error {
	if !p.isOp(op) {
		if p.cur.kind == tokEnd {
			return p.fail("S0203", p.cur.pos, "(end)", "expected %q before the end of the expression", op)
		}
		return p.fail("S0202", p.cur.pos, p.tokenText(), "expected %q, got %q", op, p.tokenText())
	}
	return p.advance(operandNext)
}

func (p *parser) tokenText() string {
	if p.cur.kind == tokEnd {
		return "(end)"
	}
	if p.cur.kind == tokVariable || p.cur.kind == tokName {
		return p.cur.text
	}
	return p.src[p.cur.pos:p.cur.end]
}

// parse reads the whole source.
func (p *parser) parse() (*ast, *Error) {
	if len(p.src) > maxSource {
		e := newError("L1001", "the expression is longer than %d bytes", maxSource)
		e.Budget = "source"
		return nil, e
	}
	p.scope = &scopeNames{}
	if err := p.advance(true); err != nil {
		return nil, err
	}
	n, err := p.expression(0)
	if err != nil {
		return nil, err
	}
	if p.cur.kind != tokEnd {
		return nil, p.fail("S0201", p.cur.pos, p.tokenText(), "unexpected %q", p.tokenText())
	}
	return n, nil
}

func (p *parser) expression(rbp int) (*ast, *Error) {
	p.depth++
	if p.depth > maxNesting {
		e := p.fail("L1002", p.cur.pos, p.tokenText(), "the expression nests deeper than %d levels", maxNesting)
		e.Budget = "nesting"
		return nil, e
	}
	t := p.cur
	if err := p.advance(false); err != nil {
		return nil, err
	}
	left, err := p.operand(t)
	if err != nil {
		return nil, err
	}
	for p.cur.kind == tokOperator && rbp < bindingPower(p.cur.text) {
		t = p.cur
		if err := p.advance(true); err != nil {
			return nil, err
		}
		left, err = p.operator(t, left)
		if err != nil {
			return nil, err
		}
	}
	p.depth--
	return left, nil
}

// operand parses what begins with t.
func (p *parser) operand(t token) (*ast, *Error) {
	n := p.node(aName, t.pos)
	switch t.kind {
	case tokEnd:
		// Whoever waits for a bracket complains first; else shaping does.
		n.kind = aEnd
		return n, nil
	case tokName:
		n.str = t.text
		return n, nil
	case tokVariable:
		n.kind, n.str = aVariable, t.text
		if t.text == "eval" {
			p.closures++
		}
		if t.text != "" && t.text != "$" {
			if p.uses == nil {
				p.uses = make(map[string]bool, 4)
			}
			p.uses[t.text] = true
		}
		return n, nil
	case tokString:
		n.kind, n.str = aString, t.text
		return n, nil
	case tokNumber:
		n.kind, n.num = aNumber, t.num
		return n, nil
	case tokLiteral:
		n.kind = aLiteral
		n.lit = t.lit
		n.str = t.text
		return n, nil
	case tokRegex:
		n.kind, n.re = aRegex, t.re
		return n, nil
	}
	var err *Error
	switch t.text {
	case "and", "or", "in":
		n.str = t.text
		return n, nil
	case "*":
		n.kind = aWildcard
		return n, nil
	case "**":
		n.kind = aDescendants
		return n, nil
	case "%":
		n.kind = aParent
		return n, nil
	case "-":
		n.kind = aNegate
		n.lhs, err = p.expression(70)
		return n, err
	case "(":
		return n, p.block(n)
	case "[":
		return n, p.arrayItems(n)
	case "{":
		n.kind = aObject
		n.pairs, err = p.members()
		return n, err
	case "|":
		return n, p.transform(n)
	}
	return nil, p.fail("S0211", t.pos, t.text, "%q cannot begin an operand", t.text)
}

func (p *parser) block(n *ast) *Error {
	n.kind = aBlock
	outer := p.scope
	p.scope = &scopeNames{outer: outer}
	before := p.closures
	for !p.isOp(")") {
		e, err := p.expression(0)
		if err != nil {
			return err
		}
		n.list = append(n.list, e)
		if !p.isOp(";") {
			break
		}
		if err := p.advance(true); err != nil {
			return err
		}
	}
	if err := p.expect(")", false); err != nil {
		return err
	}
	n.names, n.closures = p.scope.names, p.closures != before
	p.scope = outer
	return nil
}

func (p *parser) arrayItems(n *ast) *Error {
	n.kind = aArray
	if !p.isOp("]") {
		for {
			item, err := p.expression(0)
			if err != nil {
				return err
			}
			if p.isOp("..") {
				r := p.node(aBinary, p.cur.pos)
				r.str, r.lhs = "..", item
				if err := p.advance(true); err != nil {
					return err
				}
				r.rhs, err = p.expression(0)
				if err != nil {
					return err
				}
				item = r
			}
			n.list = append(n.list, item)
			if !p.isOp(",") {
				break
			}
			if err := p.advance(true); err != nil {
				return err
			}
		}
	}
	return p.expect("]", false)
}

func (p *parser) members() ([][2]*ast, *Error) {
	var pairs [][2]*ast
	if !p.isOp("}") {
		for {
			k, err := p.expression(0)
			if err != nil {
				return nil, err
			}
			if err := p.expect(":", true); err != nil {
				return nil, err
			}
			v, err := p.expression(0)
			if err != nil {
				return nil, err
			}
			pairs = append(pairs, [2]*ast{k, v})
			if !p.isOp(",") {
				break
			}
			if err := p.advance(true); err != nil {
				return nil, err
			}
		}
	}
	return pairs, p.expect("}", false)
}

func (p *parser) transform(n *ast) *Error {
	n.kind = aTransform
	p.closures++ // it keeps its scope alive like a lambda
	var err *Error
	n.lhs, err = p.expression(0)
	if err != nil {
		return err
	}
	err = p.expect("|", true)
	if err != nil {
		return err
	}
	n.rhs, err = p.expression(0)
	if err != nil {
		return err
	}
	if p.isOp(",") {
		err = p.advance(true)
		if err != nil {
			return err
		}
		n.alt, err = p.expression(0)
		if err != nil {
			return err
		}
	}
	return p.expect("|", true)
}

// operator parses what follows left, beginning with the operator t, which has
// been consumed.
func (p *parser) operator(t token, left *ast) (*ast, *Error) {
	if t.text == "[" && p.isOp("]") {
		// x[] keeps arrays of one. The mark goes to the step itself.
		step := left
		for step.kind == aFilter {
			step = step.lhs
		}
		step.keepArray = true
		// jsonata-js reads a slash behind [] as the start of a regular expression.
		return left, p.advance(true)
	}
	n := p.node(aBinary, t.pos)
	n.str, n.lhs = t.text, left
	var err *Error
	switch t.text {
	case "(":
		return p.call(t, left)
	case "[":
		n.kind = aFilter
		n.rhs, err = p.expression(0)
		if err != nil {
			return nil, err
		}
		return n, p.expect("]", false)
	case "{":
		n.kind = aGroup
		n.pairs, err = p.members()
		return n, err
	case "^":
		n.kind = aOrder
		return n, p.sortTerms(n)
	case "?":
		n.kind = aCondition
		n.rhs, err = p.expression(0)
		if err != nil {
			return nil, err
		}
		if p.isOp(":") {
			err = p.advance(true)
			if err != nil {
				return nil, err
			}
			n.alt, err = p.expression(0)
		}
		return n, err
	case "?:":
		n.kind = aDefault
		n.rhs, err = p.expression(0)
		return n, err
	case "??":
		n.kind = aCoalesce
		n.rhs, err = p.expression(0)
		return n, err
	case ":=":
		if left.kind != aVariable {
			return nil, p.fail("S0212", left.pos, left.str, "the left side of := must be a variable")
		}
		n.kind, n.str = aBind, left.str
		p.declare(left.str)
		n.rhs, err = p.expression(9)
		return n, err
	case "@", "#":
		n.kind = aFocus
		if t.text == "#" {
			n.kind = aIndex
		}
		rhs, err := p.expression(80)
		if err != nil {
			return nil, err
		}
		if rhs.kind != aVariable {
			return nil, p.fail("S0214", t.pos, t.text, "a variable must follow %q", t.text)
		}
		n.str = rhs.str
		return n, nil
	case ".":
		n.kind = aDot
	case "~>":
		n.kind = aApply
	}
	n.rhs, err = p.expression(bindingPower(t.text))
	return n, err
}

func (p *parser) declare(name string) {
	if slices.Contains(p.scope.names, name) {
		return
	}
	p.scope.names = append(p.scope.names, name)
}

func (p *parser) sortTerms(n *ast) *Error {
	if err := p.expect("(", true); err != nil {
		return err
	}
	for {
		var t sortTerm
		if p.isOp("<") || p.isOp(">") {
			t.descending = p.isOp(">")
			if err := p.advance(true); err != nil {
				return err
			}
		}
		var err *Error
		t.expr, err = p.expression(0)
		if err != nil {
			return err
		}
		n.terms = append(n.terms, t)
		if !p.isOp(",") {
			break
		}
		if err := p.advance(true); err != nil {
			return err
		}
	}
	// As behind [], jsonata-js takes a slash here for a regular expression.
	return p.expect(")", true)
}

// call parses the arguments of a call; when the callee is the word function,
// they are parameters and a body follows.
func (p *parser) call(t token, callee *ast) (*ast, *Error) {
	n := p.node(aCall, t.pos)
	n.lhs = callee
	if callee.kind == aName && (callee.str == "function" || callee.str == "λ") {
		return n, p.lambda(n)
	}
	if !p.isOp(")") {
		for {
			if p.isOp("?") {
				// A placeholder stands alone: f(?, 1).
				n.kind = aPartial
				n.list = append(n.list, p.node(aPlaceholder, p.cur.pos))
				if err := p.advance(true); err != nil {
					return nil, err
				}
			} else {
				a, err := p.expression(0)
				if err != nil {
					return nil, err
				}
				n.list = append(n.list, a)
			}
			if !p.isOp(",") {
				break
			}
			if err := p.advance(true); err != nil {
				return nil, err
			}
		}
	}
	return n, p.expect(")", false)
}

func (p *parser) lambda(n *ast) *Error {
	n.kind = aLambda
	outer := p.scope
	p.scope = &scopeNames{outer: outer}
	defer func() { p.scope = outer }()
	if !p.isOp(")") {
		for {
			var a *ast
			var err *Error
			if p.isOp("?") {
				// Only an argument may be left open; that is said further down.
				a = p.node(aPlaceholder, p.cur.pos)
				err = p.advance(true)
			} else {
				a, err = p.expression(0)
			}
			if err != nil {
				return err
			}
			n.list = append(n.list, a)
			if !p.isOp(",") {
				break
			}
			if err := p.advance(true); err != nil {
				return err
			}
		}
	}
	if err := p.expect(")", false); err != nil {
		return err
	}
	for i, a := range n.list {
		if a.kind != aVariable {
			return p.fail("S0208", a.pos, a.str, "parameter %d of the function definition must be a variable", i+1)
		}
	}
	if p.isOp("<") {
		pos := p.cur.pos
		var text strings.Builder
		text.WriteByte('<')
		for depth := 1; depth > 0 && p.cur.kind != tokEnd && !p.isOp("{"); {
			if err := p.advance(true); err != nil {
				return err
			}
			if p.isOp(">") {
				depth--
			} else if p.isOp("<") {
				depth++
			}
			text.WriteString(p.tokenText())
		}
		if err := p.expect(">", true); err != nil {
			return err
		}
		sig, err := parseSignature(text.String())
		if err != nil {
			err.Position = utf16Offset(p.src, pos)
			return err
		}
		n.sig = sig
	}
	if err := p.expect("{", true); err != nil {
		return err
	}
	before := p.closures
	body, err := p.expression(0)
	if err != nil {
		return err
	}
	n.rhs = body
	n.names, n.closures = p.scope.names, p.closures != before
	p.closures++
	return p.expect("}", true)
}
