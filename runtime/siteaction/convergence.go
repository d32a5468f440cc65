package siteaction

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/projection/expr"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
	"github.com/outrider-run/outrider/workflow"
)

// goal is when a repeated transition is complete: its convergence.
//
// complete_when is one of, in this order: a {% ... %} expression over value,
// values, attempts, states, url and input; the name of a state, complete when
// it is current; the id of a check, complete when it passes; no_new_NAME,
// complete when an attempt brings nothing under NAME that was not there before;
// no_change, complete when an attempt gives what the one before gave. Anything
// else is for people: then the transition runs once.
type goal struct {
	lib   *sites.Library
	m     *sites.Map
	most  int
	when  *expr.Template
	state string
	check *manifest.Check
	in    *sites.Map // declares the check
	fresh string     // NAME of no_new_NAME
	same  bool       // no_change
	input json.RawMessage
}

// goalOf reads the convergence of a transition, nil when it has none.
func (a *Actions) goalOf(
	lib *sites.Library, m *sites.Map, tr *manifest.Transition, input json.RawMessage,
) (*goal, *fault.Error) {
	c := tr.Convergence
	if c == nil {
		return nil, nil
	}
	g := &goal{lib: lib, m: m, most: workflow.MaxAttempts, input: input}
	if c.MaxAttempts != nil {
		g.most = min(*c.MaxAttempts, workflow.MaxAttempts)
	} else if c.CompleteWhen == "" {
		g.most = 1
	}
	text := strings.TrimSpace(c.CompleteWhen)
	in, check := lib.Check(m, text)
	switch {
	case strings.HasPrefix(text, "{%"):
		raw, err := json.Marshal(text)
		if err != nil {
			return nil, fault.From(err)
		}
		t, errs := expr.CheckTemplate(a.Maps.Engine, raw)
		if len(errs) > 0 {
			return nil, fault.Wrap(fault.InvalidExpression, errs[0], "reading complete_when of %s", tr.Name)
		}
		g.when = t
	case verify.IsState(lib, m, text):
		g.state = text
	case check != nil:
		g.check, g.in = check, in
	case text == "no_change" || text == "unchanged":
		g.same = true
	case strings.HasPrefix(text, "no_new_") && len(text) > len("no_new_"):
		g.fresh = strings.TrimPrefix(text, "no_new_")
	case text == "" && g.most > 1: // the bound alone: as often as it allows, or until nothing changes
		g.same = true
	}
	return g, nil
}

// before reports whether the goal is met without any attempt: only what the page
// itself shows can be.
func (g *goal) before(ctx context.Context, a *Actions) bool {
	return (g.state != "" || g.check != nil) && g.onPage(ctx, a) == verify.Yes
}

// after reports whether the goal is met, given the values of the attempts.
func (g *goal) after(ctx context.Context, a *Actions, values []json.RawMessage) verify.Verdict {
	last := values[len(values)-1]
	switch {
	case g.when != nil:
		return g.expression(ctx, a, values)
	case g.state != "" || g.check != nil:
		v := g.onPage(ctx, a)
		return v
	case g.fresh != "":
		return g.nothingNew(values)
	case g.same:
		if len(values) > 1 && sameJSON(values[len(values)-2], last) {
			return verify.Yes
		}
		return verify.No
	}
	return verify.Unknown
}

func (g *goal) onPage(ctx context.Context, a *Actions) verify.Verdict {
	page, err := a.LivePage(ctx)
	if err != nil {
		return verify.Unknown
	}
	s := verify.Batch{Library: g.lib, Attached: a.Attachments.State}
	g.want(&s)
	if s.Evaluate(ctx, page) != nil {
		return verify.No // it is changing: another attempt may show more
	}
	return g.judge(&s)
}

func (g *goal) want(s *verify.Batch) {
	s.AddState(g.m, g.state)
	if g.check != nil {
		s.AddCheck(g.in, g.check)
	}
}

// judge reports whether the page shows the goal.
func (g *goal) judge(s *verify.Batch) verify.Verdict {
	if g.check != nil {
		switch s.Check(g.in, g.check).Status {
		case checks.Passed, checks.Drifted:
			return verify.Yes
		case checks.Failed:
			return verify.No
		}
		return verify.Unknown
	}
	return s.Diagnose(g.m, g.state).Verdict
}

// arriving reports whether the goal is met once a page that has left the state from
// comes to rest: between two states it shows neither, and another attempt would
// click what is about to be detached, or is.
func (g *goal) arriving(ctx context.Context, a *Actions, from string) verify.Verdict {
	if g.state == "" && g.check == nil || !verify.IsState(g.lib, g.m, from) {
		return verify.No
	}
	whole, end := observe.Answerable(ctx)
	defer end()
	bounded, cancel := context.WithTimeout(whole, transitionTime)
	defer cancel()
	met := verify.No
	_, _ = observe.Until(whole, bounded, a, func(ctx context.Context, page primitives.Page) (bool, error) {
		s := verify.Batch{Library: g.lib, Attached: a.Attachments.State}
		g.want(&s)
		s.AddState(g.m, from)
		if err := s.Evaluate(ctx, page); err != nil {
			return false, err
		}
		met = g.judge(&s)
		return met == verify.Yes || s.Diagnose(g.m, from).Verdict != verify.No, nil
	})
	return met
}

// nothingNew compares what the last attempt gave under a name with all before.
// A name that no attempt gives cannot be judged.
func (g *goal) nothingNew(values []json.RawMessage) verify.Verdict {
	seen := map[string]bool{}
	for i, v := range values {
		list, ok := listUnder(v, g.fresh)
		if !ok {
			return verify.Unknown
		}
		fresh := false
		for _, e := range list {
			key := canonical(e)
			fresh = fresh || !seen[key]
			seen[key] = true
		}
		if i == len(values)-1 && !fresh {
			return verify.Yes
		}
	}
	return verify.No
}

// listUnder finds a list by its name at the top of a value, or one level below;
// the value itself when it is a list.
func listUnder(v json.RawMessage, name string) ([]json.RawMessage, bool) {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil && list != nil {
		return list, true
	}
	var o map[string]json.RawMessage
	if json.Unmarshal(v, &o) != nil {
		return nil, false
	}
	if m, ok := o[name]; ok {
		if json.Unmarshal(m, &list) == nil && list != nil {
			return list, true
		}
		return []json.RawMessage{m}, true // one value: a count, the last of a list
	}
	for _, m := range o {
		var inner map[string]json.RawMessage
		if json.Unmarshal(m, &inner) == nil && inner[name] != nil && json.Unmarshal(inner[name], &list) == nil &&
			list != nil {
			return list, true
		}
	}
	return nil, false
}

func canonical(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}

func sameJSON(a, b json.RawMessage) bool { return canonical(a) == canonical(b) }

// expression evaluates complete_when over what is known.
func (g *goal) expression(ctx context.Context, a *Actions, values []json.RawMessage) verify.Verdict {
	page, err := a.LivePage(ctx)
	if err != nil {
		return verify.Unknown
	}
	var current []string
	if seen, err := verify.DiagnoseStates(ctx, page, g.lib, verify.StatesOf(g.lib, g.m)); err == nil {
		current = seen.Current()
	}
	in := expr.Input{
		{Name: "value", JSON: values[len(values)-1]},
		{Name: "values", JSON: call.JSON(values)},
		{Name: "attempts", JSON: json.RawMessage(strconv.Itoa(len(values)))},
		{Name: "states", JSON: call.JSON(append([]string{}, current...))},
		{Name: "url", JSON: call.JSON(page.Tab().URL)},
		{Name: "input", JSON: g.input},
	}
	v, undefined, err := g.when.Eval(ctx, in, expr.Limits{})
	if err != nil {
		return verify.Unknown
	}
	if expr.Truthy(expr.Value{JSON: v, Undefined: undefined}) {
		return verify.Yes
	}
	return verify.No
}
