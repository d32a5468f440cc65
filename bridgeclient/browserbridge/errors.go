package browserbridge

import (
	"github.com/outrider-run/outrider/primitives/fault"
)

// Codes of the protocol ("Errors"). None invites sending the same request again.
const (
	codeDomainBlocked   = "domain_blocked"
	codeSessionNotFound = "session_not_found"
	codeTabNotFound     = "tab_not_found"
	codeElementNotFound = "element_not_found"
	codeElementStale    = "element_stale"
	codeTimeout         = "timeout"
	codeAttachFailed    = "debugger_attach_failed"
	codeInvalidAction   = "invalid_action"
	codeInternal        = "internal_error"
)

// translate turns a failure of the runtime into one of the protocol's codes.
func translate(err *fault.Error) *Error {
	code := codeInternal
	switch err.Code {
	case fault.TargetNotFound, fault.TargetNotActionable, fault.TargetNotFocusable, fault.TargetNotEditable,
		fault.TargetObscured, fault.ElementStale,
		fault.MultipleTargets, fault.FrameNotFound:
		code = codeElementNotFound
	case fault.InvalidSelector, fault.InvalidInput, fault.InvalidArguments, fault.InvalidKey:
		code = codeInvalidAction
	case fault.Timeout, fault.HandlerTimeout, fault.PageUnresponsive:
		code = codeTimeout
	case fault.TabClosed, fault.RuntimeNotFound:
		code = codeTabNotFound
	case fault.OriginBlocked:
		code = codeDomainBlocked
	}
	message := err.Message
	if reason, ok := err.Evidence["error_text"].(string); ok && reason != "" {
		message += " (" + reason + ")"
	}
	return &Error{Code: code, Message: message}
}
