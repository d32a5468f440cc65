package runtime

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/outrider-run/outrider/primitives/effect"
	"github.com/outrider-run/outrider/primitives/fault"
)

// What became of a call.
const (
	confirmed    = "confirmed"    // it was done, and what it promises holds
	contradicted = "contradicted" // it was sent, and the page or the server refused it
	noEffect     = "no_effect"    // nothing followed, or it was never sent
	unknown      = "unknown"
)

// badness orders what became of calls.
var badness = []string{"", noEffect, confirmed, contradicted, unknown}

// worse reports whether an outcome says less good of a call than another. Of several calls of which one did something
// and another had no effect, something was done.
func worse(a, b string) bool { return slices.Index(badness, a) > slices.Index(badness, b) }

// judgement is what became of a call, and by what that is known.
type judgement struct {
	outcome, reason string
	effects         json.RawMessage
}

// judge says what became of a call by its reply.
func judge(r Reply) judgement {
	out := judgement{effects: effectsIn(r)}
	var seen *effect.Report
	if len(out.effects) > 0 && json.Unmarshal(out.effects, &seen) != nil {
		seen = nil
	}
	out.outcome, out.reason = judged(r, seen)
	return out
}

func judged(r Reply, seen *effect.Report) (outcome, reason string) {
	if why := refusedBy(seen); why != "" {
		return contradicted, why
	}
	if r.Err == nil {
		switch {
		case seen == nil:
			return confirmed, "it was done"
		case seen.Observed:
			return confirmed, "it was done, and followed by: " + seen.Summary
		case len(seen.Unseen) > 0:
			return unknown, "it was done, and what followed was not seen: " + seen.Unseen[0]
		}
		return noEffect, fmt.Sprintf("nothing followed within %d ms", seen.WindowMS)
	}
	sent, _ := r.Err.Evidence["input_sent"].(bool)
	switch {
	case r.Err.Code == fault.StatePostconditionFailed:
		return contradicted, "it was done, and its postcondition does not hold"
	case !r.Started:
		return noEffect, "it did not begin"
	case sent:
		return unknown, "the input was sent, and the call ended with " + string(r.Err.Code)
	case seen != nil && seen.Observed:
		return unknown, "it was followed by: " + seen.Summary + "; the call ended with " + string(r.Err.Code)
	case seen != nil && len(seen.Unseen) == 0:
		return noEffect, fmt.Sprintf("nothing followed; the call ended with %s", r.Err.Code)
	case neverSent(r.Err.Code) && !stepsRan(r.Steps):
		return noEffect, "it was not sent: " + string(r.Err.Code)
	}
	return unknown, "the call ended with " + string(r.Err.Code)
}

// refusedBy says which of the requests or fields that followed was refused, "" for none.
func refusedBy(seen *effect.Report) string {
	if seen == nil {
		return ""
	}
	if len(seen.Invalid) > 0 {
		return "the form was not sent: " + seen.Invalid[0].Message
	}
	if seen.Requests == nil {
		return ""
	}
	for _, q := range seen.Requests.First {
		switch seen.OutcomeOf(q) {
		case effect.BadStatus:
			return fmt.Sprintf("a request was answered with %d", q.Status)
		case effect.Failed:
			return "a request failed: " + q.Error
		}
	}
	return ""
}

// effectsIn is the report of effects in a reply, nil without one.
func effectsIn(r Reply) json.RawMessage {
	if r.Err != nil {
		raw, _ := r.Err.Fields["effects"].(json.RawMessage)
		return raw
	}
	var in struct {
		Effects json.RawMessage `json:"effects"`
	}
	_ = json.Unmarshal(r.Output, &in) // another kind of output has none
	return in.Effects
}

// neverSent are the codes of calls that end before anything is sent to the page.
func neverSent(code fault.Code) bool {
	switch code {
	case fault.InvalidInput, fault.UnknownAction, fault.TargetNotFound, fault.MultipleTargets, fault.InvalidSelector,
		fault.TargetNotActionable, fault.TargetObscured, fault.TargetNotFocusable, fault.TargetNotEditable,
		fault.ElementStale, fault.FrameNotFound, fault.FrameCrossOrigin, fault.MissingCoordinates,
		fault.PointOutOfViewport, fault.InvalidKey, fault.NoDialog, fault.PermissionDenied,
		fault.CapabilityUnavailable, fault.StateMismatch, fault.DriftDetected, fault.UnsafeState, fault.QueueFull,
		fault.RuntimeNotReady, fault.RuntimeNotFound, fault.AmbiguousRuntime, fault.SiteActionAmbiguous:
		return true
	}
	return false
}

// stepsRan reports whether a step of a workflow was done.
func stepsRan(steps json.RawMessage) bool {
	var list []struct {
		OK      bool `json:"ok"`
		Skipped bool `json:"skipped"`
	}
	if len(steps) == 0 || json.Unmarshal(steps, &list) != nil {
		return false
	}
	for _, s := range list {
		if s.OK && !s.Skipped {
			return true
		}
	}
	return false
}
