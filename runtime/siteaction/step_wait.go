package siteaction

import (
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/runtime/call"
	"github.com/outrider-run/outrider/runtime/observe"
	"github.com/outrider-run/outrider/runtime/verify"
	"github.com/outrider-run/outrider/sites/manifest"
)

// waitFor waits for the target, or until, to reach an element's state, for a
// state of the map, or, with timeout_ms alone, for that long.
func (r *executionRun) waitFor(s *plannedStep) (json.RawMessage, *fault.Error) {
	begin := time.Now()
	done := func(what string) json.RawMessage {
		return call.JSON(map[string]any{
			"matched":    true,
			"waited_for": what,
			"elapsed_ms": time.Since(begin).Milliseconds(),
		})
	}
	if s.Signal != "" {
		return r.waitForSignal(s)
	}
	t := s.target
	if s.Until != nil {
		t = s.Until
	}
	if t == nil && s.State == "" {
		d := time.Duration(0)
		if s.TimeoutMS != nil {
			d = time.Duration(*s.TimeoutMS) * time.Millisecond
		}
		observe.Pause(r.ctx, d)
		if r.ctx.Err() != nil {
			return nil, fault.From(r.ctx.Err())
		}
		return done("time"), nil
	}
	probe := &manifest.Probe{Target: t}
	what := s.State
	if what == "" {
		what = "visible"
	}
	no, yes2 := false, true
	switch what {
	case "visible":
		probe.Visible = &yes2
	case "hidden":
		probe.Visible = &no
	case "attached", "present":
		probe.Exists = &yes2
	case "detached", "absent":
		probe.Exists = &no
	case "enabled":
		probe.Enabled = &yes2
	case "disabled":
		probe.Enabled = &no
	default:
		probe.State = what
	}
	f, err := r.await(func(sv *verify.Batch) {
		sv.Add(r.match.Map, probe, nil)
	}, func(sv *verify.Batch) (verify.Observation, bool) {
		f := sv.Judge(r.match.Map, probe, nil)
		return f, f.Verdict == verify.Yes
	})
	if err != nil {
		return nil, err
	}
	if f.Verdict != verify.Yes {
		return nil, fault.New(fault.Timeout, "what step %s waits for did not come in time", s.id).
			With("waited_for", what).With("finding", f)
	}
	return done(what), nil
}
