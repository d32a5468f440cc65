package workflow

import (
	"fmt"

	"github.com/outrider-run/outrider/primitives/fault"
)

// Problem is one thing that is wrong with a workflow.
type Problem struct {
	Pointer string // JSON pointer relative to the workflow object
	Code    fault.Code
	Message string
	StepID  string // "" when the problem is not in a step or the step has no id
	Field   string // the field of the workflow or of the step
}

func (p Problem) String() string {
	return fmt.Sprintf("%s at %q: %s", p.Code, p.Pointer, p.Message)
}
