package manifest

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Direction says who starts an exchange.
type Direction string

const (
	AgentToHTML   Direction = "agent_to_html"
	HTMLToAgent   Direction = "html_to_agent"
	Bidirectional Direction = "bidirectional"
)

// Tool is one action an agent may call.
type Tool struct {
	At          Place
	Name        string
	Description string
	InputSchema json.RawMessage
	Target      *Target
	Requires    []string // names of capabilities
	// Needs is what requires says: Requires, or more where it is an object, as
	// in drafts.
	Needs      Requirements
	Workflow   json.RawMessage
	XActions   XActions
	Extensions Extensions
	Raw        json.RawMessage

	// Input and Result are the compiled schemas; Result is nil when the tool
	// declares none.
	Input, Result *Schema

	// Unusable says why the tool cannot run although its map could be read: only
	// a draft has such tools, which are listed and not called. nil for the others.
	Unusable *Problem
	// Wrong is what is invalid of a tool that its map has all the same; see
	// Options.Parts.
	Wrong []Problem
}

// AgentCallable reports whether an agent may call the tool. One whose direction
// is html_to_agent is an event of the page.
func (t *Tool) AgentCallable() bool { return t.XActions.Direction != HTMLToAgent }

// XActions says how a tool runs.
type XActions struct {
	Direction Direction // agent_to_html unless declared
	// Handler is a primitive or a function of the page, by its safe dotted
	// name. It is never source text.
	Handler      string
	Scope        string // active_surface or persistent; "" when not declared
	Source       *Source
	Execution    *Execution
	ResultSchema json.RawMessage
	// StaticOutput is the answer itself; nil when not declared, and the text
	// null when declared as null.
	StaticOutput json.RawMessage
	Binding      Binding
	// StateMachine and Navigation are older forms of execution.
	StateMachine json.RawMessage
	Navigation   json.RawMessage
	// CapabilityClass and Portable describe catalog entries.
	CapabilityClass string
	Portable        *bool
	Extensions      Extensions
	Raw             json.RawMessage
}

// Binding narrows a tool to pages and fills in arguments.
type Binding struct {
	Arguments         json.RawMessage // object; the caller's arguments win
	TargetURLContains string          // case-sensitive substring of the page's address
	Extensions        Extensions
}

func (c *checker) tool(o *object) Tool {
	t := Tool{At: o.place(), Raw: o.raw(), XActions: XActions{Direction: AgentToHTML}}
	t.Name = c.toolName(o)
	if v, ok := o.get("description"); ok {
		t.Description = v.nonBlank()
	} else {
		o.deviate("description", fault.MissingField, "description is required")
	}
	if _, ok := o.get("input_schema"); ok {
		t.InputSchema, t.Input = o.schema("input_schema")
	} else {
		o.deviate("input_schema", fault.MissingField, "input_schema is required")
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
		t.Input = &Schema{raw: t.InputSchema}
	}
	t.Target = readObject(o, "target", func(e *object) *Target {
		c.targets[t.Name] = true
		return c.target(e, false)
	})
	if v, ok := o.get("requires"); ok {
		t.Needs = c.requirements(v)
		t.Requires = t.Needs.Capabilities
	}
	if v, ok := o.get("workflow"); ok && v.is(kindObject) {
		t.Workflow = v.raw()
		checked := c.workflows[v.n]
		for _, p := range checked.problems {
			v.insideDeviates(p)
			if t.Unusable == nil && c.opts.AcceptDrafts {
				t.Unusable = &Problem{Pointer: v.at.String() + p.Pointer, Code: p.Code, Message: p.Message}
				if c.opts.Salvage && p.Code == fault.UnknownPrimitive {
					t.Unusable.Code = fault.InvalidWorkflow // the extension's word for it
				}
			}
		}
		for _, p := range checked.warnings {
			v.warnInside(p)
		}
	}
	t.XActions = readObject(o, "x_actions", func(e *object) XActions {
		x, result := c.xActions(e)
		t.Result = result
		return x
	})
	if t.XActions.Direction == "" {
		t.XActions.Direction = AgentToHTML
	}
	if raw, result := o.schema("result_schema"); raw != nil && t.XActions.ResultSchema == nil {
		t.XActions.ResultSchema, t.Result = raw, result
	}
	if o.n.member("result_schema") != nil {
		o.c.found.warn(
			o.at.member("result_schema").String(), int(o.n.member("result_schema").start),
			fault.UnknownField, "result_schema belongs into x_actions",
		)
	}
	c.executable(o, &t)
	t.Extensions = o.done()
	return t
}

func (c *checker) xActions(o *object) (XActions, *Schema) {
	x := XActions{
		Direction: Direction(
			o.oneOf("direction", string(AgentToHTML), string(HTMLToAgent), string(Bidirectional)),
		),
		Handler:         o.identifier("handler"),
		Scope:           o.oneOf("scope", "active_surface", "persistent"),
		Source:          readObject(o, "source", c.source),
		Execution:       readObject(o, "execution", c.execution),
		StaticOutput:    o.any("static_output"),
		Binding:         readObject(o, "binding", c.binding),
		StateMachine:    o.rawObject("state_machine"),
		Navigation:      o.rawArray("navigation"),
		CapabilityClass: o.string("capability_class"),
		Portable:        o.bool("portable"),
		Raw:             o.raw(),
	}
	raw, result := o.schema("result_schema")
	x.ResultSchema = raw
	x.Extensions = o.done()
	return x, result
}

func (c *checker) binding(o *object) Binding {
	b := Binding{Arguments: o.rawObject("arguments"), TargetURLContains: o.string("target_url_contains")}
	b.Extensions = o.done()
	return b
}

// executable reports an agent-callable tool that declares no way to run. A
// declared way that is malformed has been reported for what it is.
func (c *checker) executable(o *object, t *Tool) {
	if !t.AgentCallable() || o.n.member("workflow") != nil {
		return
	}
	x := o.n.member("x_actions")
	if x != nil && x.kind != kindObject {
		return
	}
	has := func(name string) bool { return x != nil && x.member(name) != nil }
	nonEmpty := func(n *node) bool { return n != nil && (n.kind != kindArray || len(n.kids) > 0) }
	steps := false
	if x != nil {
		if e := x.member("execution"); e != nil {
			steps = e.kind != kindObject || nonEmpty(e.member("steps"))
		}
	}
	navigates := x != nil && nonEmpty(x.member("navigation"))
	if has("static_output") || has("handler") || has("state_machine") || steps || navigates {
		return
	}
	const message = "the tool declares no way to run: a workflow, or x_actions with a handler, static_output or " +
		"execution.steps"
	o.value.deviate(fault.NotExecutable, message)
	if c.opts.AcceptDrafts {
		t.Unusable = &Problem{Pointer: o.at.String(), Code: fault.NotExecutable, Message: message}
	}
}
