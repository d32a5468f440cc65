package siteaction

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
	"github.com/outrider-run/outrider/sites/selector"
	"github.com/outrider-run/outrider/workflow"
)

// Inspect reports what a map declares that is certain to be refused when it is used:
// steps that cannot be planned, names that nothing declares, selectors that no
// browser reads, and actions that another map of the scope has too.
func Inspect(m *mapset.Maps, lib *sites.Library, in *sites.Map) []manifest.Problem {
	c := &inspection{maps: m, lib: lib, in: in}
	for i := range in.Manifest.Tools {
		// What breaks a rule was reported, and may be read in part only.
		if t := &in.Manifest.Tools[i]; len(t.Wrong) == 0 {
			c.tool(t, t.At.Pointer)
		}
	}
	var document any
	if json.Unmarshal(in.Manifest.Raw, &document) == nil {
		c.selectors(document, "")
	}
	return c.found
}

type inspection struct {
	maps  *mapset.Maps
	lib   *sites.Library
	in    *sites.Map
	found []manifest.Problem
}

func (c *inspection) fail(pointer string, code fault.Code, format string, args ...any) {
	c.found = append(c.found, manifest.Problem{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (c *inspection) tool(t *manifest.Tool, at string) {
	if others := c.collides(t); len(others) > 0 {
		paths := make([]string, len(others))
		for i, o := range others {
			paths[i] = o.Path
		}
		c.fail(
			at+"/name", fault.DuplicateName,
			"the action %s is declared for the same pages by %s: no call can tell which is meant",
			t.Name, strings.Join(paths, ", "),
		)
	}
	if len(t.Workflow) > 0 {
		c.workflow(t, at)
		return
	}
	match := &sites.Match{Name: t.Name, Map: c.in, Tool: t, Via: c.in}
	x := t.XActions.Execution
	if formOf(c.maps, match) != formExecution || x == nil || x.Mode == handlerOnly || x.Mode == "documentary" ||
		x.Mode == "test_only" {
		return
	}
	known := declaredInput(t)
	for i := range x.Steps {
		c.slots(&x.Steps[i], at+"/x_actions/execution/steps/"+strconv.Itoa(i), known)
	}
	for i := range x.Steps {
		if _, err := slotsOf(c.maps, &x.Steps[i]); err != nil {
			continue // reported with its slot
		}
		s, err := planStep(c.maps, c.lib, match, &x.Steps[i], i)
		place := at + "/x_actions/execution/steps/" + strconv.Itoa(i)
		switch {
		case err == nil:
		case err.Evidence["known_types"] != nil:
			hint := ""
			if near, _ := err.Evidence["nearest"].([]string); len(near) > 0 {
				hint = fmt.Sprintf("; did you mean %q?", near[0])
			}
			c.fail(place+"/type", fault.UnknownReference, "%q is no type of step and no primitive%s", s.Type, hint)
		default:
			c.fail(place, fault.MissingField, "%s", err.Message)
		}
		for _, from := range [][2]string{{"value_from", s.ValueFrom}, {"url_from", s.URLFrom}} {
			member, name := from[0], from[1]
			head, _, _ := strings.Cut(name, ".")
			if name != "" && known != nil && !known[name] && !known[head] {
				c.fail(
					place+"/"+member, fault.UnknownReference,
					"%s names %q, which is no argument of the action and no result of an earlier step%s",
					member, name, suggestion(head, known),
				)
			}
		}
		if known != nil {
			known[s.id] = true
			if s.As != "" {
				known[s.As] = true
			}
		}
	}
}

// slots reports expressions of a step that cannot be evaluated, and arguments that they read
// and nothing declares.
func (c *inspection) slots(s *manifest.ExecutionStep, at string, known map[string]bool) {
	template, errs := expr.CheckTemplate(c.maps.Engine, s.Raw)
	for _, err := range errs {
		c.fail(at+expr.Pointer(err), fault.CodeOf(err), "%s", fault.From(err).Message)
	}
	if template == nil {
		return
	}
	for _, r := range template.Reads() {
		if r.Object == "input" && known != nil && !known[r.Name] {
			c.fail(
				at+r.Pointer, fault.UnknownReference,
				"the expression reads input.%s, and input_schema declares no such argument%s", r.Name,
				suggestion(r.Name, known),
			)
		}
	}
}

// workflow reports what the expressions of a workflow read and nothing declares.
func (c *inspection) workflow(t *manifest.Tool, at string) {
	program, _ := workflow.Compile(t.Workflow, workflow.CompileOptions{Engine: c.maps.Engine})
	if program == nil {
		return // reported when the map was read
	}
	steps := map[string]bool{}
	for _, id := range program.StepIDs() {
		steps[id] = true
	}
	input := declaredInput(t)
	for _, r := range program.Reads() {
		pointer := at + "/workflow" + r.Pointer
		switch {
		case r.Object == "steps" && !steps[r.Name]:
			c.fail(
				pointer, fault.UnknownReference, "the expression reads steps.%s, and no step has that id%s",
				r.Name, suggestion(r.Name, steps),
			)
		case r.Object == "input" && input != nil && !input[r.Name]:
			c.fail(
				pointer, fault.UnknownReference,
				"the expression reads input.%s, and input_schema declares no such argument%s",
				r.Name, suggestion(r.Name, input),
			)
		}
	}
}

func suggestion(name string, known map[string]bool) string {
	if near := fault.Nearest(name, slices.Sorted(maps.Keys(known))); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// declaredInput is the set of arguments that a tool can be given, nil where its schema
// lists none or leaves room for others.
func declaredInput(t *manifest.Tool) map[string]bool {
	var schema map[string]json.RawMessage
	var properties, binding map[string]json.RawMessage
	if json.Unmarshal(t.InputSchema, &schema) != nil || json.Unmarshal(schema["properties"], &properties) != nil {
		return nil
	}
	for keyword, value := range schema {
		switch keyword {
		case "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "patternProperties",
			"dependentSchemas", "unevaluatedProperties", "propertyNames":
			return nil
		case "additionalProperties":
			if string(value) != "false" {
				return nil
			}
		}
	}
	out := map[string]bool{}
	_ = json.Unmarshal(t.XActions.Binding.Arguments, &binding) // an object, or not declared
	for _, of := range []map[string]json.RawMessage{properties, binding} {
		for name := range of {
			out[name] = true
		}
	}
	return out
}

// foreign are the members whose content is not the map's own: schemas, and what is
// handed on as it is. What begins with x_ is somebody's extension.
var foreign = []string{
	"input_schema", "result_schema", "output_schema", "payload_schema", "static_output",
	"value", "source", "fields", "composition", "extensions", "provenance",
}

// selectors reports the selectors below a value that no browser reads. One with an
// expression is known when it runs.
func (c *inspection) selectors(value any, at string) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below := at + "/" + expr.EscapePointer(name)
			switch {
			case slices.Contains(foreign, name), strings.HasPrefix(name, "x_") && name != "x_actions":
			case name == "args" && strings.HasSuffix(at, "/args"): // of a function of the page
			case name == "selector", name == "selectors", name == "fallback_selectors", name == "item_selector":
				c.selector(v[name], below)
			default:
				c.selectors(v[name], below)
			}
		}
	case []any:
		for i, e := range v {
			c.selectors(e, at+"/"+strconv.Itoa(i))
		}
	}
}

func (c *inspection) selector(value any, at string) {
	switch v := value.(type) {
	case string:
		if _, open, err := expr.Slot(v); open || err != nil || strings.TrimSpace(v) == "" {
			return
		}
		if err := selector.Check(v); err != nil {
			c.fail(at, fault.InvalidSelectorField, "%q is no CSS selector: %s", fault.Clip(v, 80), err)
		}
	case []any:
		for i, e := range v {
			if text, ok := e.(string); ok {
				c.selector(text, at+"/"+strconv.Itoa(i))
			}
		}
	}
}

// collides returns the maps that offer a tool by the same name, in the same scope and
// on the same pages. Maps that import others say themselves which wins, and files of
// two sites are hardly meant for one run.
func (c *inspection) collides(t *manifest.Tool) []*sites.Map {
	var out []*sites.Map
	own := c.in.Manifest
	for _, o := range c.lib.Maps() {
		other := o.Manifest
		at := o.Location
		if at.Scope != c.in.Location.Scope || at.Audience != c.in.Location.Audience || at.Host != c.in.Location.Host {
			continue
		}
		if o == c.in || other.Surface.Origin != own.Surface.Origin ||
			!slices.Equal(other.Surface.URLPatterns, own.Surface.URLPatterns) ||
			len(own.Imports)+len(other.Imports) > 0 {
			continue
		}
		if slices.ContainsFunc(other.Tools, func(u manifest.Tool) bool {
			return u.Name == t.Name && u.AgentCallable() && t.AgentCallable() &&
				u.XActions.Binding.TargetURLContains == t.XActions.Binding.TargetURLContains
		}) {
			out = append(out, o)
		}
	}
	return out
}
