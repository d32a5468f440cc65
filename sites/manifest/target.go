package manifest

import (
	"encoding/json"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Target says where something is in the live page. All set predicates hold for
// it together; selectors are alternatives, in order.
type Target struct {
	Selector          []string // one, or candidates in order
	Selectors         []string
	FallbackSelectors []string
	Role              string
	Name              string
	TextEquals        string
	TextContains      string
	URLContains       string
	URLMatches        string
	State             string
	Confidence        string
	Notes             string
	At                Place
	Extensions        Extensions
}

// Candidates returns the selectors in the order in which they are tried, the
// fallbacks last.
func (t *Target) Candidates() []string {
	out := make([]string, 0, len(t.Selector)+len(t.Selectors)+len(t.FallbackSelectors))
	seen := map[string]bool{}
	for _, list := range [][]string{t.Selector, t.Selectors, t.FallbackSelectors} {
		for _, s := range list {
			if !seen[s] {
				seen[s] = true
				out = append(out, s)
			}
		}
	}
	return out
}

// Source holds hints for review and repair. Nothing in it is executed.
type Source struct {
	Files     []string
	Symbols   []string
	Selectors []string
	Component string
	// Scope, ItemSelector and Fields are what tools with a state_machine are
	// bound to: the arguments of one extraction. nil and "" when not declared.
	Scope        json.RawMessage
	ItemSelector json.RawMessage
	Fields       json.RawMessage
	Extensions   Extensions
}

// lifecycleStates may stand where a state is named: every attachment has them.
var lifecycleStates = map[string]bool{
	"unattached": true, "attached": true, "wrong_context": true,
	"stale": true, "reattached": true, "drifted": true,
}

// LifecycleState reports whether name is a state that every attachment has, and
// that no map declares.
func LifecycleState(name string) bool { return lifecycleStates[name] }

// selectors reads a selector field: a string or an array of strings, none of
// them blank.
func (o *object) selectors(name string) []string {
	return read(o, name, func(v value) []string {
		switch v.n.kind {
		case kindString:
			v.selector()
			return []string{v.text()}
		case kindArray:
			var out []string
			for _, e := range v.items() {
				if e.n.kind != kindString {
					e.fail(fault.InvalidSelectorField, "a selector must be a string, not %s", e.n.kind)
					continue
				}
				e.selector()
				out = append(out, e.text())
			}
			return out
		}
		v.fail(fault.InvalidSelectorField, "must be a string or an array of strings, not %s", v.n.kind)
		return nil
	})
}

func (v value) selector() {
	if strings.TrimSpace(v.text()) == "" {
		v.fail(fault.InvalidSelectorField, "a selector must not be blank")
	}
}

// target reads a target descriptor. strict makes an unknown state an error.
func (c *checker) target(o *object, strict bool) *Target {
	t := &Target{
		Selector:          o.selectors("selector"),
		Selectors:         o.selectors("selectors"),
		FallbackSelectors: o.selectors("fallback_selectors"),
		Role:              o.string("role"),
		Name:              o.string("name"),
		TextEquals:        o.string("text_equals"),
		TextContains:      o.string("text_contains"),
		URLContains:       o.string("url_contains"),
		URLMatches:        o.string("url_matches"),
		Confidence:        o.oneOf("confidence", "observed", "inferred", "generated", "unknown"),
		Notes:             o.string("notes"),
		At:                o.place(),
	}
	if v, ok := o.get("state"); ok {
		t.State = v.string()
		if !lifecycleStates[t.State] {
			report := v.warn
			if strict {
				report = v.deviate
			}
			c.refer(v, t.State, &c.states, "state", report)
		}
	}
	t.Extensions = o.done()
	return t
}

func (c *checker) source(o *object) *Source {
	if o == nil {
		return nil
	}
	s := &Source{
		Files: read(o, "files", func(v value) []string {
			var out []string
			for _, e := range v.items() {
				p := e.string()
				if e.n.kind != kindString {
					continue
				}
				switch slashed := strings.ReplaceAll(p, `\`, "/"); {
				case strings.TrimSpace(p) == "":
					e.fail(fault.InvalidValue, "must not be blank")
				case absolute(slashed):
					e.fail(fault.PathEscape, "%s is absolute; source files are named from the site root", quote(p))
				case escapes(slashed):
					e.fail(fault.PathEscape, "%s leaves the site root", quote(p))
				}
				out = append(out, p)
			}
			return out
		}),
		Symbols:   o.strings("symbols"),
		Selectors: o.selectors("selectors"),
		Component: o.string("component"),
	}
	s.Scope = o.any("scope")
	s.ItemSelector = o.any("item_selector")
	s.Fields = o.any("fields")
	o.get("notes")
	s.Extensions = o.done()
	return s
}

// Probe is one query of the page: a diagnostic of a state, an assertion of
// a check, a condition of a step. What is not set is not queried.
type Probe struct {
	Name        string
	At          Place // of an assertion of a check
	Description string
	Target      *Target
	// TargetOf names the tool, signal, attachment or diagnostic whose target is
	// meant instead of one of its own.
	TargetOf   string
	Selectors  []string // selector and selectors, where no target is spelled out
	Role       string   // of the assert of an execution step
	Tool       string
	State      string
	Attachment string

	Visible, Exists, Enabled, Checked, Focused *bool

	TextEquals, ValueEquals               *string // "" is the empty text
	TextContains, URLContains, URLMatches string
	// AlwaysHolds says that a member holds on every page, such as a text_contains that is
	// blank.
	AlwaysHolds               bool
	Count, MinCount, MaxCount *int
	Extensions                Extensions
}

// probe reads one query. strict is true inside a check, where an unknown
// name is an error.
func (c *checker) probe(o *object, strict bool) Probe {
	p := Probe{Description: o.description()}
	if v, ok := o.get("target"); ok {
		p.Target, p.TargetOf = c.targetOrName(v, strict)
	}
	p.Selectors = append(o.selectors("selector"), o.selectors("selectors")...)
	p.Tool, p.State, p.Attachment = c.subjects(o, strict)
	p.Visible = o.bool("visible")
	p.Exists = o.bool("exists")
	p.Enabled = o.bool("enabled")
	p.Checked = o.bool("checked")
	p.Focused = o.bool("focused")
	p.TextEquals, p.ValueEquals = o.given("text_equals"), o.given("value_equals")
	p.TextContains = p.saying(o, "text_contains")
	if s := p.saying(o, "expected_text"); p.TextContains == "" {
		p.TextContains = s
	}
	p.URLContains, p.URLMatches = p.saying(o, "url_contains"), p.saying(o, "url_matches")
	p.Count = o.integer("count", 0)
	p.MinCount = o.integer("min_count", 0)
	p.MaxCount = o.integer("max_count", 0)
	if v, _ := o.get("min_count"); p.MinCount != nil && *p.MinCount == 0 && p.Count == nil && p.MaxCount == nil {
		p.AlwaysHolds = true
		v.warn(fault.InvalidValue, "every page has 0 or more; expected at least 1")
	}
	return p
}

// given is a string that may be empty, nil where there is none.
func (o *object) given(name string) *string {
	return read(o, name, func(v value) *string {
		s := v.string()
		return &s
	})
}

// saying reads a text to look for, "" where every page has it.
func (p *Probe) saying(o *object, name string) string {
	return read(o, name, func(v value) string {
		s := v.string()
		if strings.TrimSpace(s) == "" || name == "url_matches" && strings.Trim(s, "* ") == "" {
			if v.n.kind == kindString {
				p.AlwaysHolds = true
				v.warn(fault.InvalidValue, "every page has it; expected a text that not every page has")
			}
			return ""
		}
		return s
	})
}

// targetOrName reads a target descriptor or the name of something that has one.
func (c *checker) targetOrName(v value, strict bool) (*Target, string) {
	switch v.n.kind {
	case kindObject:
		return c.target(v.object(), strict), ""
	case kindString:
		name := v.text()
		c.later = append(c.later, func() {
			if c.targets[name] || c.imported(name) {
				return
			}
			report := v.warn
			if strict {
				report = v.deviate
			}
			report(fault.UnknownReference, "nothing named %s declares a target", quote(name))
		})
		return nil, name
	}
	v.fail(fault.WrongType, "must be a target object or the name of a declared target, not %s", v.n.kind)
	return nil, ""
}

// subjects reads the members tool, state and attachment.
func (c *checker) subjects(o *object, strict bool) (tool, state, attachment string) {
	one := func(field string, in *names) string {
		return read(o, field, func(v value) string {
			name := v.string()
			if v.n.kind != kindString {
				return ""
			}
			report := v.warn
			if strict {
				report = v.deviate
			}
			if name == "" {
				report(fault.UnknownReference, "must name a %s", field)
			}
			c.refer(v, name, in, field, report)
			return name
		})
	}
	return one("tool", &c.tools), one("state", &c.states), one("attachment", &c.attachments)
}
