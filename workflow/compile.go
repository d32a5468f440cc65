package workflow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
)

// CompileOptions says what a workflow is checked against.
type CompileOptions struct {
	// Engine compiles the expressions. It is required.
	Engine expr.Engine
	// Known reports whether a primitive is in the runtime's dictionary. Nil
	// means that names are not checked.
	Known func(name string) bool
	// Names lists the dictionary, for what may have been meant by another name.
	Names func() []string
	// Dictionary says whose the dictionary is; "" is this runtime.
	Dictionary string
	// Arguments reports what is wrong with the args of a step for its primitive,
	// given which strings of them are expressions. What is certain to be refused
	// is a problem, the rest a warning. Nil means that args are not checked.
	Arguments func(primitive string, args json.RawMessage, open func(text string) bool) []primitives.ArgumentProblem
	// DeferredExpressions makes an expression that does not compile a warning: it fails
	// when it is evaluated (quirks.MapsAsTheyCome).
	DeferredExpressions bool
}

var stepID = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`)

var (
	rootFields = []string{"version", "expression_language", "steps", "output", "postcondition", "x_state_machine"}
	stepFields = []string{
		"id", "primitive", "args", "when", "for_each", "max_items",
		"retry_until", "max_attempts", "after_each", "on_error", "settle_after",
	}
	settleFields = []string{"locator", "state", "timeout_ms", "delay_ms"}
	waitFields   = []string{"primitive", "args"}
)

// Compile checks a workflow and compiles its expressions. It reports every
// problem, rules of the structure first and in the order of the schema, then
// expressions in the order of the text. The Program is nil when there is any.
func Compile(raw json.RawMessage, opts CompileOptions) (*Program, []Problem) {
	c := &checker{opts: opts}
	if c.opts.Engine == nil {
		c.opts.Engine = noEngine{}
	}
	p := c.workflow(raw)
	c.problems = append(c.problems, c.expressions...)
	if len(c.problems) > 0 {
		return nil, c.problems
	}
	p.warnings, p.reads = c.warnings, c.reads
	return p, nil
}

type checker struct {
	opts        CompileOptions
	problems    []Problem // of structure
	expressions []Problem // reported after those of structure
	warnings    []Problem
	seen        map[string]bool
	reads       []expr.Read

	// Where the checker is.
	at     string
	stepID string
}

func (c *checker) fail(field, format string, args ...any) {
	c.failCode(fault.InvalidWorkflow, field, format, args...)
}

func (c *checker) failCode(code fault.Code, field, format string, args ...any) {
	c.problems = append(c.problems, c.problem(code, field, format, args...))
}

func (c *checker) warn(field, format string, args ...any) {
	c.warnings = append(c.warnings, c.problem(fault.InvalidWorkflow, field, format, args...))
}

// problem makes a Problem. field is a pointer below the current place; its
// first token is the name of the field.
func (c *checker) problem(code fault.Code, field, format string, args ...any) Problem {
	p := Problem{StepID: c.stepID}
	p.Pointer = c.at
	p.Code = code
	p.Message = fmt.Sprintf(format, args...)
	if field != "" {
		p.Pointer += "/" + field
		p.Field, _, _ = strings.Cut(field, "/")
		p.Field = strings.ReplaceAll(strings.ReplaceAll(p.Field, "~1", "/"), "~0", "~")
	}
	if c.stepID != "" {
		p.Message = "step " + c.stepID + ": " + p.Message
	}
	return p
}

func (c *checker) workflow(raw json.RawMessage) *Program {
	root, ok := parseObject(raw)
	if !ok {
		c.fail("", "a workflow must be a JSON object")
		return nil
	}
	c.unknown(root, rootFields, "", "the workflow")
	if v, ok := number(root.get("version")); !ok || v != 1 {
		c.fail("version", "version must be the number 1")
	}
	if lang, ok := text(root.get("expression_language")); !ok || lang != "jsonata" {
		c.fail("expression_language", `expression_language must be "jsonata"`)
	}
	p := &Program{}
	var steps []json.RawMessage
	if list := root.get("steps"); kind(list) != '[' {
		c.fail("steps", "steps must be an array")
	} else if err := json.Unmarshal(list, &steps); err != nil {
		c.fail("steps", "steps must be an array")
	} else if len(steps) > MaxSteps {
		c.fail("steps", "a workflow has at most %d steps; this one has %d", MaxSteps, len(steps))
		steps = steps[:MaxSteps]
	}
	c.seen = map[string]bool{}
	for i, s := range steps {
		c.at = "/steps/" + strconv.Itoa(i)
		p.steps = append(p.steps, c.step(s, i))
		c.at, c.stepID = "", ""
	}
	if out := root.get("output"); out != nil {
		p.output = c.template(out, "output")
	}
	if post := root.get("postcondition"); post != nil {
		if kind(post) != '{' {
			c.fail("postcondition", "postcondition must be an object")
		}
		p.postcondition = slices.Clone(post)
	}
	return p
}

func (c *checker) step(raw json.RawMessage, index int) step {
	s := step{}
	o, ok := parseObject(raw)
	if !ok {
		c.fail("", "step %d must be a JSON object", index)
		return s
	}
	id, ok := text(o.get("id"))
	switch {
	case !ok || !stepID.MatchString(id):
		c.fail("id", "the id of step %d must match %s", index, stepID)
	case c.seen[id]:
		c.stepID = id
		c.fail("id", "the id is used by more than one step")
	default:
		s.id, c.seen[id] = id, true
	}
	if ok {
		c.stepID = id
	}
	c.unknown(o, stepFields, "", "a step")
	s.primitive = c.primitive(o.get("primitive"), "primitive")
	s.args = c.args(o.get("args"), "args")
	c.arguments(s.primitive, o.get("args"), "args", true)
	if v := o.get("when"); v != nil {
		s.when = c.condition(v, "when")
	}
	if v := o.get("for_each"); v != nil {
		s.maxItems = c.bound(o, "max_items", "for_each", MaxItems)
		s.forEach = c.template(v, "for_each")
		for _, ignored := range []string{"retry_until", "settle_after"} {
			if o.get(ignored) != nil {
				c.warn(ignored, "%s is ignored on a step with for_each", ignored)
			}
		}
	} else if o.get("max_items") != nil {
		c.warn("max_items", "max_items has no meaning without for_each")
	}
	if v := o.get("retry_until"); v != nil {
		s.maxAttempts = c.bound(o, "max_attempts", "retry_until", MaxAttempts)
		s.retryUntil = c.condition(v, "retry_until")
		s.afterEach = c.afterEach(o.get("after_each"))
	} else {
		for _, field := range []string{"max_attempts", "after_each"} {
			if o.get(field) != nil {
				c.warn(field, "%s has no meaning without retry_until", field)
			}
		}
	}
	if v := o.get("on_error"); truthy(v) {
		switch mode, _ := text(v); mode {
		case "stop":
		case "continue":
			s.goOn = true
		default:
			c.fail("on_error", `on_error must be "stop" or "continue"`)
		}
	}
	if s.retryUntil != nil && s.forEach == nil && !s.goOn && s.maxAttempts > 1 {
		c.warn("retry_until", `an attempt that fails ends the workflow unless on_error is "continue"`)
	}
	if v := o.get("settle_after"); v != nil {
		s.settle = c.settle(v)
	}
	return s
}

func (c *checker) unknown(o object, known []string, under, what string) {
	for _, m := range o {
		if !slices.Contains(known, m.name) {
			c.fail(under+expr.EscapePointer(m.name), "%s has no field %q", what, m.name)
		}
	}
}

func (c *checker) primitive(v json.RawMessage, field string) string {
	name, ok := text(v)
	if !ok || name == "" {
		c.fail(field, "primitive must be the name of a primitive")
		return ""
	}
	if c.opts.Known != nil && !c.opts.Known(name) {
		hint := ""
		if c.opts.Names != nil {
			if near := fault.Nearest(name, c.opts.Names()); near != "" {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
		}
		c.failCode(
			fault.UnknownPrimitive, field, "%q is no primitive of %s%s",
			name, cmp.Or(c.opts.Dictionary, "this runtime"), hint,
		)
	}
	return name
}

func (c *checker) args(v json.RawMessage, field string) *arguments {
	if v == nil || kind(v) == 'n' {
		return nil
	}
	if kind(v) != '{' {
		c.fail(field, "args must be an object")
		return nil
	}
	return &arguments{template: c.template(v, field), selectors: selectorSlots(v)}
}

// arguments checks the args of a primitive. fatal is false where a refusal does
// not end the workflow.
func (c *checker) arguments(primitive string, args json.RawMessage, field string, fatal bool) {
	if c.opts.Arguments == nil || args != nil && kind(args) != '{' && kind(args) != 'n' {
		return
	}
	for _, wrong := range c.opts.Arguments(primitive, args, isSlot) {
		p := c.problem(wrong.Code, field, "%s", wrong.Message)
		p.Pointer += wrong.Path
		if wrong.Certain && fatal {
			c.problems = append(c.problems, p)
		} else {
			c.warnings = append(c.warnings, p)
		}
	}
}

// isSlot also says so of what is refused as a slot.
func isSlot(text string) bool {
	_, slot, err := expr.Slot(text)
	return slot || err != nil
}

// bound reads max_items or max_attempts. A fraction counts as the whole number
// below it.
func (c *checker) bound(o object, field, of string, most int) int {
	n, ok := number(o.get(field))
	if !ok || n < 1 || n > float64(most) {
		c.fail(field, "%s needs %s, a number from 1 to %d", of, field, most)
		return 0
	}
	return int(math.Floor(n))
}

func (c *checker) afterEach(v json.RawMessage) *wait {
	if !truthy(v) {
		return nil
	}
	o, ok := parseObject(v)
	if !ok {
		c.fail("after_each", "after_each must be an object")
		return nil
	}
	w := &wait{primitive: c.primitive(o.get("primitive"), "after_each/primitive")}
	if w.primitive != "" && !slices.Contains(waitPrimitives, w.primitive) {
		c.fail("after_each/primitive", "after_each may only run %s", strings.Join(waitPrimitives, ", "))
	}
	w.args = c.args(o.get("args"), "after_each/args")
	c.arguments(w.primitive, o.get("args"), "after_each/args", true)
	for _, m := range o {
		if !slices.Contains(waitFields, m.name) {
			c.warn("after_each/"+expr.EscapePointer(m.name), "after_each has no field %q", m.name)
		}
	}
	return w
}

func (c *checker) settle(v json.RawMessage) *settle {
	o, ok := parseObject(v)
	if !ok {
		c.fail("settle_after", "settle_after must be an object")
		return nil
	}
	c.unknown(o, settleFields, "settle_after/", "settle_after")
	s := &settle{state: "visible"}
	locator, delay := o.get("locator"), o.get("delay_ms")
	hasLocator, hasDelay := locator != nil && kind(locator) != 'n', delay != nil
	switch {
	case hasLocator == hasDelay:
		c.fail("settle_after", "settle_after needs exactly one of locator and delay_ms")
	case hasLocator && kind(locator) != '{':
		c.fail("settle_after/locator", "locator must be an object")
	case hasLocator:
		s.locator, s.verbatim = c.args(locator, "settle_after/locator"), slices.Clone(locator)
		// A wait that is refused has not settled, which ends no workflow.
		c.arguments(settlePrimitive, append(append([]byte(`{"locator":`), locator...), '}'), "settle_after", false)
		if v := o.get("state"); v != nil {
			if name, ok := text(v); ok && name != "" {
				s.state = name
			} else if truthy(v) {
				c.warn("settle_after/state", "state must be a string")
			}
		}
		if v := o.get("timeout_ms"); v != nil {
			if _, ok := number(v); ok {
				s.timeout = slices.Clone(v)
			} else {
				c.warn("settle_after/timeout_ms", "timeout_ms must be a number; the default is used")
			}
		}
	default:
		ms, ok := number(delay)
		if !ok || ms <= 0 {
			c.fail("settle_after/delay_ms", "delay_ms must be a number above 0")
			break
		}
		s.delay = longestSettleWait
		if ms < float64(longestSettleWait/time.Millisecond) {
			s.delay = time.Duration(ms * float64(time.Millisecond))
		}
	}
	return s
}

// condition compiles when or retry_until. A string without a slot is a literal
// and thus a constant condition, which nobody writes on purpose.
func (c *checker) condition(v json.RawMessage, field string) *expr.Template {
	t := c.template(v, field)
	if t != nil && t.Constant() && kind(v) == '"' {
		c.warn(
			field, "%s is a plain string, which is always the same; write the condition as a {%% ... %%} slot", field,
		)
	}
	return t
}

func (c *checker) template(v json.RawMessage, field string) *expr.Template {
	t, errs := expr.CheckTemplate(c.opts.Engine, v)
	for _, err := range errs {
		f := fault.From(err)
		p := c.problem(f.Code, field, "%s", f.Message)
		p.Pointer += expr.Pointer(err)
		if c.opts.DeferredExpressions && t != nil {
			c.warnings = append(c.warnings, p)
			continue
		}
		c.expressions = append(c.expressions, p)
	}
	for _, r := range t.Reads() {
		r.Pointer = c.at + "/" + field + r.Pointer
		c.reads = append(c.reads, r)
	}
	for _, w := range t.Warnings() {
		// A list that collapses matters where a list must come out.
		if w.Code == expr.WarnCollapse && (field != "for_each" || w.Pointer != "") {
			continue
		}
		p := c.problem(fault.InvalidExpression, field, "%s", w.Warning)
		p.Pointer += w.Pointer
		c.warnings = append(c.warnings, p)
	}
	return t
}

// noEngine stands in when the caller gave none.
type noEngine struct{}

func (noEngine) Name() string { return "none" }
func (noEngine) Close() error { return nil }
func (noEngine) Compile(string) (expr.Program, error) {
	return nil, fault.New(fault.Internal, "no expression engine was given")
}

// object is a JSON object in the order of its text. A name that appears twice
// has its last value.
type object []struct {
	name  string
	value json.RawMessage
}

func (o object) get(name string) json.RawMessage {
	for _, m := range slices.Backward(o) {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func parseObject(raw json.RawMessage) (object, bool) {
	if kind(raw) != '{' || !json.Valid(raw) {
		return nil, false
	}
	o := object{}
	expr.EachMember(raw, func(name string, value json.RawMessage) {
		o = append(o, struct {
			name  string
			value json.RawMessage
		}{name, value})
	})
	return o, true
}

// kind returns the first byte of a JSON value, 0 when there is none.
func kind(v json.RawMessage) byte {
	v = bytes.TrimSpace(v)
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

func text(v json.RawMessage) (string, bool) {
	var s string
	if kind(v) != '"' || json.Unmarshal(v, &s) != nil {
		return "", false
	}
	return s, true
}

// number returns a finite JSON number.
func number(v json.RawMessage) (float64, bool) {
	var f float64
	if k := kind(v); k != '-' && (k < '0' || k > '9') || json.Unmarshal(v, &f) != nil {
		return 0, false
	}
	return f, true
}

func truthy(v json.RawMessage) bool {
	return expr.Truthy(expr.Value{JSON: v, Undefined: v == nil})
}
