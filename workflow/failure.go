package workflow

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/primitives/quirks"
)

// failure is why a step failed.
type failure struct {
	code        fault.Code
	message     string
	said        string // by $error or $assert of an expression
	recoverable bool
	json        json.RawMessage // the error as cause
	err         error
}

func failureOf(cause error) *failure {
	e := fault.From(cause)
	f := &failure{code: e.Code, message: e.Message, err: e}
	f.said, _ = e.Evidence["said"].(string)
	text, err := json.Marshal(e)
	if err != nil {
		text = []byte(`{"code":"internal","message":"encoding the error"}`)
	}
	f.json = text
	spec, _ := fault.Lookup(e.Code)
	f.recoverable = spec.Recoverable
	if e.Recoverable != nil {
		f.recoverable = *e.Recoverable
	}
	return f
}

// exhausted is the failure of a retry loop whose condition never held.
func exhausted(s *step, last *failure) *failure {
	e := fault.New(fault.WorkflowRetryExhausted, "retry_until was not true after %d attempts", s.maxAttempts).
		Field("step_id", s.id).
		Field("cause", causeJSON(last))
	return failureOf(e)
}

// settleTimeout is the failure of a plain step whose settle_after was not met
// when that is fatal.
func settleTimeout(s *step, how *Settle) *failure {
	return failureOf(fault.New(fault.WorkflowSettleTimeout, "the page did not settle after the step").
		Field("step_id", s.id).
		Field("cause", how))
}

func causeJSON(f *failure) json.RawMessage {
	if f == nil {
		return jsonNull
	}
	return f.json
}

// stepFailed is the error of a workflow that a step ended. It carries advice
// on how to go on, which depends on names and texts and is no more than that.
func (r *run) stepFailed(s *step, cause *failure) *fault.Error {
	code := fault.WorkflowStepFailed
	if strings.HasPrefix(string(cause.code), "workflow_retry_") {
		code = cause.code
	}
	c := classify(s, cause)
	if cause.code == fault.InvalidInput && !r.opts.Quirks.Has(quirks.RetryableByClass) {
		c.retryable = false
		c.recovery = "correct the arguments: those of the call that the step computes its own from, or those that " +
			"the map gives it; then call again"
	}
	if r.opts.Quirks.Has(quirks.RetryableByClass) && c.class == classOther &&
		slices.Contains(ofExpressions, cause.code) {
		c.retryable, c.recoverable = false, false
	}
	e := fault.New(code, "step %s (%s) failed: %s", s.id, s.primitive, cause.message).
		Field("step_id", s.id).
		Field("primitive", s.primitive).
		Field("cause", cause.json).
		Field("failure_class", c.class).
		Field("failed_state", c.state).
		Field("retryable", c.retryable).
		Field("safe_recovery", c.recovery)
	e.Recoverable = &c.recoverable
	e.Err = cause.err
	return e
}

// classOther is the class of what is of no other.
const classOther = "target_not_found"

// ofExpressions are the causes of that class that the extension does not retry.
var ofExpressions = []fault.Code{
	fault.PartialExpressionUnsupported, fault.DisallowedExpressionFunction, fault.InvalidExpression,
	fault.ExpressionEvaluationFailed, fault.ExpressionOutputTooLarge,
}

type classification struct {
	class, state           string
	retryable, recoverable bool
	recovery               string
}

// classify applies the first rule that matches. The rules are those of the
// reference, which has no class for arguments that are refused: whatever is of
// no other class is target_not_found.
func classify(s *step, cause *failure) classification {
	text := strings.ToLower(string(cause.code) + " " + cause.message + " " + cause.said)
	id := strings.ToLower(s.id)
	contains := func(text string, words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case contains(text, "overlay", "occlud", "intercept"):
		return classification{"overlay_interference", "mutation", true, true,
			"hide the overlay, return to a known state, then retry"}
	case cause.code == "postcondition_failed" || contains(id, "postcondition"):
		return classification{"postcondition_failed", "postcondition", false, true,
			"read the state projection before retrying: the change may have been made"}
	case strings.HasPrefix(string(cause.code), "workflow_retry_") || strings.HasPrefix(s.primitive, "locator.") ||
		contains(id, "find", "verify", "ready", "badge", "button", "control"):
		return classification{"control_not_ready", "readiness", true, true,
			"retry from the nearest step whose effect was verified"}
	}
	return classification{classOther, "precondition", cause.recoverable, cause.recoverable,
		"return to the base state of the page and verify which object it shows, then retry"}
}
