package outrider

import (
	"context"
	"encoding/json"
	"time"

	"github.com/outrider-run/outrider/runtime"
)

// CheckResult reports whether a page is as its maps say.
type CheckResult struct {
	// OK is true when no check failed and something was checked.
	OK         bool      `json:"ok"`
	URL        string    `json:"url"`
	ObservedAt time.Time `json:"observed_at"`
	// Summary counts the checks by status.
	Summary map[string]int `json:"summary"`
	Checks  []Check        `json:"checks"`
	States  []StateCheck   `json:"states"`
	// Raw is the whole answer, with the evidence.
	Raw json.RawMessage `json:"-"`
}

// Check is the outcome of one check of a map.
type Check struct {
	ID          string `json:"check_id"`
	Description string `json:"description"`
	// Severity is critical, major, minor or info.
	Severity string `json:"severity"`
	// Status is passed, drifted (a fallback matched), failed, not_run (a person
	// has to do something first), skipped (its state is not current) or unknown.
	Status  string `json:"status"`
	MapPath string `json:"map_path"`
	// Failure is the code and the reason of a check that failed.
	Failure *CheckFailure `json:"error"`
}

// CheckFailure says why a check failed.
type CheckFailure struct {
	Code     Code           `json:"code"`
	Message  string         `json:"message"`
	Evidence map[string]any `json:"evidence"`
}

// StateCheck reports whether a state of a map is current.
type StateCheck struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	// Current is nil for a state that cannot be decided from the page.
	Current *bool  `json:"current"`
	MapPath string `json:"map_path"`
}

// Check runs every check and diagnoses every state of the maps that apply to
// the page. It checks again for up to 2 s while a check fails. A check that
// fails is no error of the call: see [CheckResult.OK].
func (t *Tab) Check(ctx context.Context) (*CheckResult, error) {
	reply, err := t.site(ctx, runtime.Site{Mode: runtime.SiteCheck, WaitMS: 2000})
	if err != nil {
		return nil, err
	}
	r := &CheckResult{Raw: reply.Output}
	return r, decode(reply.Output, r)
}
