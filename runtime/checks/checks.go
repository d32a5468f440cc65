// Package checks has the one type of what checking a page comes to: the page, its checks and states, and why they are
// as they are. It judges nothing: package verify does. The runtime answers with these types, and plans and reports
// read them.
package checks

import (
	"encoding/json"

	"github.com/outrider-run/outrider/internal/element/locators"
	"github.com/outrider-run/outrider/internal/element/lock"
	"github.com/outrider-run/outrider/primitives"
	"github.com/outrider-run/outrider/primitives/descriptor"
	"github.com/outrider-run/outrider/primitives/fault"
)

// Statuses of a check.
const (
	Passed  = "passed"
	Drifted = "drifted" // it passed by a fallback, or the element has another role or name
	Failed  = "failed"
	Skipped = "skipped" // it is about a state that is not current
	Unknown = "unknown" // it is about nothing that can be observed
	NotRun  = "not_run" // its setup was not done, or failed: nothing is known about the site
)

// AlwaysHolds is the reason of an assertion that holds on every page.
const AlwaysHolds = "always_holds"

// Page is one page, judged by the maps that apply to it.
type Page struct {
	// OK means that something was checked, that no check failed that is more than
	// information, and that Unmet is empty.
	OK         bool           `json:"ok"`
	Unmet      []string       `json:"unmet,omitempty"` // why it is not ok, beside checks that fail
	URL        string         `json:"url"`
	HTTPStatus int            `json:"http_status,omitempty"`
	ObservedAt string         `json:"observed_at"`
	Summary    map[string]int `json:"summary"` // checks by their status
	Checks     []Check        `json:"checks"`
	States     []State        `json:"states"`
	// Maps are those that apply to the page.
	Maps []string `json:"maps"`
}

// Check is the result of one check (schema v1, "checks").
type Check struct {
	ID          string   `json:"check_id"`
	Description string   `json:"description,omitempty"`
	Severity    string   `json:"severity"`
	Status      string   `json:"status"`
	ObservedAt  string   `json:"observed_at"`
	URL         string   `json:"url"`
	MapPath     string   `json:"map_path"`
	Pointer     string   `json:"pointer,omitempty"` // in the map
	Line        int      `json:"line,omitempty"`
	Tools       []string `json:"tools,omitempty"`  // those that the check is about
	States      []string `json:"states,omitempty"` // likewise

	Assertions         []Assertion `json:"assertions,omitempty"`
	NegativeAssertions []Assertion `json:"negative_assertions,omitempty"`
	// Evidence has the members that on_fail names: url, dom_snapshot, screenshot.
	Evidence    map[string]json.RawMessage `json:"evidence,omitempty"`
	Contingency string                     `json:"contingency,omitempty"`
	Error       *fault.Error               `json:"error,omitempty"`
	Drift       []Drift                    `json:"drift,omitempty"`
	Setup       *Setup                     `json:"setup,omitempty"`
	// Repairs are targets that could stand where the check finds nothing; Remembered
	// is the appearance of its targets. Both are there when the caller requested them.
	Repairs    []Repair     `json:"repairs,omitempty"`
	Remembered []Remembered `json:"remembered,omitempty"`

	File string `json:"-"` // of the map, where a reader knows it
}

// Assertion is the result of one probe of a map.
type Assertion struct {
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	// OK is null when the probe is about something that cannot be observed.
	OK *bool `json:"ok"`
	// Failed lists the members of the probe that failed.
	Failed []string `json:"failed,omitempty"`
	// Reason is why the target was not found, see descriptor.Match.
	Reason       string `json:"reason,omitempty"`
	Candidate    string `json:"candidate,omitempty"`
	Selector     string `json:"selector,omitempty"`
	Count        int    `json:"count"`
	VisibleCount int    `json:"visible_count"`
	// Relaxed lists predicates of the target that the element found does not meet.
	Relaxed []string                    `json:"relaxed,omitempty"`
	Tried   []descriptor.TriedCandidate `json:"tried,omitempty"`
	Drift   *Drift                      `json:"drift,omitempty"`
	// Pointer and Line are where an assertion of a check stands in its map.
	Pointer string `json:"pointer,omitempty"`
	Line    int    `json:"line,omitempty"`
	// Mismatches are the members that failed, with what was expected and found.
	Mismatches []Mismatch `json:"mismatches,omitempty"`
	// Box is where the element is in the viewport, or the one that nearly matches.
	Box *primitives.Rect `json:"box,omitempty"`
}

// Mismatch is one member of a probe that failed.
type Mismatch struct {
	Member   string `json:"member"`
	Expected any    `json:"expected"`
	Found    any    `json:"found"`
	// Message says the same in one sentence, for people.
	Message string `json:"message"`
}

// Drift says that a target was found, but not by what the map prefers, or that the
// element has another role or name.
type Drift struct {
	Preferred string `json:"preferred"`
	Matched   string `json:"matched"`
	// Message says both in one sentence, for people.
	Message   string `json:"message"`
	Candidate string `json:"candidate"` // of the match: fallback_selectors/0, alternate_selectors/1
	// Proposal is the target as the map could declare it, if that can be said.
	Proposal json.RawMessage `json:"proposal,omitempty"`
	// MapPath and Pointer are where the target stands.
	MapPath string `json:"map_path,omitempty"`
	Pointer string `json:"pointer,omitempty"`
}

// State says whether a state of a map is current, and why.
type State struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Current is null for a state that cannot be observed: it
	// declares no diagnostics, or only empty ones.
	Current     *bool       `json:"current"`
	MapPath     string      `json:"map_path,omitempty"`
	Diagnostics []Assertion `json:"diagnostics,omitempty"`
	Observables []string    `json:"observables,omitempty"`
	// Drift lists the targets of a current state that were found otherwise than its map says.
	Drift []Drift `json:"drift,omitempty"`

	File string `json:"-"` // of the map, where a reader knows it
}

// Setup describes the outcome of the setup of a check.
type Setup struct {
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

// Remembered is the appearance of a target of a map when a check found it.
type Remembered struct {
	MapPath string `json:"map_path"`
	lock.Entry
}

// Repair is a target that a map could declare in place of one that finds nothing.
// Whether the check passes with it is not known here.
type Repair struct {
	MapPath string          `json:"map_path"`
	Pointer string          `json:"pointer"` // of the target in the map
	Target  json.RawMessage `json:"target"`
	// Was is the value at that place of the map as it was loaded.
	Was json.RawMessage `json:"was,omitempty"`
	// Role and Name are those of the element that is proposed.
	Role string `json:"role,omitempty"`
	Name string `json:"name,omitempty"`
	// Likeness is how much it has of what was remembered, Next that of the one after it.
	Likeness float64       `json:"likeness"`
	Next     float64       `json:"next"`
	Locator  locators.Kind `json:"locator"`
}

// Named is the check under the name by which the page's map offers it.
func (c Check) Named(name string) Check {
	if c.Error != nil && name != c.ID {
		c.Error.With("check_id", name)
	}
	c.ID = name
	return c
}

// Breaks reports whether the check fails, or could not be run, and is more than
// information.
func (c Check) Breaks() bool {
	return (c.Status == Failed || c.Status == NotRun) && c.Severity != "info"
}

// Refusal is the error of a call that a failed check refuses.
func (c Check) Refusal(message string) *fault.Error {
	e := fault.New(fault.DriftDetected, "%s", message)
	if c.Error != nil {
		e.Evidence, e.NextStep = c.Error.Evidence, c.Error.NextStep
	}
	return e.With("check_id", c.ID).With("severity", c.Severity).With("assertions", c.Assertions)
}

// NotRunFor is a check whose setup failed: it says nothing about the site.
func (c Check) NotRunFor(err *fault.Error) Check {
	c.Status = NotRun
	c.Assertions = nil
	c.NegativeAssertions = nil
	c.Drift = nil
	c.Contingency = ""
	e := *err
	e.Message = "the setup of the check " + c.ID + " failed, so it was not run: " + err.Message
	c.Error = e.With("check_id", c.ID).Field("phase", "setup")
	return c
}
