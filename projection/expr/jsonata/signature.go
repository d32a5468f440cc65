package jsonata

import (
	"strings"
	"unicode/utf8"
)

// signature is the declared parameter types of a function: <s-nn?:s>.
type signature struct {
	text   string
	params []sigParam
	simple bool // no parameter takes several arguments
}

type sigParam struct {
	mask    uint16 // kinds accepted, as bits of sigBit
	opt     bool
	plus    bool
	lazy    bool // takes as few arguments as it can: written with a second modifier
	context bool // the context stands in when the argument is missing
	array   bool // a single value is wrapped
	sub     string
}

const (
	sigMissing uint16 = 1 << iota
	sigString
	sigNumber
	sigBool
	sigNull
	sigArray
	sigObject
	sigFunction

	sigAnyData = sigArray | sigString | sigNumber | sigBool | sigNull | sigObject | sigMissing
	sigAny     = sigAnyData | sigFunction
)

func sigLetter(c byte) uint16 {
	switch c {
	case 's':
		return sigString
	case 'n':
		return sigNumber
	case 'b':
		return sigBool
	case 'l':
		return sigNull
	case 'o':
		return sigObject
	case 'a':
		return sigArray
	case 'f':
		return sigFunction
	case 'm':
		return sigMissing
	}
	return 0
}

func sigBit(v value) uint16 {
	switch v.kind() {
	case kString:
		return sigString
	case kNumber:
		return sigNumber
	case kBool:
		return sigBool
	case kNull:
		return sigNull
	case kArray:
		return sigArray
	case kObject:
		return sigObject
	case kFunction:
		return sigFunction
	}
	return sigMissing
}

// parseSignature reads the text between < and >, both included. Letters it
// does not know are skipped, as in jsonata-js.
func parseSignature(text string) (*signature, *Error) {
	s := &signature{text: text, simple: true}
	last := func() *sigParam {
		if len(s.params) == 0 {
			return &sigParam{}
		}
		return &s.params[len(s.params)-1]
	}
	for i := 1; i < len(text); i++ {
		c := text[i]
		if c == ':' {
			break
		}
		if c == '-' || c == '?' || c == '+' {
			if err := last().modify(c); err != nil {
				return nil, err
			}
			s.simple = s.simple && c != '+'
			continue
		}
		switch c {
		case 's', 'n', 'b', 'l', 'o':
			s.params = append(s.params, sigParam{mask: sigLetter(c) | sigMissing})
		case 'a':
			s.params = append(s.params, sigParam{mask: sigAny, array: true})
		case 'f':
			s.params = append(s.params, sigParam{mask: sigFunction})
		case 'j':
			s.params = append(s.params, sigParam{mask: sigAnyData})
		case 'x':
			s.params = append(s.params, sigParam{mask: sigAny})
		case '(':
			end := closing(text, i, '(', ')')
			choice := text[i+1 : end]
			if strings.IndexByte(choice, '<') >= 0 {
				return nil, newError("S0402", "a choice of types cannot hold parametrised types")
			}
			mask, err := choiceMask(choice)
			if err != nil {
				return nil, err
			}
			s.params = append(s.params, sigParam{mask: mask})
			i = end
		case '<':
			end := closing(text, i, '<', '>')
			p := last()
			if !p.array && p.mask != sigFunction {
				return nil, newError("S0401", "only arrays and functions take a type parameter")
			}
			p.sub = text[i+1 : end]
			i = end
		}
	}
	return s, nil
}

// choiceMask reads the letters of a choice, which jsonata-js makes a character
// class, so that - between two letters is a range.
func choiceMask(choice string) (uint16, *Error) {
	class := choice + "m"
	mask := sigMissing
	for k := 0; k < len(class); k++ {
		if k+2 < len(class) && class[k+1] == '-' {
			if class[k] > class[k+2] {
				return 0, newError("S0403", "a choice of types is not valid")
			}
			for c := class[k]; c <= class[k+2] && c < utf8.RuneSelf; c++ {
				mask |= sigLetter(c)
			}
			k += 2
			continue
		}
		mask |= sigLetter(class[k])
	}
	return mask, nil
}

// modify applies a modifier as if it were one of a regular expression, which
// the signature is in jsonata-js: - is ? there, and ? after another is lazy.
func (p *sigParam) modify(c byte) *Error {
	switch first := !p.opt && !p.plus; {
	case p.lazy || !first && c == '+':
		return newError("S0403", "a parameter has too many modifiers")
	case !first:
		p.lazy = true
	case c == '+':
		p.plus = true
	default:
		p.opt = true
	}
	p.context = p.context || c == '-'
	return nil
}

// closing finds the bracket that closes the one at i.
func closing(text string, i int, open, shut byte) int {
	depth := 0
	for j := i; j < len(text); j++ {
		switch text[j] {
		case open:
			depth++
		case shut:
			depth--
			if depth == 0 {
				return j
			}
		}
	}
	return len(text) - 1
}

// validate checks arguments and returns what the function receives: values
// wrapped where an array is expected, the context where one is missing.
func (s *signature) validate(ev *evaluator, args []value, context value) ([]value, error) {
	if s.simple && len(args) == len(s.params) {
		ok, wrap := true, false
		for i := range args {
			p := &s.params[i]
			bit := sigBit(args[i])
			if p.mask&bit == 0 {
				ok = false
				break
			}
			if p.array && bit != sigMissing && (bit != sigArray || p.sub != "") {
				wrap = true
			}
		}
		if ok {
			if !wrap {
				return args, nil
			}
			for i := range args {
				if p := &s.params[i]; p.array {
					if err := p.asArray(ev, &args[i], sigBit(args[i]), true); err != nil {
						return nil, err
					}
				}
			}
			return args, nil
		}
	}
	return s.assign(ev, args, context)
}

// asArray checks the element type of an array argument and wraps a single
// value; alone says that the parameter takes no other argument. bit is the kind
// of the argument that was assigned to the parameter. It is not always that of
// v: behind an optional parameter left out, jsonata-js hands over the next one.
func (p *sigParam) asArray(ev *evaluator, v *value, bit uint16, alone bool) error {
	switch {
	case bit == sigMissing:
		*v = undefined
		return nil
	case bit == sigArray && !v.isArray():
		// Handed over as it is, though jsonata-js trips over some when there is a
		// type to check its elements for.
		if p.sub != "" && (v.isUndefined() || v.kind() == kNull || v.isString() && v.str() != "") {
			return newError("T0412", "an argument must be an array of the declared type")
		}
		return nil
	}
	wrong := false
	if bit == sigArray {
		if items := v.arr().items; p.sub != "" && len(items) > 0 {
			first := sigBit(items[0])
			wrong = first&sigLetter(p.sub[0]) == 0
			for i := 1; i < len(items) && !wrong; i++ {
				wrong = sigBit(items[i]) != first
			}
			if err := ev.step(len(items) >> 2); err != nil {
				return err
			}
		}
	} else {
		wrong = p.sub != "" && (!alone || len(p.sub) != 1 || bit != sigLetter(p.sub[0]))
	}
	if wrong {
		return newError("T0412", "an argument must be an array of the declared type")
	}
	if bit != sigArray {
		items, err := ev.values(1)
		if err != nil {
			return err
		}
		items[0] = *v
		*v = ev.newArray(items, 0)
	}
	return nil
}

// assign distributes arguments over parameters, some optional, some taking
// several, so that every argument is used: the longest run first.
func (s *signature) assign(ev *evaluator, args []value, context value) ([]value, error) {
	n, p := len(args), len(s.params)
	if err := ev.step(n * (p + 1)); err != nil {
		return nil, err
	}
	// fits[i*(n+1)+j]: parameters from i on can take arguments from j on.
	fits := make([]bool, (p+1)*(n+1))
	fits[p*(n+1)+n] = true
	for i := p - 1; i >= 0; i-- {
		q := &s.params[i]
		for j := n; j >= 0; j-- {
			ok := q.opt && fits[(i+1)*(n+1)+j]
			if j < n && q.mask&sigBit(args[j]) != 0 {
				ok = ok || fits[(i+1)*(n+1)+j+1] || q.plus && fits[i*(n+1)+j+1]
			}
			fits[i*(n+1)+j] = ok
		}
	}
	if !fits[0] {
		return nil, newError("T0410", "the arguments do not match the signature %s", s.text)
	}
	out := make([]value, 0, max(p, n))
	next, at := 0, 0 // next argument to read; position in the match
	arg := func() value {
		if next < n {
			return args[next]
		}
		return undefined
	}
	for i := range s.params {
		q := &s.params[i]
		run := 0
		for at+run < n && q.mask&sigBit(args[at+run]) != 0 && (run == 0 || q.plus) {
			run++
		}
		if q.lazy {
			most := run
			for run = 0; run < most && (run == 0 && !q.opt || !fits[(i+1)*(n+1)+at+run]); {
				run++
			}
		}
		for run > 0 && !fits[(i+1)*(n+1)+at+run] {
			run--
		}
		if run == 0 {
			if q.context {
				if q.mask&sigBit(context) == 0 {
					return nil, newError("T0411", "the context is not a valid argument %d", next+1)
				}
				out = append(out, context)
				continue
			}
			out = append(out, arg())
			next++
			continue
		}
		for alone := run == 1; run > 0; run-- {
			v := arg()
			if q.array {
				if err := q.asArray(ev, &v, sigBit(args[at]), alone); err != nil {
					return nil, err
				}
			}
			out = append(out, v)
			next++
			at++
		}
	}
	return out, nil
}
