package provider

import (
	"encoding/json"
	"fmt"

	"github.com/outrider-run/outrider/primitives/fault"
)

// wire maps codes of the runtime to codes of the protocol.
type wire struct {
	code      Code
	retryable bool
}

// wires maps the codes of the runtime to the 14 of the draft. The runtime's own
// code is always in details.code. What is not listed is internal_error, which
// is retryable where a fresh probe can help.
var wires = map[fault.Code]wire{
	fault.UnknownAction:         {UnsupportedMethod, false},
	fault.CapabilityUnavailable: {UnsupportedTarget, false},
	fault.MissingHandler:        {UnsupportedTarget, false},
	fault.FrameCrossOrigin:      {UnsupportedTarget, false},
	fault.InvalidInput:          {InvalidRequest, false},
	fault.InvalidArguments:      {InvalidRequest, false},
	fault.InvalidKey:            {InvalidRequest, false},
	fault.MissingCoordinates:    {InvalidRequest, false},
	fault.PointOutOfViewport:    {InvalidRequest, false},
	fault.InvalidInterval:       {InvalidRequest, false},
	fault.UnsafePath:            {InvalidRequest, false},
	fault.InvalidSelector:       {InvalidSelector, false},

	fault.TargetNotFound:  {ElementNotFound, false},
	fault.FrameNotFound:   {ElementNotFound, false},
	fault.ElementStale:    {ElementNotFound, false},
	fault.MultipleTargets: {ElementNotFound, false}, // no single element: details.code says so

	fault.TargetNotActionable: {ElementNotActionable, true},
	fault.TargetObscured:      {ElementNotActionable, true},
	fault.TargetNotFocusable:  {ElementNotActionable, true},
	fault.TargetNotEditable:   {ElementNotActionable, true},
	fault.TargetNotScrollable: {ElementNotActionable, false},
	fault.ScrollFailed:        {ElementNotActionable, true},

	fault.RuntimeNotReady:  {NotReady, true},
	fault.DialogOpen:       {NotReady, true},
	fault.QueueFull:        {NotReady, true},
	fault.PageUnresponsive: {NotReady, true},
	fault.PageNavigated:    {NotReady, true},

	fault.BrowserNotFound: {SetupRequired, false},
	fault.BrowserFailed:   {BrowserNotRunning, true},
	fault.BrowserLost:     {BrowserNotRunning, true},
	fault.SessionLost:     {BrowserNotRunning, true},

	fault.PermissionDenied: {PermissionDenied, false},
	fault.OriginBlocked:    {PermissionDenied, false},

	fault.TabClosed:       {PageNotFound, false},
	fault.RuntimeNotFound: {PageNotFound, false},
	fault.TabCrashed:      {InternalError, true},
}

// failureOf puts an error of the runtime into the words of the protocol.
func failureOf(err *fault.Error) *Failure {
	spec, _ := fault.Lookup(err.Code)
	w, ok := wires[err.Code]
	if !ok {
		w = wire{InternalError, spec.Retry != fault.RetryNever}
	}
	f := &Failure{
		Code:      w.code,
		Message:   err.Message,
		Retryable: w.retryable,
		Details:   map[string]any{"code": string(err.Code)},
	}
	if err.Code == fault.ElementStale {
		f.Details["reason"] = "stale"
		if err.Evidence["reason"] == "unknown" { // no element ever had this ref
			f.Details["reason"] = "unknown"
		}
	}
	if err.Evidence["error_text"] == "net::ERR_UNSAFE_PORT" { // the browser never connects to it
		f.Retryable = false
	}
	if len(err.Evidence) > 0 {
		var encoded struct {
			Evidence json.RawMessage `json:"evidence"` // bounded when encoded
		}
		if raw, e := json.Marshal(err); e == nil && json.Unmarshal(raw, &encoded) == nil && encoded.Evidence != nil {
			f.Details["evidence"] = encoded.Evidence
		}
	}
	if err.NextStep != "" {
		f.Details["next_step"] = err.NextStep
	}
	if err.Code == fault.DialogOpen {
		f.Details["next_step"] = "answer it with dialog.answer"
	}
	return f
}

func newFailure(code Code, format string, args ...any) *Failure {
	return &Failure{Code: code, Message: fmt.Sprintf(format, args...), Details: map[string]any{}}
}

// with adds one detail.
func (f *Failure) with(key string, value any) *Failure {
	f.Details[key] = value
	return f
}

// invalidRequest refuses a request; pointer says which member is wrong.
func invalidRequest(pointer, format string, args ...any) *Failure {
	f := newFailure(InvalidRequest, format, args...)
	if pointer != "" {
		f.Details["path"] = pointer
	}
	return f
}
