package manifest

import "encoding/json"

// Check verifies that the live site still matches the map.
type Check struct {
	ID                 string
	Description        string
	Severity           string // info, minor, major, critical; "" when not declared
	Setup              json.RawMessage
	Assertions         []Probe
	NegativeAssertions []Probe
	OnFail             *OnFail
	// Subject is what the check as a whole is about, where it says so.
	Tool, State, Attachment string
	Target                  *Target
	TargetOf                string
	Extensions              Extensions
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
		ID:          o.declared("id", &c.checks, "check"),
		Description: o.description(),
		Severity:    o.oneOf("severity", "info", "minor", "major", "critical"),
		Setup:       o.rawArray("setup"),
	}
	k.Tool, k.State, k.Attachment = c.subjects(o, true)
	c.plural(o, "tools", &c.tools)
	c.plural(o, "states", &c.states)
	c.plural(o, "attachments", &c.attachments)
	if v, ok := o.get("target"); ok {
		k.Target, k.TargetOf = c.targetOrName(v, true)
	}
	assertion := func(e *object) Probe {
		p := c.probe(e, true)
		p.Name = e.identifier("name")
		p.Extensions = e.done()
		return p
	}
	k.Assertions = entries(o, "assertions", assertion)
	k.NegativeAssertions = entries(o, "negative_assertions", assertion)
	k.OnFail = readObject(o, "on_fail", func(e *object) *OnFail {
		f := &OnFail{StoreEvidence: e.strings("store_evidence"), Contingency: e.string("contingency"), AlternateSelectors: e.selectors("alternate_selectors")}
		f.Extensions = e.done()
		return f
	})
	k.Extensions = o.done()
	return k
}

// plural reads an array of names that must be declared.
func (c *checker) plural(o *object, field string, in *names) []string {
	return read(o, field, func(v value) []string {
		var out []string
		for _, e := range v.items() {
			name := e.string()
			c.refer(e, name, in, field[:len(field)-1], e.fail)
			out = append(out, name)
		}
		return out
	})
}
