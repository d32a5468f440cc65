package tools

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/internal/idempotency"
	"github.com/outrider-run/outrider/primitives/fault"
)

// stepsProperty is the schema of several steps in one call.
const stepsProperty = `"steps":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"object","properties":{` +
	`"act":{"type":"object"},"wait":{"type":"object"},"snapshot":{"type":"object"},"read":{"type":"object"},` +
	`"navigate":{"type":"string"}},"additionalProperties":false},` +
	`"description":"several in one call: {act:{action,ref}}, {wait:{text}}; stops at a failure"}`

// step is one of several in one call. One member is set: the arguments of the tool of its name, or an address.
type step struct {
	Act      json.RawMessage `json:"act"`
	Wait     json.RawMessage `json:"wait"`
	Snapshot json.RawMessage `json:"snapshot"`
	Read     json.RawMessage `json:"read"`
	Navigate *string         `json:"navigate"`
}

// preparedStep is a step whose arguments are checked.
type preparedStep struct {
	name string
	tool *Tool
	call *Call
}

// stepTools are the tools of steps.
func (s *Set) stepTools() (map[string]*Tool, error) {
	out := map[string]*Tool{}
	for _, t := range []Tool{s.actTool(), s.waitTool(), s.snapshotTool(), s.readTool(), s.tabsTool()} {
		if err := t.Compile(); err != nil {
			return nil, err
		}
		out[t.Name] = &t
	}
	return out, nil
}

// runSteps does several things on one page. Nothing is done unless all of them can be read. It stops at the first that
// fails, and says which that was.
func (c *Call) runSteps(ctx context.Context, in actIn) (*Answer, *fault.Error) {
	var given map[string]json.RawMessage
	if err := c.Decode(&given); err != nil {
		return nil, err
	}
	for name := range given {
		if !slices.Contains([]string{"steps", "page", "session", "timeout_ms"}, name) {
			return nil, invalid(name, "with steps, %s stands in a step", name)
		}
	}
	if in.TimeoutMS <= 0 {
		in.TimeoutMS = int(c.set.opts.CallTimeout.Milliseconds())
	}
	ctx, cancel := in.bounded(ctx)
	defer cancel()
	tools, e := c.set.steps()
	if e != nil {
		return nil, fault.Wrap(fault.Internal, e, "reading the schemas of steps")
	}
	return c.on(ctx, in.where, func(p page) (*Answer, *fault.Error) {
		steps := make([]preparedStep, len(in.Steps))
		for i, one := range in.Steps {
			var err *fault.Error
			steps[i], err = c.prepareStep(tools, one, p)
			if err != nil {
				return nil, err.With("step", i).With("done", []string{})
			}
		}
		return c.doSteps(ctx, p, steps)
	})
}

// prepareStep checks the arguments of a step, which is about the page of the call.
func (c *Call) prepareStep(tools map[string]*Tool, one step, p page) (preparedStep, *fault.Error) {
	name := ""
	args := json.RawMessage(nil)
	for member, given := range map[string]json.RawMessage{
		"act": one.Act, "wait": one.Wait, "snapshot": one.Snapshot, "read": one.Read,
	} {
		if given != nil {
			name += " " + member
			args = given
		}
	}
	if one.Navigate != nil {
		name += " navigate"
		args, _ = json.Marshal(map[string]string{"action": "navigate", "url": *one.Navigate})
	}
	name = strings.TrimSpace(name)
	t := tools[strings.Replace(name, "navigate", "tabs", 1)]
	if t == nil {
		return preparedStep{}, invalid("steps", "a step is one of act, wait, snapshot, read and navigate")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(args, &members); err != nil {
		return preparedStep{}, fault.Wrap(fault.InvalidInput, err, "reading a step")
	}
	if members == nil {
		return preparedStep{}, invalid("steps", "the arguments of %s are null", name)
	}
	for _, of := range []string{"page", "session", "steps"} {
		if members[of] != nil {
			return preparedStep{}, invalid("steps", "a step has no %s: all are about the page of the call", of)
		}
	}
	members["page"], _ = json.Marshal(p.handle())
	args, err := json.Marshal(members)
	if err != nil {
		return preparedStep{}, fault.Wrap(fault.InvalidInput, err, "reading a step")
	}
	sub := &Call{
		Args:     args,
		Progress: c.Progress,
		Turn:     c.Turn,
		Client:   c.Client,
		set:      c.set,
		reads:    t.Reads,
		step:     true,
		began:    c.began,
	}
	if failed := sub.check(t); failed != nil {
		return preparedStep{}, failed
	}
	return preparedStep{name, t, sub}, nil
}

// doSteps runs steps, and answers a line for each. What a snapshot or a read shows stands below its line.
func (c *Call) doSteps(ctx context.Context, p page, steps []preparedStep) (*Answer, *fault.Error) {
	lines := []string{}
	results := []any{}
	result := inBrief(map[string]any{"page": p.handle(), "url": p.tab.URL})
	for i, one := range steps {
		one.call.Key = idempotency.Part(c.Key, i)
		one.call.next = i+1 < len(steps) && steps[i+1].name == "act"
		out, err := one.tool.Do(ctx, one.call)
		c.started = c.started || one.call.started
		c.Announced = append(c.Announced, one.call.Announced...)
		c.Said = append(c.Said, one.call.Said...)
		if err != nil {
			c.later = append(c.later, one.call.later...)
			return nil, err.With("step", i).With("done", lines)
		}
		if len(one.call.later) > 0 {
			out.arrived(one.call.later)
		}
		if address, ok := out.Result["url"]; ok {
			result["url"] = address
		}
		if i > 0 && steps[i-1].name == "navigate" && headedBy(out) {
			lines[i-1] = fmt.Sprintf("%d navigate: %s", i-1, besideHeading(results[i-1]))
		}
		lines = append(lines, fmt.Sprintf("%d %s: %s", i, one.name, stepLine(one.tool, out)))
		delete(out.Result, "page")
		results = append(results, out.Result)
	}
	result["steps"] = results
	return &Answer{Result: result, Text: strings.Join(lines, "\n")}, nil
}

// stepLine is the answer of a step: on one line, but for what shows a page.
func stepLine(t *Tool, out *Answer) string {
	if t.Name == "snapshot" || t.Name == "read" {
		return out.Shown()
	}
	return strings.ReplaceAll(out.Shown(), "\n", "; ")
}

// headedBy reports whether the text of an answer has the page, its address and its title above it.
func headedBy(out *Answer) bool {
	heads := strings.Contains(out.Text, "data, not instructions")
	return heads && out.Result["url"] != nil && out.Result["title"] != nil
}

// besideHeading is what a navigation tells beside what stands above the text after it.
func besideHeading(result any) string {
	members, _ := result.(map[string]any)
	rest := maps.Clone(members)
	for _, member := range headed {
		delete(rest, member)
	}
	encoded, err := json.Marshal(rest)
	if err != nil || len(rest) == 0 {
		return "done"
	}
	return string(encoded)
}
