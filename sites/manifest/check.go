package manifest

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Check verifies that the live site still matches the map.
type Check struct {
	ID          string
	At          Place
	Description string
	Severity    string // info, minor, major, critical; "" when not declared
	// Setup is what to do first, for checks that somebody requests. SetupSteps
	// are its entries that are objects with a type, SetupRest the pointers of
	// those that no runtime can follow.
	Setup              json.RawMessage
	SetupSteps         []ExecutionStep
	SetupRest          []string
	Assertions         []Probe
	NegativeAssertions []Probe
	OnFail             *OnFail
	// Subject is what the check as a whole is about, where it says so.
	Tool, State, Attachment    string
	Tools, States, Attachments []string
	Target                     *Target
	TargetOf                   string
	Extensions                 Extensions
}

// OnFail says what to do when a check fails.
type OnFail struct {
	StoreEvidence      []string // url, dom_snapshot, screenshot, ...
	Contingency        string
	AlternateSelectors []string
	Extensions         Extensions
}

func (c *checker) check(o *object) Check {
	k := Check{
		At:          o.place(),
		ID:          o.declared("id", &c.checks, "check"),
		Description: o.description(),
		Severity:    o.oneOf("severity", "info", "minor", "major", "critical"),
		Setup:       o.rawArray("setup"),
	}
	k.Tool, k.State, k.Attachment = c.subjects(o, true)
	k.Tools = c.plural(o, "tools", &c.tools)
	k.States = c.plural(o, "states", &c.states)
	k.Attachments = c.plural(o, "attachments", &c.attachments)
	k.SetupSteps, k.SetupRest = c.setup(o)
	if v, ok := o.get("target"); ok {
		k.Target, k.TargetOf = c.targetOrName(v, true)
	}
	assertion := func(e *object) Probe {
		p := c.probe(e, true)
		p.At = e.place()
		p.Name = e.identifier("name")
		p.Extensions = e.done()
		return p
	}
	k.Assertions = entries(o, "assertions", assertion)
	k.NegativeAssertions = entries(o, "negative_assertions", assertion)
	k.OnFail = readObject(o, "on_fail", func(e *object) *OnFail {
		f := &OnFail{
			StoreEvidence:      e.strings("store_evidence"),
			Contingency:        e.string("contingency"),
			AlternateSelectors: e.selectors("alternate_selectors"),
		}
		f.Extensions = e.done()
		return f
	})
	k.Extensions = o.done()
	return k
}

// setup reads the entries of setup. It is a plan that nobody runs unasked, so
// what is odd in it is worth a warning at most; an entry that no runtime could
// follow is left out of the steps and kept in the text.
func (c *checker) setup(o *object) (steps []ExecutionStep, rest []string) {
	v, ok := o.get("setup")
	if !ok || v.n.kind != kindArray {
		return nil, nil
	}
	quiet := &checker{opts: c.opts, src: c.src, targets: map[string]bool{}}
	quiet.opts.trace = nil
	for _, e := range v.items() {
		e.c = quiet
		entry := &object{value: e}
		if e.n.kind != kindObject || e.n.member("type") == nil {
			e.c = c
			e.warn(fault.InvalidValue, "should be a step: an object with a type")
			rest = append(rest, e.at.String())
			continue
		}
		var ids names
		errors := len(quiet.found.errors)
		step := quiet.executionStep(entry, &ids)
		if len(quiet.found.errors) > errors {
			e.c = c
			e.warn(fault.InvalidValue, "not a step: %s", quiet.found.errors[errors].Message)
			rest = append(rest, e.at.String())
			continue
		}
		steps = append(steps, step)
	}
	return steps, rest
}

// plural reads an array of names that must be declared.
func (c *checker) plural(o *object, field string, in *names) []string {
	return read(o, field, func(v value) []string {
		var out []string
		for _, e := range v.items() {
			name := e.string()
			c.refer(e, name, in, field[:len(field)-1], e.deviate)
			out = append(out, name)
		}
		return out
	})
}
