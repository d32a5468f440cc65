package siteaction

import (
	"context"
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/checks"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/sites"
	"github.com/outrider-run/outrider/sites/manifest"
)

// Setup does the steps of a check's setup as those of a tool are done, under
// the same policy, pacing and deadline. They get no arguments.
func (a *Actions) Setup(
	ctx context.Context, caller Caller, o *mapset.Offer, m *sites.Map, k *manifest.Check,
) (checks.Setup, *fault.Error) {
	out := checks.Setup{ByHand: k.SetupRest}
	tool := &manifest.Tool{Name: k.ID, Target: k.Target, XActions: manifest.XActions{
		Direction: manifest.AgentToHTML, Execution: &manifest.Execution{Mode: stepsOnly, Steps: k.SetupSteps},
	}}
	if tool.Target == nil && k.TargetOf != "" {
		_, tool.Target = o.Library.Target(m, k.TargetOf)
	}
	match := &sites.Match{Name: k.ID, Map: m, Tool: tool, Via: m}
	plan, err := planExecution(a.Maps, o.Library, match)
	if err == nil {
		err = a.unmet(o, match, plan.uses())
	}
	if err != nil {
		return out, err
	}
	whole, end := observe.Answerable(a.Within(ctx, m, m, a.Status().URL))
	defer end()
	v := invoker{Caller: caller, from: m} // a check has access to no more of the storage than its map
	r := &executionRun{
		ctx:   whole,
		a:     a,
		lib:   o.Library,
		match: match,
		v:     v,
		raw:   json.RawMessage("{}"),
	}
	reply := r.bySteps(plan)
	out.Steps, out.Done = reply.Steps, reply.Err == nil && len(k.SetupRest) == 0
	return out, reply.Err
}
