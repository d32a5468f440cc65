package siteaction

import (
	"context"

	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/mapset"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites"
)

// failuresOfTargets are codes of a failed action that drift can explain.
func failuresOfTargets(err *fault.Error) bool {
	switch err.Code {
	case fault.TargetNotFound, fault.TargetNotActionable, fault.WorkflowStepFailed, fault.WorkflowRetryExhausted,
		fault.StateMismatch,
		fault.StatePostconditionFailed, fault.MissingHandler, fault.Timeout:
		return true
	}
	return false
}

// withChecks adds to the error of a failed action what the map's checks about it
// find now, so that drift is distinguished from bad luck.
func (a *Actions) withChecks(ctx context.Context, o *mapset.Offer, match *sites.Match, err *fault.Error) *fault.Error {
	about := o.Library.ChecksAbout(match)
	if !failuresOfTargets(err) || ctx.Err() != nil {
		return err
	}
	bounded, cancel := observe.Answerable(ctx)
	defer cancel()
	page, e := a.LivePage(bounded)
	if e != nil {
		return err
	}
	err = primitives.WithHTTPStatus(bounded, page, err)
	if len(about) == 0 {
		return err
	}
	s := verify.Batch{Library: o.Library, Attached: a.Attachments.State, Explain: true}
	for _, k := range about {
		s.AddCheck(k.Source.Map, k.Entry)
	}
	if s.Evaluate(bounded, page) != nil {
		return err
	}
	var found []map[string]any
	next := ""
	for _, k := range about {
		r := s.Check(k.Source.Map, k.Entry).Named(k.Name)
		if r.Error == nil {
			continue
		}
		row := map[string]any{"check_id": r.ID, "status": r.Status, "severity": r.Severity, "code": r.Error.Code}
		if r.Contingency != "" {
			row["contingency"] = r.Contingency
			next = "the map asks for: " + fault.Clip(r.Contingency, 200)
		}
		if len(r.Drift) > 0 {
			row["drift"] = r.Drift
		}
		found = append(found, row)
	}
	if len(found) == 0 {
		return err
	}
	out := *err
	out.Field("drift_detected", found)
	if out.NextStep == "" && next != "" {
		out.Next(next)
	}
	return &out
}
