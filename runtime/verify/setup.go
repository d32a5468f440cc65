package verify

import (
	"encoding/json"

	"github.com/outrider-run/outrider/primitives/fault"
	"github.com/outrider-run/outrider/sites/manifest"
)

// SetupOutcome describes the outcome of the setup of a check.
type SetupOutcome struct {
	// Done is whether all of it was done by this runtime.
	Done  bool            `json:"done"`
	Steps json.RawMessage `json:"steps,omitempty"` // summaries, as of a tool
	// ByHand points to entries that no runtime can follow.
	ByHand []string `json:"by_hand,omitempty"`
	// Dismissed is set when the setup opened a dialog, which was dismissed: it
	// would block every check after this one.
	Dismissed bool `json:"dialog_dismissed,omitempty"`
	// LeftAt is where the page was left, when its address could not be restored.
	LeftAt string `json:"left_at,omitempty"`
}

// HasSetup reports whether something must happen before the check can fail. What
// has not been prepared may pass, which is as good as ever, but that it does not
// shows nothing about the site.
func HasSetup(k *manifest.Check) bool { return len(k.SetupSteps)+len(k.SetupRest) > 0 }

// NotRun turns the outcome of a check whose setup failed into one that says
// nothing about the site.
func (r CheckOutcome) NotRun(err *fault.Error) CheckOutcome {
	r.Status = CheckNotRun
	r.Assertions = nil
	r.NegativeAssertions = nil
	r.Drift = nil
	r.Contingency = ""
	e := *err
	e.Message = "the setup of the check " + r.CheckID + " failed, so it was not run: " + err.Message
	r.Error = e.With("check_id", r.CheckID).Field("phase", "setup")
	return r
}
