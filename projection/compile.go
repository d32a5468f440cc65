package projection

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/schema"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/sites/manifest"
)

// failer collects the problems of a declaration.
type failer struct{ found *[]manifest.Problem }

func (f failer) add(pointer string, code fault.Code, format string, args ...any) {
	*f.found = append(*f.found, manifest.Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (f failer) invalid(pointer, format string, args ...any) {
	f.add(pointer, fault.InvalidStateProjection, format, args...)
}

// err adds what another package found.
func (f failer) err(pointer string, err error) {
	e := fault.From(err)
	f.add(pointer, e.Code, "%s", e.Message)
}

// Compile checks a declaration and prepares it. It finds all problems at once;
// with any, the projection is nil. Their codes are invalid_state_projection,
// invalid_expression, disallowed_expression_function, invalid_schema,
// invalid_state_markers and invalid_state_postcondition.
func Compile(raw json.RawMessage, engine expr.Engine) (*Projection, []manifest.Problem) {
	p, problems := compileReading(raw, engine)
	if root, err := parseValue(raw); err == nil && root.kind == kindObject {
		warned := []manifest.Problem{}
		compiler{engine, failer{&problems}, &warned}.postconditions(root.member("postconditions"))
		if p != nil {
			p.warnings = append(p.warnings, warned...)
		}
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return p, nil
}

// CompileAsItComes is Compile as the upstream extension does it: an expression that
// does not compile fails when it is evaluated, and postconditions are not checked.
func CompileAsItComes(raw json.RawMessage, engine expr.Engine) (*Projection, []manifest.Problem) {
	return compileReading(raw, expr.Deferred(engine))
}

// compileReading prepares what reading needs.
func compileReading(raw json.RawMessage, engine expr.Engine) (*Projection, []manifest.Problem) {
	var problems []manifest.Problem
	fail := failer{&problems}
	root, err := parseValue(raw)
	switch {
	case err != nil:
		fail.invalid("", "%v", err)
		return nil, problems
	case root.kind != kindObject:
		fail.invalid("", "a projection must be an object")
		return nil, problems
	}
	p := &Projection{}
	c := compiler{engine, fail, &p.warnings}
	p.name = c.text(root, "", "name", true)
	p.pages = c.scope(root.member("scope"))
	c.snapshot(p, root.member("snapshot"))
	p.summaries = c.summaries(root.member("summaries"))
	p.markers = c.markers(root.member("markers"))
	p.identity = compileIdentity(root.member("x_identity"), "/x_identity", fail)
	if len(problems) > 0 {
		return nil, problems
	}
	return p, nil
}

type compiler struct {
	engine   expr.Engine
	fail     failer
	warnings *[]manifest.Problem
}

// text reads a string member. Without need a missing one, and null, is "".
func (c compiler) text(in *value, at, name string, need bool) string {
	v := in.member(name)
	switch {
	case !v.given():
		if need {
			c.fail.invalid(at+"/"+escapeToken(name), "is required")
		}
	case v.kind != kindString:
		c.fail.invalid(at+"/"+escapeToken(name), "must be a string")
	case need && strings.TrimFunc(v.text, unicode.IsSpace) == "":
		c.fail.invalid(at+"/"+escapeToken(name), "is blank")
	default:
		return v.text
	}
	return ""
}

func (c compiler) scope(v *value) string {
	if !v.given() {
		return ""
	}
	if v.kind != kindObject {
		c.fail.invalid("/scope", "must be an object")
		return ""
	}
	return strings.TrimFunc(c.text(v, "/scope", "url_matches", false), unicode.IsSpace)
}

func (c compiler) snapshot(p *Projection, v *value) {
	if v == nil || v.kind != kindObject {
		c.fail.invalid("/snapshot", "must be an object")
		return
	}
	if n := v.member("version"); n == nil || n.kind != kindNumber || n.text != "1" {
		c.fail.invalid("/snapshot/version", "must be 1")
	}
	if s := v.member("source"); s == nil || s.kind != kindString || s.text != "dom" {
		c.fail.invalid("/snapshot/source", `must be "dom"`)
	}
	p.plan = c.plan(v.member("extract"))
	switch e := v.member("projection"); {
	case e == nil || e.kind != kindObject:
		c.fail.invalid("/snapshot/projection", "must be an object")
	default:
		const at = "/snapshot/projection"
		if l := e.member("language"); l == nil || l.kind != kindString || l.text != "jsonata" {
			c.fail.invalid(at+"/language", `must be "jsonata"`)
		}
		p.program = c.expression(c.text(e, at, "expression", true), at+"/expression")
	}
	if s := v.member("output_schema"); s.given() {
		p.schemaText = s.append(nil)
		compiled, err := schema.Compile(p.schemaText)
		if err != nil {
			c.fail.err("/snapshot/output_schema", err)
		}
		p.schema = compiled
	}
}

// expression compiles the value of a field that is always an expression: a
// whole slot, or the bare text whatever it holds. "" was reported already.
func (c compiler) expression(text, at string) expr.Program {
	if text == "" {
		return nil
	}
	program, err := compileExpression(c.engine, text)
	if err != nil {
		c.fail.err(at, err)
	}
	*c.warnings = append(*c.warnings, warnings(program, at)...)
	return program
}

// warnings are what an expression at a pointer says that its author may not
// have meant. That a list of one collapses is left out: what a state or a
// condition is made of may well be a single value.
func warnings(program expr.Program, at string) []manifest.Problem {
	explainer, ok := program.(expr.Explainer)
	if !ok {
		return nil
	}
	var out []manifest.Problem
	for _, w := range explainer.Warnings() {
		if w.Code != expr.WarnCollapse {
			out = append(out, manifest.Problem{Pointer: at, Code: fault.InvalidExpression, Message: w.String()})
		}
	}
	return out
}

func compileExpression(engine expr.Engine, text string) (expr.Program, error) {
	program, err := expr.CompileExpression(engine, text)
	if errors.Is(err, fault.PartialExpressionUnsupported) {
		// Here a marker inside a string of the expression is ordinary text.
		return engine.Compile(text)
	}
	return program, err
}

func (c compiler) summaries(v *value) []summary {
	if !v.given() {
		return nil
	}
	if v.kind != kindArray {
		c.fail.invalid("/summaries", "must be an array")
		return nil
	}
	var out []summary
	names := map[string]bool{}
	for i, item := range v.items {
		at := fmt.Sprintf("/summaries/%d", i)
		if item.kind != kindObject {
			c.fail.invalid(at, "must be an object")
			continue
		}
		s := summary{name: c.text(item, at, "name", true), maxBytes: DefaultSummaryBytes, pointer: at + "/expression"}
		if s.name != "" && names[s.name] {
			c.fail.invalid(at+"/name", "another summary has this name")
		}
		names[s.name] = true
		if n := item.member("max_bytes"); n.given() {
			var bytes float64
			if n.kind != kindNumber || json.Unmarshal([]byte(n.text), &bytes) != nil || bytes < 1 {
				c.fail.invalid(at+"/max_bytes", "must be a positive number")
			}
			s.maxBytes = int(min(bytes, MaxExpressionBytes))
		}
		s.program = c.expression(c.text(item, at, "expression", true), s.pointer)
		out = append(out, s)
	}
	return out
}

func (c compiler) postconditions(v *value) {
	if !v.given() {
		return
	}
	if v.kind != kindObject {
		c.fail.invalid("/postconditions", "must be an object")
		return
	}
	for i, name := range v.names {
		if v.items[i].kind != kindObject {
			continue // as in the reference: only an object declares one
		}
		at := "/postconditions/" + escapeToken(name)
		pc, err := compilePostcondition(v.items[i], c.engine)
		if err != nil {
			c.fail.err(at, err)
			continue
		}
		for _, w := range pc.warnings {
			w.Pointer = at + w.Pointer
			*c.warnings = append(*c.warnings, w)
		}
	}
}
