package manifest

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Execution is the inspectable form of what a tool does.
type Execution struct {
	// Mode reports whether steps or the handler run, and in which order;
	// documentary and test_only steps do not run in a call.
	Mode       string
	Fallback   string
	Steps      []ExecutionStep
	Extensions Extensions
}

// ExecutionStep is one abstract step.
type ExecutionStep struct {
	ID          string
	Type        string // inspect, click, type, ...; "another documented type" is allowed
	Description string
	Target      *Target
	Until       *Target
	Assert      *Probe
	Value       json.RawMessage // any JSON value; nil when not declared
	ValueFrom   string          // name of an argument of the call
	As          string          // name of the result member
	TimeoutMS   *int
	RateLimitMS *int
	Optional    *bool

	// What only some types use. Texts are "" and pointers nil when not declared.
	Key                    string
	Keys                   []string
	Text, URL              string
	URLFrom                string // name of an argument of the call
	Direction              string // up, down, left, right
	Option, Label          string
	Attribute, Property    string
	State                  string // of wait_for: visible, hidden, ...; not a state of the map
	Handler, Tool, Signal  string
	Frame                  string
	Notes                  string
	X, Y                   *float64
	DeltaX, DeltaY, Amount *float64
	Many, Clear, Submit    *bool
	Fields, Arguments      json.RawMessage // objects
	Raw                    json.RawMessage
	Extensions             Extensions
}

func (c *checker) execution(o *object) *Execution {
	var ids names
	e := &Execution{
		Mode: o.oneOf(
			"mode", "steps_first", "handler_first", "steps_only", "handler_only", "documentary", "test_only",
		),
		Fallback: o.string("fallback"),
		Steps:    entries(o, "steps", func(s *object) ExecutionStep { return c.executionStep(s, &ids) }),
	}
	e.Extensions = o.done()
	return e
}

func (c *checker) executionStep(o *object, ids *names) ExecutionStep {
	s := ExecutionStep{Raw: o.raw()}
	if v, ok := o.get("id"); ok {
		ids.what = "step"
		s.ID = v.identifier()
		ids.add(s.ID, v)
	}
	if v, ok := o.need("type"); ok {
		s.Type = v.identifier()
	}
	s.Description = o.description()
	plain := func(e *object) *Target { return c.target(e, false) }
	s.Target, s.Until = readObject(o, "target", plain), readObject(o, "until", plain)
	s.Assert = readObject(o, "assert", func(e *object) *Probe {
		p := c.probe(e, false)
		p.Role = e.anyText("role")
		p.Extensions = e.done()
		return &p
	})
	s.Value = o.any("value")
	s.ValueFrom = o.string("value_from")
	s.As = o.string("as")
	s.TimeoutMS = o.integer("timeout_ms", 0)
	s.RateLimitMS = o.integer("rate_limit_ms", 0)
	s.Optional = o.bool("optional")
	for _, text := range []struct {
		name string
		into *string
	}{
		{"key", &s.Key},
		{"url", &s.URL},
		{"url_from", &s.URLFrom},
		{"text", &s.Text},
		{"direction", &s.Direction},
		{"option", &s.Option},
		{"label", &s.Label},
		{"attribute", &s.Attribute},
		{"property", &s.Property},
		{"state", &s.State},
		{"handler", &s.Handler},
		{"tool", &s.Tool},
		{"signal", &s.Signal},
		{"frame", &s.Frame},
		{"notes", &s.Notes},
	} {
		*text.into = o.string(text.name)
	}
	s.X, s.Y = o.float("x"), o.float("y")
	s.DeltaX = o.float("delta_x")
	s.DeltaY = o.float("delta_y")
	s.Amount = o.float("amount")
	s.Many = o.bool("many")
	s.Clear = o.bool("clear")
	s.Submit = o.bool("submit")
	s.Keys = o.oneOrMore("keys")
	s.Fields = o.rawObject("fields")
	s.Arguments = o.rawObject("arguments")
	if check := c.opts.WarnArguments; check != nil && s.Type != "" {
		for _, p := range check(s.Type, s.Arguments) {
			p.Pointer = "/arguments" + p.Pointer
			o.value.warnInside(p)
		}
	}
	s.Extensions = o.done()
	return s
}

// State is a condition of the page, the runtime or an authorization.
type State struct {
	Name        string
	Description string
	Diagnostics []Probe
	Observables []string
	Extensions  Extensions
}

func (c *checker) state(o *object) State {
	return c.stateNamed(o, o.declared("name", &c.states, "state"))
}

func (c *checker) stateNamed(o *object, name string) State {
	s := State{Name: name, Description: o.description()}
	var own names
	s.Diagnostics = entries(o, "diagnostics", func(e *object) Probe {
		name := ""
		if v, ok := e.get("name"); ok {
			own.what = "diagnostic"
			name = v.identifier()
			own.add(name, v)
		}
		p := c.probe(e, false)
		p.Name = name
		if p.Target != nil && name != "" {
			c.targets[name], c.targets[s.Name+"."+name] = true, true
		}
		p.Extensions = e.done()
		return p
	})
	s.Observables = o.strings("observables")
	s.Extensions = o.done()
	return s
}

// Transition is a way from one state to another. It executes nothing itself:
// Tool does.
type Transition struct {
	Name          string
	From, To      string
	Tool          string
	Signal        string
	Method        string
	RateLimitMS   int
	Preconditions []string
	Reveals       []string
	DoNotUse      []string
	Convergence   *Convergence
	Parameters    json.RawMessage
	Description   string
	Extensions    Extensions
}

// Convergence says when repeating a transition should stop.
type Convergence struct {
	CompleteWhen string
	MaxAttempts  *int
	Extensions   Extensions
}

func (c *checker) transition(o *object) Transition {
	t := Transition{
		Name:        o.declared("name", &c.transitions, "transition"),
		Description: o.description(),
		From:        o.referMember("from", &c.states, "state"),
		To:          o.referMember("to", &c.states, "state"),
		Tool:        o.referMember("tool", &c.tools, "tool"),
		Signal:      o.referMember("signal", &c.signals, "signal"),
		Method:      o.string("method"),
	}
	for _, end := range []string{"from", "to"} {
		if o.n.member(end) == nil {
			c.found.warn(
				o.at.member(end).String(), int(o.n.start), fault.MissingField,
				"a transition should say both from and to",
			)
		}
	}
	if ms := o.integer("rate_limit_ms", 0); ms != nil {
		t.RateLimitMS = *ms
	}
	t.Preconditions = o.oneOrMore("preconditions")
	t.Reveals = o.oneOrMore("reveals")
	t.DoNotUse = o.oneOrMore("do_not_use")
	t.Convergence = readObject(o, "convergence", func(e *object) *Convergence {
		v := &Convergence{CompleteWhen: e.string("complete_when"), MaxAttempts: e.integer("max_attempts", 1)}
		v.Extensions = e.done()
		return v
	})
	t.Parameters = o.rawObject("parameters")
	t.Extensions = o.done()
	return t
}
