package siteaction

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
)

// direct runs a step whose type is the name of one.
func (r *executionRun) direct(s *plannedStep) (json.RawMessage, *fault.Error) {
	args := s.Arguments
	if args == nil {
		args = json.RawMessage("{}")
	}
	return r.invoke(s.Type, args)
}

func (r *executionRun) callHandler(s *plannedStep) (json.RawMessage, *fault.Error) {
	args := r.raw
	if s.Arguments != nil {
		args = s.Arguments
	}
	r.acted = true
	return r.a.pageHandler(r.work, r.v, r.match, s.Handler, args)
}
