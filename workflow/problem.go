package workflow

import (
	"fmt"

	"github.com/outrider-run/outrider/sites/manifest"
)

// Problem is one thing that is wrong with a workflow.
type Problem struct {
	manifest.Problem        // its pointer is relative to the workflow object
	StepID           string // "" when the problem is not in a step or the step has no id
	Field            string // the field of the workflow or of the step
}

func (p Problem) String() string {
	return fmt.Sprintf("%s at %q: %s", p.Code, p.Pointer, p.Message)
}
